"""The report in a browser: mouse, keyboard, color schemes, screens and paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .conftest import Visit

pytestmark = pytest.mark.integration

OPEN_ALL = "document.querySelectorAll('details').forEach(e => { e.open = true })"


def focused(page: Any, expression: str) -> Any:
    """Evaluate an expression of the element that has the focus."""
    return page.evaluate(
        f"(() => {{ const e = document.activeElement; return {expression} }})()"
    )


def style(page: Any, name: str, selector: str = "body") -> str:
    """Return a computed style of an element."""
    return str(
        page.evaluate(f"getComputedStyle(document.querySelector({selector!r})).{name}")
    )


def visible(page: Any, selector: str) -> int:
    """Return how many elements that match are visible."""
    return sum(each.is_visible() for each in page.query_selector_all(selector))


def test_page_has_sections_numbers_and_names(visit: Visit, scenes_page: Path) -> None:
    page = visit(scenes_page)
    headings = page.locator("h1, main h2:visible").all_inner_texts()
    assert headings == [
        "StreetScene",
        "Overview",
        "Fields",
        "Splits",
        "Samples",
        "Differences between splits",
        "Duplicates",
        "Classes",
        "Missing values",
        "Values and lengths",
        "Files",
    ]
    assert "280" in page.inner_text("#overview")
    assert "Schema: StreetScene" in page.inner_text("header")
    text = page.inner_text("#splits")
    for part in ("160", "train", "validation", "test"):
        assert part in text


def test_tabs_show_one_split_by_mouse_and_keyboard(
    visit: Visit, scenes_page: Path
) -> None:
    page = visit(scenes_page)
    page.get_by_role("tab", name="test").click()
    shown = [visible(page, f"#panel-{index}") for index in (1, 2, 3)]
    for key, panel in (("ArrowRight", 1), ("End", 3), ("ArrowLeft", 2), ("Home", 1)):
        page.keyboard.press(key)
        shown += [visible(page, f"#panel-{index}") for index in (1, 2, 3)]
        assert focused(page, "e.id") == f"tab-{panel}"
    assert focused(page, "e.getAttribute('aria-selected')") == "true"
    assert shown == [0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 0]
    assert page.locator("[role=tab][tabindex='-1']").count() == 2


def test_records_open_and_close_by_keyboard(visit: Visit, scenes_page: Path) -> None:
    page = visit(scenes_page)
    page.locator("#panel-1 .card").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    columns = len(style(page, "gridTemplateColumns", "#panel-1 .grid").split())
    assert focused(page, "e.dataset.sample") == f"record-1-{columns + 2}"
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    dialog = page.locator("dialog[open]")
    assert "xmin" in dialog.inner_text()
    assert dialog.locator("svg.stage").count() == 1
    for key, place in ((None, 1), ("ArrowRight", 2), *[("ArrowLeft", 1)] * 2):
        if key:
            page.keyboard.press(key)
        assert f"{place} of 16" in dialog.inner_text()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0
    assert focused(page, "e.dataset.sample") == "record-1-2"
    assert page.locator("#panel-1 .card[tabindex='0']").count() == 1


def test_images_masks_and_boxes_are_hidden_each_on_its_own(
    visit: Visit, scenes_page: Path
) -> None:
    """By mouse and keyboard, on the page and in each record that is opened."""
    page = visit(scenes_page)
    layers = {name: f"#panel-1 .{name}" for name in ("images", "masks", "boxes")}

    def shown() -> list[int]:
        return [visible(page, selector) for selector in layers.values()]

    assert shown() == [16, 16, 16]
    page.get_by_role("button", name="Masks").first.click()
    assert shown() == [16, 0, 16]
    page.get_by_role("button", name="Boxes").first.focus()
    page.keyboard.press("Space")
    assert shown() == [16, 0, 0]
    page.get_by_role("button", name="Masks").first.click()
    page.get_by_role("button", name="Images").first.click()
    assert shown() == [0, 16, 0]
    names = ["disc", "square", "stripe", "ignored (255)"]  # not the sky
    assert page.locator(".legends p").first.locator(".class").all_inner_texts() == names
    page.locator("#panel-1 .card").first.click()
    for _ in range(2):
        inside = [visible(page, f"dialog .{name}") for name in layers]
        assert inside == [0, 1, 0]
        page.keyboard.press("ArrowRight")
    switch = page.locator("dialog .switch[data-layer=boxes]")
    assert switch.get_attribute("aria-pressed") == "false"
    switch.press("Enter")
    assert visible(page, "dialog .boxes") == 1
    assert page.locator(".switch[data-layer=boxes][aria-pressed=true]").count() == 2


def test_page_and_plots_follow_the_color_scheme(
    visit: Visit, scenes_page: Path
) -> None:
    """The system's."""

    def colors(page: Any) -> tuple[str, str]:
        plot = style(page, "fill", "#classes path:has(title)")
        return style(page, "backgroundColor"), plot

    light = colors(visit(scenes_page, color_scheme="light"))
    page = visit(scenes_page, color_scheme="dark")
    dark = colors(page)
    assert (light[0], dark[0]) == ("rgb(251, 250, 247)", "rgb(22, 21, 19)")
    assert light[1] != dark[1]


