"use strict";
(() => {
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // Colours: what the system says, unless the reader has chosen.
  const theme = document.querySelector(".theme");
  const paint = (choice) => {
    if (choice === "auto") delete root.dataset.theme;
    else root.dataset.theme = choice;
  };
  let kept = "auto";
  try { kept = localStorage.getItem("schemagen-theme") || "auto"; } catch { /* no storage */ }
  for (const input of all("input", theme)) {
    input.checked = input.value === kept;
    input.addEventListener("change", () => {
      paint(input.value);
      try { localStorage.setItem("schemagen-theme", input.value); } catch { /* none */ }
    });
  }
  paint(kept);
  theme.hidden = false;

  // Arrow keys in a row or a grid of buttons, of which one is in the order of Tab.
  const move = (items, from, key, columns) => {
    const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns };
    if (key === "Home") return 0;
    if (key === "End") return items.length - 1;
    const to = from + (steps[key] || 0);
    return to < 0 || to >= items.length ? from : to;
  };
  const moves = new Set(["ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp", "Home", "End"]);
  const enter = (items, index) => {
    items.forEach((item, at) => { item.tabIndex = at === index ? 0 : -1; });
    items[index].focus();
  };

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
      if (!moves.has(event.key) || event.key === "ArrowUp" || event.key === "ArrowDown") return;
      event.preventDefault();
      const wrapped = { ArrowRight: (index + 1) % tabs.length, ArrowLeft: (index + tabs.length - 1) % tabs.length };
      show(wrapped[event.key] ?? move(tabs, index, event.key, 1), true);
    });
  });

  // Samples: a grid of cards, each opening its record.
  const dialog = document.getElementById("sample");
  let cards = [], open = 0;
  const fill = (index) => {
    open = index;
    const card = cards[index];
    const content = dialog.querySelector(".content");
    content.replaceChildren(document.getElementById(card.dataset.sample).content.cloneNode(true));
    const place = content.querySelector(".here"), stage = card.querySelector(".stage");
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
  for (const grid of all(".grid")) {
    const items = all(".card", grid);
    items.forEach((card, index) => {
      card.addEventListener("click", () => {
        cards = items;
        fill(index);
        dialog.showModal();
        dialog.querySelector("h2").focus();
      });
      card.addEventListener("keydown", (event) => {
        if (!moves.has(event.key)) return;
        event.preventDefault();
        const columns = getComputedStyle(grid).gridTemplateColumns.split(" ").length;
        enter(items, move(items, index, event.key, columns));
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

  // Masks and boxes.
  const switches = all(".switch");
  for (const button of switches) {
    button.addEventListener("click", () => {
      const hidden = root.classList.toggle("no-overlay");
      for (const each of switches) each.setAttribute("aria-pressed", String(!hidden));
    });
  }

  // The table of keys.
  const filter = document.getElementById("filter");
  if (filter) {
    const rows = all("#key-table tbody tr");
    filter.closest(".filter").hidden = false;
    filter.addEventListener("input", () => {
      const words = filter.value.toLowerCase();
      let shown = 0;
      for (const row of rows) {
        row.hidden = !row.firstChild.textContent.toLowerCase().includes(words);
        shown += row.hidden ? 0 : 1;
      }
      document.querySelector("output[for=filter]").value = `${shown} of ${rows.length}`;
    });
  }

  // Where the reader is.
  const links = new Map(all("nav a").map((link) => [link.hash.slice(1), link]));
  const seen = new Set();
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) seen.add(entry.target.id);
      else seen.delete(entry.target.id);
    }
    const here = [...links.keys()].find((id) => seen.has(id));
    links.forEach((link, id) => {
      if (id === here) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
  }, { rootMargin: "-10% 0px -60% 0px" });
  links.forEach((_, id) => { watch.observe(document.getElementById(id)); });

  // On paper everything is open.
  addEventListener("beforeprint", () => all("details").forEach((each) => {
    if (!each.open) { each.open = true; each.dataset.opened = ""; }
  }));
  addEventListener("afterprint", () => all("details[data-opened]").forEach((each) => {
    each.open = false;
    delete each.dataset.opened;
  }));
})();
