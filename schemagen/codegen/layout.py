"""Python source on lines that are not too long, as `ruff format` would leave them."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from itertools import pairwise

WIDTH = 88
STEP = 4
_MARKS = re.compile(r"[()\[\]{},]")
_STRINGS = re.compile(r""" "(?:[^"\\]|\\.)*"? | '(?:[^'\\]|\\.)*'? """, re.X)


@dataclass(frozen=True)
class Brackets:
    """Brackets with something before them and items inside: a call, a tuple.

    Attributes:
        head: what stands before the opening bracket.
        pair: the brackets.
        items: what stands between them.
        tail: what stands behind the closing bracket.
        comma: whether the last item has a comma already.
    """

    head: str
    pair: str
    items: tuple[Node, ...]
    tail: str = ""
    comma: bool = False

    @property
    def follows_name(self) -> bool:
        """Whether this is a call or a subscript, and no tuple, list or dict."""
        last = self.head[-1:]
        return last.isalnum() or last in ("_", ")", "]")

    @property
    def takes_comma(self) -> bool:
        """Whether a comma can end the last item.

        A comprehension takes none, and in a subscript it would make a tuple.
        """
        if self.comma or len(self.items) > 1:
            return True
        is_subscript = self.pair == "[]" and self.follows_name
        return not is_subscript and " for " not in _without_strings(flat(self.items[0]))


Node = str | Brackets


def wrap(text: str) -> str:
    """Break the long lines of Python source that has each statement on one line.

    Each item has its own line, with a comma: a form that formatters keep as it is.
    Docstrings and comments stay.
    """
    found: list[str] = []
    inside = False
    for line in text.split("\n"):
        start = line.lstrip()
        if '"""' not in line and (inside or display_width(line) <= WIDTH):
            found.append(line)
        elif inside or start.startswith(('"""', "#")):
            inside = not inside and start.startswith('"""') and '"""' not in start[3:]
            found.append(line)
        else:
            found += lines(start, len(line) - len(start), joined=False)
    return "\n".join(found)


def display_width(text: str) -> int:
    """Return how many columns a line takes in a terminal."""
    if text.isascii():
        return len(text)
    return sum(
        0
        if unicodedata.combining(character)
        else 2
        if unicodedata.east_asian_width(character) in "WF"
        else 1
        for character in text
    )


def flat(node: Node) -> str:
    """Return an expression on one line."""
    if isinstance(node, str):
        return node
    items = ", ".join(map(flat, node.items))
    is_tuple = node.pair == "()" and not node.follows_name
    comma = "," if is_tuple and len(node.items) == 1 else ""
    return f"{node.head}{node.pair[0]}{items}{comma}{node.pair[1]}{node.tail}"


def lines(
    node: Node,
    indent: int = 0,
    tail: str = "",
    *,
    opened: bool = False,
    joined: bool = True,
) -> list[str]:
    """Return an expression on as many lines as it needs.

    What is too long is opened: first all items on a line of their own, then, as
    tuples and lists always, each item on its own with a comma.

    Args:
        node: the expression; text is opened at its last brackets.
        indent: how many columns it is moved to the right.
        tail: what follows it on its last line.
        opened: whether each item has its own line in any case.
        joined: whether items may share a line.
    """
    pad = " " * indent
    line = f"{pad}{flat(node)}{tail}"
    if display_width(line) <= WIDTH and not opened:
        return [line]
    if isinstance(node, str):
        node = _parsed(node)
    if isinstance(node, str) or not node.items:
        return [line]
    first = f"{pad}{node.head}{node.pair[0]}"
    last = f"{pad}{node.pair[1]}{node.tail}{tail}"
    inner = " " * (indent + STEP) + ", ".join(map(flat, node.items))
    in_one = joined and node.follows_name and not opened
    if in_one and display_width(inner) <= WIDTH:
        return [first, inner, last]
    comma = "," if node.takes_comma else ""
    each = [
        line
        for item in node.items
        for line in lines(item, indent + STEP, comma, joined=joined)
    ]
    return [first, *each, last]


def _parsed(text: str) -> Node:
    """Return the last brackets of the outermost level that hold anything."""
    found: list[int] = []
    cuts: list[int] = []
    depth = 0
    for mark in _MARKS.finditer(_without_strings(text)):
        at, character = mark.start(), mark[0]
        if character in "([{":
            if depth == 0:
                cuts = [at]
            depth += 1
        elif character in ")]}":
            depth -= 1
            if depth == 0 and at > cuts[0] + 1:
                found = [*cuts, at]
        elif depth == 1:
            cuts.append(at)
    if not found:
        return text
    start, end = found[0], found[-1]
    parts = [text[a + 1 : b].strip() for a, b in pairwise(found)]
    return Brackets(
        text[:start],
        text[start] + text[end],
        tuple(filter(None, parts)),
        text[end + 1 :],
        comma=not parts[-1],
    )


def _without_strings(line: str) -> str:
    """Return a line as long as it is, with nothing where its strings are."""
    return _STRINGS.sub(lambda string: "\0" * len(string[0]), line)
