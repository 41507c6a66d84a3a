"""The report in a browser: by mouse, by keyboard, in every light, on every screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .conftest import Visit

pytestmark = pytest.mark.slow


def focused(page: Any, expression: str) -> Any:
    """Evaluate an expression of the element that has the focus."""
    return page.evaluate(
        f"(() => {{ const e = document.activeElement; return {expression} }})()"
    )


def shown(page: Any, selector: str) -> int:
    """Return how many elements that match can be seen."""
    return sum(each.is_visible() for each in page.query_selector_all(selector))


def luminance(page: Any) -> int:
    """Return how light the page is, 0 to 255, by its first channel."""
    color = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return int(color.removeprefix("rgb(").split(",")[0])


def overflow(page: Any) -> int:
    """Return by how many pixels the page is wider than the screen."""
    return int(page.evaluate("document.documentElement.scrollWidth - innerWidth"))


def test_the_page_says_what_there_is(visit: Visit, scenes_page: Path) -> None:
    """Headings for what was asked, numbers of the data, and the names of its fields."""
    page = visit(scenes_page)
    headings = page.locator("h1, main h2:visible").all_inner_texts()
    assert headings == [
        "StreetScene",
        "Overview",
        "Splits compared",
        "Verify",
        "Samples",
        "Classes",
        "Missing values",
        "Values and lengths",
        "Files",
    ]
    text = page.inner_text("#overview")
    for words in ("280", "train", "validation", "test", "schemas/street_scene.py"):
        assert words in text
    marked = page.locator(".differences li").all_inner_texts()
    assert any("weather" in each and "night" in each for each in marked)
    assert any("speed_kmh" in each and "missing in test" in each for each in marked)
    assert not any("in validation" in each for each in marked)


def test_tabs_show_one_split_each(visit: Visit, scenes_page: Path) -> None:
    """By a click, and by arrow keys, Home and End, as the pattern of tabs says."""
    page = visit(scenes_page)
    assert shown(page, "[role=tabpanel]") == 1
    page.get_by_role("tab", name="test").click()
    assert page.locator("#panel-3").is_visible()
    assert shown(page, "[role=tabpanel]") == 1
    page.keyboard.press("ArrowRight")
    assert focused(page, "e.id") == "tab-1"
    assert page.locator("#panel-1").is_visible()
    page.keyboard.press("End")
    assert focused(page, "e.getAttribute('aria-selected')") == "true"
    assert page.locator("#panel-3").is_visible()
    assert page.locator("[role=tab][tabindex='-1']").count() == 2


def test_records_by_keyboard_alone(visit: Visit, scenes_page: Path) -> None:
    """Arrows move in the grid; Enter opens, arrows go on, Escape comes back there."""
    page = visit(scenes_page)
    page.locator("#panel-1 .card").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    columns = page.evaluate(
        "getComputedStyle(document.querySelector('#panel-1 .grid'))"
        ".gridTemplateColumns.split(' ').length"
    )
    assert focused(page, "e.dataset.sample") == f"record-1-{columns + 2}"
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    dialog = page.locator("dialog[open]")
    assert "1 of 16" in dialog.inner_text()
    assert "xmin" in dialog.inner_text()
    assert dialog.locator("svg.stage").count() == 1
    page.keyboard.press("ArrowRight")
    assert "2 of 16" in dialog.inner_text()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert "1 of 16" in dialog.inner_text()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0
    assert focused(page, "e.dataset.sample") == "record-1-2"
    assert page.locator("#panel-1 .card[tabindex='0']").count() == 1


def test_masks_and_boxes_are_drawn_and_hidden(visit: Visit, scenes_page: Path) -> None:
    """All of them by a button, each class by its key; in the large picture, too."""
    page = visit(scenes_page)
    boxes, masks = "#panel-1 .boxes rect", "#panel-1 .masks image"
    assert shown(page, boxes) > 16
    assert shown(page, masks) > 16
    page.get_by_role("button", name="Boxes").first.click()
    assert shown(page, boxes) == 0
    page.get_by_role("button", name="Boxes").first.click()
    assert shown(page, boxes) > 16
    keys = page.locator(".legends fieldset").first
    assert keys.locator("label").all_inner_texts() == [
        "sky",
        "disc",
        "square",
        "stripe",
        "ignored (255)",
    ]
    assert not keys.get_by_label("sky").is_checked()  # the ground hides pictures
    before = shown(page, masks)
    keys.get_by_label("disc").focus()
    page.keyboard.press("Space")
    assert shown(page, masks) < before
    page.locator("#panel-1 .card").first.click()
    switch = page.locator("dialog [data-switch=masks]")
    assert shown(page, "dialog .masks image") > 0
    switch.click()
    assert shown(page, "dialog .masks image") == 0
    assert switch.get_attribute("aria-pressed") == "false"


def test_light_and_dark(visit: Visit, scenes_page: Path) -> None:
    """As the system says, until the reader says otherwise."""
    page = visit(scenes_page, color_scheme="dark")
    assert luminance(page) < 40
    page.get_by_label("Light").check(force=True)
    assert luminance(page) > 220
    page.get_by_label("Auto").check(force=True)
    assert luminance(page) < 40
    assert luminance(visit(scenes_page, color_scheme="light")) > 220


def test_plots_follow_the_colours_of_the_page(visit: Visit, scenes_page: Path) -> None:
    """Their shapes are filled with the page's variables, not with colours of theirs."""
    fill = "getComputedStyle(document.querySelector('#classes path:has(title)')).fill"
    light = visit(scenes_page, color_scheme="light").evaluate(fill)
    dark = visit(scenes_page, color_scheme="dark").evaluate(fill)
    assert light != dark
    assert light.startswith("rgb(")


