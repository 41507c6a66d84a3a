"""Merge conflicts that git has left in a file, and the two files that it made one of.

<<<<<<< HEAD
ours
||||||| what both come from, in some styles
=======
theirs
>>>>>>> branch
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

_WIDTH = 7


@dataclass(frozen=True)
class Conflict:
    """A file with conflict markers.

    Attributes:
        line: the line of the first marker, counted from 1.
        sides: the two texts that were to be merged, as far as they can be told.
    """

    line: int
    sides: tuple[str, str]


class _Part(Enum):
    COMMON = "common"
    OURS = "ours"
    BASE = "base"
    THEIRS = "theirs"


def find_conflict(text: str) -> Conflict | None:
    """Return a text's conflict, or None if it has no whole set of markers."""
    first = 0
    whole = False
    part = _Part.COMMON
    ours: list[str] = []
    theirs: list[str] = []
    for number, line in enumerate(text.split("\n"), start=1):
        follows = _following(line, part)
        if follows is not None:
            first = first or number
            whole = whole or follows is _Part.COMMON
            part = follows
            continue
        if part in (_Part.COMMON, _Part.OURS):
            ours.append(line)
        if part in (_Part.COMMON, _Part.THEIRS):
            theirs.append(line)
    return Conflict(first, ("\n".join(ours), "\n".join(theirs))) if whole else None


def _following(line: str, part: _Part) -> _Part | None:
    """Return what a marker begins, or None if a line is no marker in this part."""
    mark = line[:1]
    if not mark or line[:_WIDTH] != mark * _WIDTH or line[_WIDTH : _WIDTH + 1].strip():
        return None
    if mark == "<" and part is _Part.COMMON:
        return _Part.OURS
    if mark == "|" and part is _Part.OURS:
        return _Part.BASE
    if mark == "=" and part in (_Part.OURS, _Part.BASE):
        return _Part.THEIRS
    if mark == ">" and part is _Part.THEIRS:
        return _Part.COMMON
    return None
