"""`docs/scale.md` is run: its ranks write a split, and publish it."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
from digit_rows import hidden
from lived_pages import assert_shown, live

from generated.digit.serializer import plan_dataset

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "scale.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_commands_of_the_page_print_what_it_shows(tmp_path: Path) -> None:
    """Three ranks and a publication."""
    (tmp_path / "pyproject.toml").write_text("[tool.schemagen]\n", encoding="utf-8")
    shown = live(tmp_path, TEXT)
    assert len(shown) == 2
    assert_shown(shown)
    assert not hidden(tmp_path / "data")


def test_every_option_is_on_the_page() -> None:
    """What can be asked for is explained."""
    for name in inspect.signature(plan_dataset).parameters:
        assert re.search(rf"`{name}[=`]|{name}=", TEXT) or name == "split"
