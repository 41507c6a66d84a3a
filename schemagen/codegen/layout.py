"""Python source on lines that are not too long."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

WIDTH = 88
STEP = 4
_MARKS = re.compile(r"[()\[\]{},]")
_STRINGS = re.compile(r""" "(?:[^"\\]|\\.)*"? | '(?:[^'\\]|\\.)*'? """, re.X)
_SUBSCRIPT = re.compile(r"[\w)\]]\[\Z")


def wrap(text: str) -> str:
    """Break the long lines of Python source that has each statement on one line.

    Each item has its own line, with a comma: a form that formatters keep as it is.
    Docstrings and comments stay.
    """
    found: list[str] = []
    inside = False
    for line in text.split("\n"):
        start = line.lstrip()
        if inside or start.startswith(('"""', "#")):
            found.append(line)
            ends = '"""' in (line if inside else start[3:])
            inside = not ends and (inside or start.startswith('"""'))
        else:
            found += broken(line)
    return "\n".join(found)


def broken(line: str, tail: str = "") -> list[str]:
    """Return a statement or an item on as many lines as it needs.

    A line that is too long is opened at its last brackets of the outermost level.

    Args:
        line: with its indentation.
        tail: what follows it on its last line.
    """
    cuts = [] if display_width(line + tail) <= WIDTH else _cuts(line)
    if not cuts:
        return [line + tail]
    first, last = line[: cuts[0] + 1], line[cuts[-1] :]
    items = [line[a + 1 : b].strip() for a, b in pairwise(cuts)]
    pad = " " * (len(line) - len(line.lstrip()))
    inner = pad + " " * STEP
    # A comprehension takes no comma, and in a subscript it would make a tuple.
    takes_comma = len(items) > 1 or not (
        _SUBSCRIPT.search(first) or " for " in _without_strings(items[0])
    )
    each = (
        row
        for item in filter(None, items)
        for row in broken(inner + item, "," if takes_comma else "")
    )
    return [first, *each, pad + last + tail]


def _cuts(line: str) -> list[int]:
    """Return where the last outermost brackets that hold anything begin and end.

    The places of the commas between their items are in between.
    """
    found: list[int] = []
    cuts: list[int] = []
    depth = 0
    for mark in _MARKS.finditer(_without_strings(line)):
        at, character = mark.start(), mark[0]
        if character in "([{":
            cuts = cuts if depth else [at]
            depth += 1
        elif character != ",":
            depth -= 1
            if depth == 0 and at > cuts[0] + 1:
                found = [*cuts, at]
        elif depth == 1:
            cuts.append(at)
    return found


def _without_strings(line: str) -> str:
    """Return a line as long as it is, with nothing where its strings are."""
    return _STRINGS.sub(lambda string: "\0" * len(string[0]), line)


def display_width(text: str) -> int:
    """Return how many columns a line takes in a terminal."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
