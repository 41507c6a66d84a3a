"""`docs/evolution.md` is lived through: each block, in order, in a new git repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from lived_pages import assert_shown, live

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "evolution.md"


def test_five_changes(tmp_path: Path) -> None:
    """What the page shows is what its commands print."""
    settings = '[tool.schemagen]\nschemas = "schemas"\noutput = "generated"\n'
    (tmp_path / "pyproject.toml").write_text(settings, encoding="utf-8")
    subprocess.run(["git", "init", "-q", "-b", "main", tmp_path], check=True)
    page = PAGE.read_text(encoding="utf-8").split("## The beginning")[1]
    shown = live(tmp_path, page)
    assert len(shown) > 8
    assert_shown(shown)
