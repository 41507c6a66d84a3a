"""Text for a terminal: escaped, cut to a width, and in tables whose last column wraps."""

from __future__ import annotations

import unicodedata
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

_GAP = "  "

# The first column takes no more than this share; a longer cell gets a line of its own.
_FIRST_SHARE = 0.4

# No column that has to make room is made narrower than this.
_SHORTEST = 8

# With less than this the last column would be a tower of words.
_NARROWEST = 24


def blocks_text(blocks: Sequence[Block], columns: int, bullet: str = "- ") -> str:
    """Return blocks in lines of no more than so many columns if they can be."""
    parts = ["\n".join(_lines(block, columns, bullet)) for block in blocks]
    return "\n\n".join(parts) + "\n"


def _lines(block: Block, columns: int, bullet: str) -> Iterator[str]:
    match block:
        case Heading():
            yield printable(block.text)
        case Paragraph():
            yield from wrapped(printable(" ".join(block.text.split())), columns)
        case Table():
            rows = [[_cell(each) for each in row] for row in block.rows]
            headings = [list(block.headings)] if any(block.headings) else []
            if rows:
                yield from table([*headings, *rows], columns)
        case Listing():
            yield from printable_lines(block.text).split("\n")
        case Items():
            for item in block.items:
                line = printable(" ".join(item.split()))
                first, *rest = wrapped(line, columns - len(bullet))
                yield bullet + first
                yield from (" " * len(bullet) + each for each in rest)
        case _:
            yield from map(_cell, block.pictures)


def _cell(cell: Cell) -> str:
    return printable(cell.about if isinstance(cell, Picture) else cell)


def table(rows: Sequence[Sequence[str]], columns: int) -> list[str]:
    """Lay out rows, the first of which may be the headings.

    Args:
        rows: cells of equal number.
        columns: how wide the terminal is.
    """
    widths = _widths([row[:-1] for row in rows], columns)
    room = room_for_last([row[:-1] for row in rows], columns)
    before = sum(widths) + len(_GAP) * len(widths)
    lines: list[str] = []
    for row in rows:
        cells = list(row)
        if width(cells[0]) > widths[0]:
            lines.append(cells[0])
            cells[0] = ""
        head = "".join(
            padded(cell, wide) + _GAP for cell, wide in zip(cells, widths, strict=False)
        )
        for part in wrapped(cells[-1], room):
            lines.append((head + part).rstrip())
            head = " " * before
    return lines


def room_for_last(rows: Sequence[Sequence[str]], columns: int) -> int:
    """Return how wide the last column may be, next to these others."""
    widths = _widths(rows, columns)
    return max(columns - sum(widths) - len(_GAP) * len(widths), _SHORTEST)


def _widths(rows: Sequence[Sequence[str]], columns: int) -> list[int]:
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    others = sum(widths[1:]) + len(_GAP) * len(widths) + _NARROWEST
    most = max(_SHORTEST, min(int(columns * _FIRST_SHARE), columns - others))
    first = [width(row[0]) for row in rows]
    widths[0] = max([each for each in first if each <= most], default=most)
    return widths


def padded(text: str, columns: int) -> str:
    """Return a text with spaces behind it, as wide as a column."""
    return text + " " * (columns - width(text))


def wrapped(text: str, columns: int) -> list[str]:
    """Break a text between words into lines; a word that is too long is broken, too."""
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        joined = f"{line} {word}" if line else word
        if width(joined) <= columns:
            line = joined
            continue
        if line:
            lines.append(line)
        while width(word) > columns:
            piece = cut(word, columns)
            lines.append(piece)
            word = word[len(piece) :]
        line = word
    return [*lines, line] if line or not lines else lines


def escaped(text: str) -> str:
    """Return text so that a terminal prints it and does nothing else."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return text
    return "".join(_escaped(character) for character in text)


def _escaped(character: str) -> str:
    if character == '"':
        return '\\"'
    if character.isprintable() and character != "\\":
        return character
    return character.encode("unicode_escape").decode()


def quoted(text: str, most: int) -> str:
    """Return text in quotes, cut to so many columns, with dots where it is cut."""
    found = escaped(text[: most + 1])
    if len(text) > most + 1 or width(found) > most:
        return f'"{cut(found, most - 3)}..."'
    return f'"{found}"'


def named(key: str, most: int = 200) -> str:
    """Return a key as it is, or in quotes if it could be taken for something else.

    A longer one loses its middle, and says how long it is.
    """
    plain = key.isprintable() and key == key.strip() and key and '"' not in key
    shown = key if plain and "\\" not in key else f'"{escaped(key)}"'
    if width(shown) <= most:
        return shown
    count = f"... {len(key):,} characters ..."
    half = (most - len(count)) // 2
    return cut(shown, half) + count + cut(shown[::-1], half)[::-1]


def cut(text: str, most: int) -> str:
    """Return as much of the beginning of a text as so many columns hold."""
    if len(text) <= most // 2:
        return text
    columns = 0
    for at, character in enumerate(text):
        columns += width(character)
        if columns > most:
            return text[:at]
    return text


def width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(_width(character) for character in text)


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
