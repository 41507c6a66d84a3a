"use strict";
(() => {
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // Arrow keys in a row or a grid of buttons, of which one is in the order of Tab.
  const target = (count, from, key, columns) => ({
    ArrowRight: (from + 1) % count,
    ArrowLeft: (from + count - 1) % count,
    ArrowDown: from + columns < count ? from + columns : from,
    ArrowUp: from < columns ? from : from - columns,
    Home: 0,
    End: count - 1,
  })[key];

  // Tabs.
  const tabs = all('[role="tab"]');
  const show = (index, focus) => {
    tabs.forEach((tab, at) => {
      tab.setAttribute("aria-selected", String(at === index));
      tab.tabIndex = at === index ? 0 : -1;
      document.getElementById(tab.getAttribute("aria-controls")).hidden = at !== index;
    });
    if (focus) tabs[index].focus();
  };
  tabs.forEach((tab, index) => {
    tab.addEventListener("click", () => show(index, false));
    tab.addEventListener("keydown", (event) => {
      const to = target(tabs.length, index, event.key, 0);
      if (to === undefined || to === index) return;
      event.preventDefault();
      show(to, true);
    });
  });

  // Samples: cards in a grid, rows of a table, or repeated records. Each opens its record.
  const dialog = document.getElementById("sample");
  let cards = [], open = 0;
  const fill = (index) => {
    open = index;
    const card = cards[index];
    const content = dialog.querySelector(".content");
    content.replaceChildren(document.getElementById(card.dataset.sample).content.cloneNode(true));
    const place = content.querySelector(".here");
    const stage = document.querySelector(`.card[data-sample="${card.dataset.sample}"] .stage`);
    if (place && stage) place.replaceWith(stage.cloneNode(true));
    dialog.querySelector(".place").textContent = `${index + 1} of ${cards.length}`;
    dialog.setAttribute("aria-label", content.querySelector("h2").textContent);
    all("[data-step]", dialog).forEach((button) => {
      const to = index + Number(button.dataset.step);
      button.setAttribute("aria-disabled", String(to < 0 || to >= cards.length));
    });
    dialog.scrollTop = 0;
  };
  const step = (by) => {
    if (open + by < 0 || open + by >= cards.length) return;
    const within = dialog.querySelector(".content").contains(document.activeElement);
    fill(open + by);
    if (within) dialog.querySelector("h2").focus();
  };
  for (const group of all(".grid, .records, .pair")) {
    const items = all("[data-sample]", group);
    items.forEach((card, index) => {
      card.setAttribute("aria-haspopup", "dialog");
      card.addEventListener("click", () => {
        cards = items;
        fill(index);
        dialog.showModal();
        dialog.querySelector("h2").focus();
      });
      if (group.matches(".pair")) return;
      card.tabIndex = index ? -1 : 0;
      card.addEventListener("keydown", (event) => {
        const columns = group.matches(".grid") ? getComputedStyle(group).gridTemplateColumns.split(" ").length : 1;
        const to = target(items.length, index, event.key, columns);
        if (to === undefined) return;
        event.preventDefault();
        items[to].focus();
      });
      card.addEventListener("focus", () => items.forEach((item) => { item.tabIndex = item === card ? 0 : -1; }));
    });
  }
  if (dialog) {
    all("[data-step]", dialog).forEach((button) => button.addEventListener("click", () => step(Number(button.dataset.step))));
    dialog.addEventListener("keydown", (event) => {
      if (event.key === "ArrowRight") step(1);
      else if (event.key === "ArrowLeft") step(-1);
      else return;
      event.preventDefault();
    });
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
    dialog.addEventListener("close", () => cards[open].focus());
  }

  // Images, masks and boxes.
  const switches = all(".switch");
  for (const button of switches) {
    const layer = button.dataset.layer;
    button.addEventListener("click", () => {
      const hidden = root.classList.toggle(`no-${layer}`);
      for (const each of switches) if (each.dataset.layer === layer) each.setAttribute("aria-pressed", String(!hidden));
    });
  }

  // The table of fields: sorted by a heading, each field with all of its splits, and found by name.
  const table = document.querySelector(".fields");
  if (table) {
    const order = all("tbody", table);
    const heads = all("thead th", table);
    const cellOf = (row, at) => row.cells[at + row.cells.length - heads.length];
    const key = (group, at, by) => {
      const cells = [...group.rows].map((row) => cellOf(row, at)).filter(Boolean);
      const values = cells.filter((cell) => cell.dataset.value).map((cell) => Number(cell.dataset.value));
      if (heads[at].matches(".n, .number")) return values.length ? Math[by > 0 ? "min" : "max"](...values) : undefined;
      return cells[0].textContent.toLowerCase() || undefined;
    };
    heads.forEach((head, at) => head.querySelector("button")?.addEventListener("click", () => {
      // The largest number comes first, and so does the first name.
      const orders = ["ascending", "descending"];
      if (head.matches(".n, .number")) orders.reverse();
      const to = [...orders, null][orders.indexOf(head.getAttribute("aria-sort")) + 1];
      heads.forEach((each) => each.removeAttribute("aria-sort"));
      if (to) head.setAttribute("aria-sort", to);
      const by = to === "descending" ? -1 : 1;
      const keyed = order.map((group) => [to ? key(group, at, by) : 0, group]);
      // Fields without a value come last.
      keyed.sort(([a], [b]) => a === b ? 0 : a === undefined ? 1 : b === undefined ? -1 : a < b ? -by : by);
      table.append(...keyed.map(([, group]) => group));
    }));
    const find = document.getElementById("find");
    const count = document.querySelector(".search output");
    const whole = count.textContent;
    find.addEventListener("input", () => {
      const text = find.value.trim().toLowerCase();
      for (const group of order) group.hidden = !group.dataset.name.includes(text);
      const shown = order.filter((group) => !group.hidden).length;
      count.textContent = text ? `${shown.toLocaleString("en")} of ${whole}` : whole;
    });
  }
})();
