"""Blocks as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...display.blocks import (
    Block,
    Cell,
    Heading,
    Items,
    Listing,
    Paragraph,
    Picture,
    Table,
    printable,
    printable_lines,
)
from ..inspect.terminal import table, wrapped


def blocks_text(blocks: Sequence[Block], columns: int) -> str:
    """Return blocks in lines of no more than so many columns if they can be."""
    return "\n\n".join("\n".join(_lines(block, columns)) for block in blocks) + "\n"


def _lines(block: Block, columns: int) -> Iterator[str]:
    match block:
        case Heading():
            yield _plain(block.text)
        case Paragraph():
            yield from wrapped(_plain(" ".join(block.text.split())), columns)
        case Table():
            rows = [[_cell(each) for each in row] for row in block.rows]
            headings = [list(block.headings)] if any(block.headings) else []
            if rows:
                yield from table([*headings, *rows], columns)
        case Listing():
            yield from printable_lines(block.text).split("\n")
        case Items():
            for item in block.items:
                line = _plain(" ".join(item.split()))
                first, *rest = wrapped(line, columns - 2)
                yield f"- {first}"
                yield from (f"  {each}" for each in rest)
        case _:
            yield from map(_cell, block.pictures)


def _cell(cell: Cell) -> str:
    return _plain(cell.about if isinstance(cell, Picture) else " ".join(cell.split()))


def _plain(text: str) -> str:
    return printable(text)
