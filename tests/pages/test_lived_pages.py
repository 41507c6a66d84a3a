"""Pages that are lived through: each block, in order, in an empty directory."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from lived_pages import assert_shown, live

pytestmark = pytest.mark.integration

DOCS = Path(__file__).parents[2] / "docs"

# A page, where its story begins, how many outputs it shows, and what there is in the end.
PAGES = [
    ("index.md", "", 0, ["generated/flower/spec.json", "data/manifest.json"]),
    ("tutorial.md", "", 8, ["served/flower/1/saved_model.pb"]),
    ("adopting.md", "", 4, []),
    ("evolution.md", "## The beginning", 8, []),
]


@pytest.mark.parametrize(("name", "start", "count", "files"), PAGES)
def test_a_page_prints_what_it_shows(
    tmp_path: Path, name: str, start: str, count: int, files: list[str]
) -> None:
    """A reader who pastes each block sees the output of the page."""
    page = (DOCS / name).read_text(encoding="utf-8")
    if start:
        settings = '[tool.schemagen]\nschemas = "schemas"\noutput = "generated"\n'
        (tmp_path / "pyproject.toml").write_text(settings, encoding="utf-8")
        subprocess.run(["git", "init", "-q", "-b", "main", tmp_path], check=True)
        page = page.split(start)[1]
    shown = live(tmp_path, page)
    if count:
        assert len(shown) >= count
        assert_shown(shown)
    assert all((tmp_path / file).is_file() for file in files)
