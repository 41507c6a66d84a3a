"""The pictures of the README are there, for light and dark pages, and are current."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from demo.pictures.drawings import THEMES, comparison, flow

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"


@pytest.mark.parametrize("theme", THEMES)
def test_the_picture_of_the_comparison_shows_the_programs_of_its_page(
    theme: str,
) -> None:
    """Who changes docs/comparison.md has to run `make pictures`."""
    page = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
    drawn = (IMAGES / f"comparison-{theme}.svg").read_text(encoding="utf-8")
    assert drawn == comparison(page, theme)


@pytest.mark.parametrize("theme", THEMES)
def test_the_picture_of_the_flow_shows_the_record_of_the_readme(theme: str) -> None:
    """Who changes it has to run `make pictures`."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    drawn = (IMAGES / f"flow-{theme}.svg").read_text(encoding="utf-8")
    assert drawn == flow(readme, theme)


@pytest.mark.parametrize("path", sorted(IMAGES.glob("*.svg")), ids=lambda p: p.name)
def test_a_drawing_needs_no_other_file(path: Path) -> None:
    """It is well-formed, and names no address but that of SVG and those of its parts."""
    text = path.read_text(encoding="utf-8")
    ElementTree.fromstring(text)
    assert set(re.findall(r"https?://[^\"' ]+", text)) == {"http://www.w3.org/2000/svg"}
    assert all(
        address.startswith("data:image/png;base64,")
        for address in re.findall(r'href="([^"]+)"', text)
    )


def test_the_readme_shows_each_picture_in_both_themes() -> None:
    """No picture is missing, and none is left over."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"docs/images/([\w.-]+)", text))
    assert shown == {path.name for path in IMAGES.iterdir()}
    names = {name.rpartition("-")[0] for name in shown}
    assert {f"{name}-{theme}" for name in names for theme in THEMES} == {
        Path(name).stem for name in shown
    }
