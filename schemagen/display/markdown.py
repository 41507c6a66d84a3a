"""Blocks as Markdown that GitHub and Hugging Face show: CommonMark with tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .blocks import (
    Block,
    Cell,
    Code,
    Heading,
    InlineImage,
    Items,
    Listing,
    Paragraph,
    Table,
    printable,
    printable_lines,
)

# What begins markup, a tag, an entity, a mention, a reference or a formula.
_MARKUP = re.compile(r"[\\`*_\[\]<>&|~#@$]")

# What begins a block where it begins a line.
_BLOCK = re.compile(r"^(\d+)?([-+=.):])")

# A scheme or host that would become a link.
_LINK = re.compile(r"(?i)(https?|ftp|mailto)(?=:)|\b(www)(?=\.)")

_CODE = re.compile(r"`([^`\n]*[^`\s][^`\n]*)`")


def markdown(blocks: Sequence[Block]) -> str:
    """Return blocks as Markdown, with all text escaped."""
    return "\n\n".join(filter(None, map(_block, blocks))) + "\n"


def parts(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a text, and whether each is in backticks."""
    for index, part in enumerate(_CODE.split(text)):
        if part:
            yield part, bool(index % 2)


def _block(block: Block) -> str:
    match block:
        case Heading():
            return f"{'#' * block.level} {_inline(block.text)}"
        case Paragraph():
            return _line(" ".join(block.text.split()))
        case Table():
            return _table(block)
        case Listing():
            return _listing(block)
        case Items():
            return "\n".join(
                f"- {_line(' '.join(each.split()))}" for each in block.items
            )
        case _:
            return "\n".join(f"- {_cell(each)}" for each in block.pictures)


def _line(text: str) -> str:
    """Return a text that does not begin a block."""
    return _BLOCK.sub(r"\1\\\2", _inline(text))


def _inline(text: str) -> str:
    if isinstance(text, Code):
        return code_span(text)
    return "".join(
        code_span(part) if is_code else _escaped(part) for part, is_code in parts(text)
    )


def _escaped(text: str) -> str:
    text = _MARKUP.sub(r"\\\g<0>", printable(text))
    return _LINK.sub(r"\g<0>\\", text)


def code_span(text: str) -> str:
    """Return text as code, between more backticks than it has in a row."""
    text = printable(text)
    if not text.strip():
        return f'`"{text}"`' if text else ""
    fence = _fence(text)
    space = " " if "`" in (text[0], text[-1]) or text != text.strip() else ""
    return f"{fence}{space}{text}{space}{fence}"


def _fence(text: str) -> str:
    """Return more backticks than a text has in a row."""
    return "`" * (1 + max(map(len, re.findall(r"`+", text)), default=0))


def _cell(cell: Cell) -> str:
    if isinstance(cell, InlineImage):
        return _escaped(cell.about)
    if isinstance(cell, Code):
        # A table is cut at its bars before code is looked for.
        return code_span(cell).replace("|", "\\|")
    return "".join(
        code_span(part).replace("|", "\\|") if is_code else _escaped(part)
        for part, is_code in parts(" ".join(cell.split()))
    )


def _table(table: Table) -> str:
    rules = [
        "---:" if index in table.numeric else "---"
        for index in range(len(table.headings))
    ]
    rows = [[_cell(each) for each in row] for row in (table.headings, *table.rows)]
    lines = [rows[0], rules, *rows[1:]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _listing(listing: Listing) -> str:
    text = printable_lines(listing.text.rstrip("\n"))
    fence = _fence(text).ljust(3, "`")
    return f"{fence}{listing.language}\n{text}\n{fence}"
