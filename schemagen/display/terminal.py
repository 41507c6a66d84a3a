"""Blocks as plain text for a terminal, laid out by rich."""

from __future__ import annotations

import re
from collections.abc import Iterable
from io import StringIO
from itertools import chain

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

# A path, a URL or the name of a file. A break would keep people from copying it.
_NAME = re.compile(r"\S*(?:[/\\]|\.[A-Za-z])\S*")


def terminal_text(
    blocks: Iterable[Block], columns: int = UNBOUNDED, bullet: str = "- "
) -> str:
    """Return blocks as lines that fit so many columns.

    Listings stay as they are, and a name of a file that is longer than a line stays whole.

    Args:
        blocks: the blocks; an empty line separates them.
        columns: the width of the terminal.
        bullet: what each item of a list begins with.
    """
    texts = (_text(block, columns, bullet) for block in blocks)
    return "\n\n".join(texts) + "\n"


def _text(block: Block, columns: int, bullet: str) -> str:
    match block:
        case Heading() | Listing():
            return printable_lines(block.text)
        case Paragraph():
            return _filled(block.text, columns)
        case Items():
            return "\n".join(_filled(each, columns, bullet) for each in block.items)
        case Table():
            return _table(block, columns)
        case Gallery():
            return "\n".join(printable(each.about) for each in block.pictures)


def _filled(text: str, columns: int, bullet: str = "") -> str:
    """Return a text in lines of so many columns, the first one behind a bullet."""
    from rich.cells import cell_len, chop_cells

    room = columns - len(bullet)
    lines = [""]
    for word in map(printable, text.split()):
        whole = _NAME.fullmatch(word) or cell_len(word) <= room
        for part in [word] if whole else chop_cells(word, room):
            line = f"{lines[-1]} {part}".lstrip()
            if lines[-1] and cell_len(line) > room:
                lines.append(part)
            else:
                lines[-1] = line
    return bullet + f"\n{' ' * len(bullet)}".join(lines)


def _table(block: Table, columns: int) -> str:
    from rich.cells import cell_len
    from rich.console import Console
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
        names = (_NAME.findall(_cell(row[index])) for row in block.rows)
        longest = max(map(cell_len, chain(*names)), default=0)
        grid.add_column(
            Text(heading),
            no_wrap=room and whole[index],
            overflow="fold",
            min_width=longest,
            max_width=max(most, longest) if index == 0 else None,
        )
    for row in block.rows:
        grid.add_row(*(Text(_cell(cell)) for cell in row))
    console = Console(
        file=StringIO(),
        width=columns,
        color_system=None,
        highlight=False,
        force_jupyter=False,  # which would show an output of its own
    )
    with console.capture() as captured:
        console.print(grid, crop=False)
    lines = captured.get().replace(_JOINT, " ").splitlines()
    return "\n".join(map(str.rstrip, lines))


def _cell(cell: Cell) -> str:
    text = printable(cell.about if isinstance(cell, InlineImage) else cell)
    return text.replace(" %", f"{_JOINT}%")
