"""`docs/adopting.md` is lived through: each block, in order, in an empty directory."""

from __future__ import annotations

from pathlib import Path

import pytest
from lived_pages import assert_shown, live

pytestmark = pytest.mark.integration

PAGE = Path(__file__).parents[2] / "docs" / "adopting.md"


def test_one_command_and_what_follows(tmp_path: Path) -> None:
    """What the page shows is what its commands print."""
    shown = live(tmp_path, PAGE.read_text(encoding="utf-8"))
    assert len(shown) == 7
    assert_shown(shown)