@pytest.mark.parametrize("width", [360, 780, 1280])
def test_no_page_is_wider_than_its_screen(
    visit: Visit, scenes_page: Path, width: int
) -> None:
    """Wide tables scroll by themselves; also with everything open, and a record."""
    page = visit(scenes_page, width=width, height=780)
    assert overflow(page) <= 0
    page.evaluate(
        "document.querySelectorAll('details').forEach(e => { e.open = true })"
    )
    assert overflow(page) <= 0
    page.locator("#panel-1 .card").first.click()
    dialog = page.locator("dialog").bounding_box()
    assert dialog["x"] >= 0
    assert dialog["x"] + dialog["width"] <= width
    assert (
        page.evaluate(
            "(d => d.scrollWidth - d.clientWidth)(document.querySelector('dialog'))"
        )
        <= 0
    )


def test_whoever_goes_by_tab_sees_where_they_are(
    visit: Visit, scenes_page: Path
) -> None:
    """A link past the head comes first, and whatever has the focus has an outline."""
    page = visit(scenes_page)
    page.keyboard.press("Tab")
    assert focused(page, "e.textContent") == "Skip to the report"
    page.keyboard.press("Enter")
    assert focused(page, "e.id") == "main"
    seen = set()
    for _ in range(45):
        page.keyboard.press("Tab")
        if focused(page, "e === document.body"):
            break
        marked = focused(
            page,
            "[e, e.nextElementSibling].some(x => x && "
            "getComputedStyle(x).outlineStyle !== 'none')",
        )
        what = focused(page, "e.outerHTML.slice(0, 120)")
        assert marked, what
        seen.add(focused(page, "e.tagName"))
    assert seen >= {"A", "BUTTON", "SUMMARY", "INPUT", "DIV"}


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1280, "light")])
def test_axe_finds_nothing(
    visit: Visit, scenes_page: Path, scheme: str, width: int
) -> None:
    """Contrasts, names, roles and landmarks by the rules of WCAG 2.2 AA."""
    from axe_playwright_python.sync_playwright import Axe

    page = visit(scenes_page, width=width, color_scheme=scheme)
    page.evaluate(
        "document.querySelectorAll('details').forEach(e => { e.open = true })"
    )
    for open_record in (False, True):
        if open_record:
            page.locator("#panel-1 .card").first.click()
        found = Axe().run(page).response["violations"]
        assert [
            (each["id"], each["nodes"][0]["html"][:200], each["nodes"][0]["any"][:1])
            for each in found
        ] == []


def test_axe_would_find_something(visit: Visit, scenes_page: Path) -> None:
    """A title that one can hardly read is a finding."""
    from axe_playwright_python.sync_playwright import Axe

    page = visit(scenes_page, color_scheme="light")
    page.evaluate("document.querySelector('h1').style.color = '#dddddd'")
    found = Axe().run(page, "h1").response["violations"]
    assert [each["id"] for each in found] == ["color-contrast"]


def test_plots_have_words_beside_them(visit: Visit, scenes_page: Path) -> None:
    """Each is named, and stands with a table that has a caption."""
    page = visit(scenes_page)
    figures = page.locator("article.figure:has(figure)")
    assert figures.count() > 8
    for index in range(figures.count()):
        figure = figures.nth(index)
        assert figure.locator("figure[aria-label]").count()
        caption = figure.locator("table caption")
        assert caption.count() or "note" in figure.locator("h3").inner_text()
    assert page.locator("table:not(:has(caption))").count() == 0


def test_paper_shows_all_splits(visit: Visit, scenes_page: Path) -> None:
    """Printed in light colours, without what one would have to click."""
    page = visit(scenes_page, color_scheme="dark")
    page.emulate_media(media="print")
    assert shown(page, ".panel") == 3
    assert shown(page, "nav, .tabs, .theme") == 0
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(29, 27, 24)"


def test_motion_is_left_out_where_it_is_not_wanted(
    visit: Visit, scenes_page: Path
) -> None:
    """Links jump in place of gliding."""
    page = visit(scenes_page, reduced_motion="reduce")
    behavior = "getComputedStyle(document.documentElement).scrollBehavior"
    assert page.evaluate(behavior) == "auto"
    assert visit(scenes_page).evaluate(behavior) == "smooth"
