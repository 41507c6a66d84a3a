"""Markdown: what a CommonMark reader makes of it is what was meant."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from schemagen.display.blocks import (
    Block,
    Code,
    Gallery,
    Heading,
    InlineImage,
    Items,
    Listing,
    Paragraph,
    Table,
    printable,
    prose,
)
from schemagen.display.markdown import markdown

READER = MarkdownIt("commonmark").enable("table")
TEXTS = st.text(st.sampled_from("ab1 .-+=#>*_`[]()!<&|\\~:$@/\n\u202e"), min_size=1)


def read(*blocks: Block) -> list[str]:
    """Return the kinds of blocks that a reader sees, each with its text and code."""
    return [
        token.tag or token.type
        for token in READER.parse(markdown(blocks))
        if token.nesting >= 0 and token.type != "inline"
    ]


def inline(text: str) -> list[tuple[str, str]]:
    """Return the inline parts that a reader sees: (type, content)."""
    (token,) = [t for t in READER.parse(text) if t.type == "inline"]
    return [(each.type, each.content) for each in token.children or ()]


@given(TEXTS.filter(str.strip))
@example("1. x")
@example("- x")
@example("# x")
@example("===")
@example("<b>")
@example("http://a.b www.x.y")
def test_a_paragraph_stays_a_paragraph(text: str) -> None:
    """Its text is what was given, but for backticks that enclose code."""
    assert read(Paragraph(text)) == ["p"]
    parts = inline(markdown([Paragraph(text)]))
    assert {kind for kind, _ in parts} <= {"text", "code_inline", "text_special"}
    plain = "".join(content for _, content in parts)
    given = printable(" ".join(text.split()))
    assert re.sub(r"[` ]", "", plain) == re.sub(r"[` ]", "", given)


@given(TEXTS.filter(str.strip))
@example("``a`")
@example("a|b")
def test_code_in_a_table_is_one_cell(text: str) -> None:
    """Bars and backticks neither end the cell nor the code."""
    cell = Code(text)
    found = read(Table(["a", "b"], [[cell, cell], [text, InlineImage("", text)]]))
    assert found.count("td") == 4
    source = markdown([Table(["a", "b"], [[cell, cell]])])
    rows = [t for t in READER.parse(source) if t.type == "inline"]
    for row in rows[2:]:
        ((child,),) = [row.children or ()]
        assert child.type == "code_inline"
        assert child.content == printable(text)


@given(TEXTS)
@example("```\n# x")
def test_a_listing_holds_its_lines(text: str) -> None:
    """No line of it ends it."""
    (token,) = READER.parse(markdown([Listing(text, "python")]))
    assert token.info == "python"
    lines = text.rstrip("\n").split("\n")
    assert token.content.rstrip("\n") == "\n".join(map(printable, lines)).rstrip("\n")


def test_blocks_are_read_as_what_they_are() -> None:
    """Headings, lists and pictures, which are named by their texts."""
    assert read(Heading("x", 3)) == ["h3"]
    assert read(Items(["a", "1. b"])) == ["ul", "li", "p", "li", "p"]
    assert read(Gallery([InlineImage("data:", "a")])) == ["ul", "li", "p"]


def test_lists_of_docstrings_stay_lists() -> None:
    """Their items may have several lines; a dash inside a line begins none."""
    blocks = list(prose("One - two.\n\nIt has:\n- a\n  b\n* c - d\n\n\nEnd."))
    assert read(*blocks) == ["p", "p", "ul", "li", "p", "li", "p", "p"]
    assert "- a b\n- c - d\n" in markdown(blocks)
    assert list(prose("")) == []


@pytest.mark.parametrize("text", ["", " "])
def test_empty_code_is_shown_as_nothing_or_in_quotes(text: str) -> None:
    """An empty cell stays empty."""
    assert markdown([Table(["a"], [[Code(text)]])]).splitlines()[2] in (
        "|  |",
        '| `" "` |',
    )
