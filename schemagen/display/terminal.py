"""Blocks as plain text for a terminal, laid out by rich."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from io import StringIO
from typing import TYPE_CHECKING

from .blocks import (
    Block,
    Cell,
    Gallery,
    Heading,
    InlineImage,
    Items,
    Listing,
    Paragraph,
    Table,
    printable,
    printable_lines,
)

if TYPE_CHECKING:  # rich takes time to import
    from rich.console import RenderableType

UNBOUNDED = 10_000
"""So many columns that no line is wrapped."""

# Columns of no longer cells do not wrap, unless they are the last one, or the others
# would have less than so many columns of the terminal.
_WHOLE = 24
_LEAST = 10

# A space at which no line breaks. No printable text has it.
_JOINT = "\ue000"

# The first column takes no more than this share of the lines.
_FIRST_SHARE = 0.4


def terminal_text(
    blocks: Iterable[Block], columns: int = UNBOUNDED, bullet: str = "- "
) -> str:
    """Return blocks as lines that fit so many columns; listings stay as they are.

    Args:
        blocks: the blocks; an empty line separates them.
        columns: the width of the terminal.
        bullet: what each item of a list begins with.
    """
    from rich.console import Console

    console = Console(
        file=StringIO(),
        width=columns,
        color_system=None,
        highlight=False,
        force_jupyter=False,  # which would show an output of its own
    )
    texts: list[str] = []
    for block in blocks:
        if isinstance(block, Heading | Listing):
            texts.append(printable_lines(block.text))
            continue
        with console.capture() as captured:
            console.print(_renderable(block, columns, bullet))
        lines = captured.get().replace(_JOINT, " ").splitlines()
        texts.append("\n".join(map(str.rstrip, lines)))
    return "\n\n".join(texts) + "\n"


def _renderable(
    block: Paragraph | Table | Items | Gallery, columns: int, bullet: str
) -> RenderableType:
    from rich.text import Text

    match block:
        case Paragraph():
            return Text(printable(" ".join(block.text.split())))
        case Table():
            return _table(block, columns)
        case Items():
            return _items(block.items, bullet)
        case _:
            return Text("\n".join(map(_cell, block.pictures)))


def _items(items: Sequence[str], bullet: str) -> RenderableType:
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid.grid()
    for item in items:
        text = Text(printable(" ".join(item.split())), overflow="fold")
        grid.add_row(*([bullet, text] if bullet else [text]))
    return grid


def _table(block: Table, columns: int) -> RenderableType:
    from rich.cells import cell_len
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(
        box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=any(block.headings)
    )
    last = len(block.headings) - 1
    most = int(columns * _FIRST_SHARE)
    widths = [
        max(map(cell_len, (heading, *(_cell(row[index]) for row in block.rows))))
        for index, heading in enumerate(block.headings)
    ]
    whole = [index < last and width <= _WHOLE for index, width in enumerate(widths)]
    used = sum(w + 2 for w, each in zip(widths, whole, strict=True) if each)
    room = columns - used >= _LEAST * whole.count(False)
    for index, heading in enumerate(block.headings):
        grid.add_column(
            Text(heading),
            no_wrap=room and whole[index],
            overflow="fold",
            max_width=most if index == 0 else None,
        )
    for row in block.rows:
        grid.add_row(*(Text(_cell(cell)) for cell in row))
    return grid


def _cell(cell: Cell) -> str:
    text = printable(cell.about if isinstance(cell, InlineImage) else cell)
    return text.replace(" %", f"{_JOINT}%")
