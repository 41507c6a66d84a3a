"""Results as tables in Markdown, on the screen and between marks in a document."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from .measure import Figure

_END = "<!-- end of what was measured -->"


def number(value: float) -> str:
    """Return a number with three figures, as far as they stand before the point."""
    if value >= 99.95:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def spread(found: Figure) -> str:
    """Return a median and the middle half of the rounds."""
    return f"{number(found.median)} ({number(found.low)} to {number(found.high)})"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def grid(head: str, columns: Mapping[str, Mapping[str, str]]) -> str:
    """Return a table of columns whose cells have names; where there is none, nothing.

    Args:
        head: what stands above the names.
        columns: cells by name, by column.
    """
    names = dict.fromkeys(name for cells in columns.values() for name in cells)
    rows = [
        [name, *(cells.get(name, "") for cells in columns.values())] for name in names
    ]
    return table([head, *columns], rows)


def replace_part(document: Path, part: str, text: str) -> None:
    """Put text between a part's marks in a document.

    Args:
        document: which has a line `<!-- measured: PART -->`, and one that ends it.
        part: its name.
        text: in Markdown.

    Raises:
        ValueError: the marks are not there.
    """
    old = document.read_text(encoding="utf-8")
    start = f"<!-- measured: {part} -->"
    pattern = re.compile(f"{re.escape(start)}\n.*?{re.escape(_END)}", re.S)
    new, found = pattern.subn(lambda _: f"{start}\n{text.strip()}\n{_END}", old)
    if found != 1:
        raise ValueError(
            f"{document}: {found} places for the results of {part!r}; expected one line "
            f"{start!r} and below it a line {_END!r}"
        )
    document.write_text(new, encoding="utf-8")