@pytest.mark.parametrize("width", [360, 780, 1280])
def test_page_is_not_wider_than_its_screen(
    visit: Visit, scenes_page: Path, width: int
) -> None:
    """Wide tables scroll; also with everything open, and a record."""
    overflow = "document.documentElement.scrollWidth - innerWidth"
    page = visit(scenes_page, width=width, height=780)
    assert page.evaluate(overflow) <= 0
    page.evaluate(OPEN_ALL)
    assert page.evaluate(overflow) <= 0
    page.locator("#panel-1 .card").first.click()
    dialog = page.locator("dialog")
    box = dialog.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert dialog.evaluate("d => d.scrollWidth - d.clientWidth") <= 0


def test_focus_is_visible_from_the_skip_link_on(
    visit: Visit, scenes_page: Path
) -> None:
    page = visit(scenes_page)
    page.keyboard.press("Tab")
    assert focused(page, "e.textContent") == "Skip to the report"
    page.keyboard.press("Enter")
    assert focused(page, "e.id") == "main"
    outline = "getComputedStyle(x).outlineStyle !== 'none'"
    seen = set()
    for _ in range(45):
        page.keyboard.press("Tab")
        if focused(page, "e === document.body"):
            break
        marked = focused(page, f"[e, e.nextElementSibling].some(x => x && {outline})")
        assert marked, focused(page, "e.outerHTML.slice(0, 120)")
        seen.add(focused(page, "e.tagName"))
    assert seen >= {"A", "BUTTON", "SUMMARY", "DIV"}


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1280, "light")])
def test_axe_finds_nothing_but_a_title_of_low_contrast(
    visit: Visit, scenes_page: Path, scheme: str, width: int
) -> None:
    """By the rules of WCAG 2.2 AA; the title is made such to see that axe works."""
    from axe_playwright_python.sync_playwright import Axe

    def violations() -> list[tuple[str, str]]:
        found = Axe().run(page).response["violations"]
        return [(each["id"], each["nodes"][0]["html"][:200]) for each in found]

    page = visit(scenes_page, width=width, color_scheme=scheme)
    page.evaluate(OPEN_ALL)
    assert violations() == []
    page.locator("#panel-1 .card").first.click()
    assert violations() == []
    page.keyboard.press("Escape")
    page.evaluate("document.querySelector('h1').style.color = 'var(--rule)'")
    assert [id_ for id_, _ in violations()] == ["color-contrast"]


def test_plots_have_names_and_tables(visit: Visit, scenes_page: Path) -> None:
    page = visit(scenes_page)
    figures = page.locator("article.figure:has(figure)").all()
    assert len(figures) > 8
    for figure in figures:
        assert figure.locator("figure[aria-label]").count()
        caption = figure.locator("table caption")
        assert caption.count() or "note" in figure.locator("h3").inner_text()
    assert page.locator("table:not(:has(caption))").count() == 0


def test_paper_shows_all_splits_in_light_colors(
    visit: Visit, scenes_page: Path
) -> None:
    page = visit(scenes_page, color_scheme="dark")
    page.emulate_media(media="print")
    assert visible(page, ".panel") == 3
    assert visible(page, "nav, .tabs") == 0
    assert style(page, "color") == "rgb(29, 27, 24)"


@pytest.mark.parametrize(
    ("motion", "behavior"), [("reduce", "auto"), ("no-preference", "smooth")]
)
def test_links_glide_unless_motion_is_reduced(
    visit: Visit, scenes_page: Path, motion: str, behavior: str
) -> None:
    page = visit(scenes_page, reduced_motion=motion)
    assert style(page, "scrollBehavior", "html") == behavior
