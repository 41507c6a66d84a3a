"""Breaking long lines as `ruff format` would leave them.

Templates print each statement on one line. A line that is too long is opened at
its last pair of brackets, one item a line, each with a comma: a form that the
formatter keeps as it is, because the last comma asks it to.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

WIDTH = 88
_OPEN, _CLOSE = "([{", ")]}"
_MARKS = re.compile(r"[()\[\]{},]")
_STRINGS = re.compile(r""" "(?:[^"\\]|\\.)*"? | '(?:[^'\\]|\\.)*'? """, re.X)


def wrap(text: str) -> str:
    """Break the long lines of Python source; docstrings and comments stay."""
    lines: list[str] = []
    inside = False
    for line in text.split("\n"):
        if '"""' not in line and display_width(line) <= WIDTH:  # as nearly all do
            lines.append(line)
            continue
        start = line.lstrip()
        if inside:
            inside = '"""' not in line
            lines.append(line)
        elif start.startswith(('"""', "#")):
            inside = start.startswith('"""') and '"""' not in start[3:]
            lines.append(line)
        else:
            lines += _wrapped(line)
    return "\n".join(lines)


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


def _wrapped(line: str) -> list[str]:
    if display_width(line) <= WIDTH:
        return [line]
    pair = _last_pair(line)
    if pair is None:
        return [line]
    start, end = pair
    indent = " " * (len(line) - len(line.lstrip()))
    body = line[start + 1 : end]
    items = _items(body)
    # A comprehension takes no comma, and in a subscript it would make a tuple.
    if len(items) == 1 and (_is_comprehension(body) or _is_subscript(line, start)):
        inner = [f"{indent}    {body.strip()}"]
    else:
        inner = [f"{indent}    {item}," for item in items]
    broken = [part for item in inner for part in _wrapped(item)]
    return [line[: start + 1], *broken, indent + line[end:]]


def _last_pair(line: str) -> tuple[int, int] | None:
    """Return the last brackets of the outermost level that hold anything."""
    found = None
    depth = start = 0
    for at, character in _marks(line):
        if character in _OPEN:
            if depth == 0:
                start = at
            depth += 1
        elif character in _CLOSE:
            depth -= 1
            if depth == 0 and at > start + 1:
                found = (start, at)
    return found


def _items(body: str) -> list[str]:
    """Split what stands between brackets at its own commas."""
    cuts, depth = [-1], 0
    for at, character in _marks(body):
        if character in _OPEN:
            depth += 1
        elif character in _CLOSE:
            depth -= 1
        elif character == "," and depth == 0:
            cuts.append(at)
    ends = [*cuts[1:], len(body)]
    parts = [body[a + 1 : b].strip() for a, b in zip(cuts, ends, strict=True)]
    return [part for part in parts if part]


def _is_comprehension(body: str) -> bool:
    return " for " in _without_strings(body)


def _is_subscript(line: str, at: int) -> bool:
    before = line[at - 1 : at]
    return line[at] == "[" and (before.isalnum() or before in ("_", ")", "]"))


def _marks(line: str) -> Iterator[tuple[int, str]]:
    """Yield the brackets and commas of a line that are not inside a string."""
    for mark in _MARKS.finditer(_without_strings(line)):
        yield mark.start(), mark[0]


def _without_strings(line: str) -> str:
    """Return a line as long as it is, with nothing where its strings are."""
    return _STRINGS.sub(lambda string: "\0" * len(string[0]), line)
