"""Blocks of a document. Their texts are plain: each renderer escapes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


class Code(str):
    """Text that is shown as code: names, keys, classes, checksums."""

    __slots__ = ()


@dataclass(frozen=True)
class InlineImage:
    """A small picture.

    Attributes:
        url: a data URL; empty if there is only a text.
        about: a description, shown next to it.
    """

    url: str
    about: str


Cell = str | InlineImage
"""A text, `Code` or a picture."""


@dataclass(frozen=True)
class Heading:
    """A heading of level 1 to 3."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Paragraph:
    """A text; its lines are filled."""

    text: str


@dataclass(frozen=True)
class Table:
    """A table with headings.

    Attributes:
        headings: of the columns.
        rows: a cell for each heading.
        numeric: the indices of columns that are aligned to the right.
    """

    headings: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    numeric: Sequence[int] = ()


@dataclass(frozen=True)
class Listing:
    """Lines of a program, or of other text whose line breaks matter.

    Attributes:
        text: the lines.
        language: for colors; "" for other text.
    """

    text: str
    language: str = ""


@dataclass(frozen=True)
class Items:
    """A list of texts."""

    items: Sequence[str]


@dataclass(frozen=True)
class Gallery:
    """Pictures next to each other."""

    pictures: Sequence[InlineImage]


Block = Heading | Paragraph | Table | Listing | Items | Gallery


def prose(text: str) -> Iterator[Paragraph | Items]:
    """Yield the paragraphs of a docstring, and its lists, whose items begin with "- "."""
    for part in text.split("\n\n"):
        first, *items = re.split(r"(?:^|\n)\s*[-*] ", part)
        if first.strip():
            yield Paragraph(first)
        if items:
            yield Items(items)


def without_empty(
    headings: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    optional: Sequence[str],
    numeric: Sequence[str] = (),
) -> Table:
    """Return a table without those of the optional columns that have only empty cells.

    Args:
        headings: of the columns.
        rows: a cell for each heading.
        optional: headings of columns that may go.
        numeric: headings of columns that are aligned to the right.
    """
    kept = [
        index
        for index, heading in enumerate(headings)
        if heading not in optional or any(row[index] for row in rows)
    ]
    return Table(
        [headings[index] for index in kept],
        [[row[index] for index in kept] for row in rows],
        [at for at, index in enumerate(kept) if headings[index] in numeric],
    )


def printable(text: str) -> str:
    """Escape characters that act on a terminal or on the text around them."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in text
    )


def printable_lines(text: str) -> str:
    """Escape the same, and keep line breaks."""
    return "\n".join(map(printable, text.split("\n")))
