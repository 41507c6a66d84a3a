"""`docs/index.md` and `docs/tutorial.md` are executed, each in an empty directory."""

from __future__ import annotations

from pathlib import Path

import pytest
from lived_pages import assert_shown, live

pytestmark = pytest.mark.integration

DOCS = Path(__file__).parents[2] / "docs"


def test_the_tutorial_prints_what_it_shows(tmp_path: Path) -> None:
    """A reader who pastes each block sees the output of the page and gets a served model."""
    shown = live(tmp_path, (DOCS / "tutorial.md").read_text(encoding="utf-8"))
    assert len(shown) == 13
    assert_shown(shown)
    assert (tmp_path / "served" / "flower" / "1" / "saved_model.pb").is_file()


def test_the_home_page_writes_reads_and_trains(tmp_path: Path) -> None:
    """The smallest example works after `init` and `generate`."""
    live(tmp_path, (DOCS / "index.md").read_text(encoding="utf-8"))
    assert (tmp_path / "generated" / "flower" / "spec.json").is_file()
    assert (tmp_path / "data" / "manifest.json").is_file()
