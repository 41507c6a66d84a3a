"""Why a generated file is not as it should be, and what a write would lose.

A file is compared with what is rendered now, and with the hashes in its own header.
"""

from __future__ import annotations

import ast
import io
import json
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from .header import (
    SEAL,
    Header,
    conflict_line,
    has_part_of_header,
    is_seal,
    read_header,
)
from .render import RenderedFile

_SAVE = "save the parts you need"


class Risk(Enum):
    """What would be lost if a file were written or deleted."""

    NOTHING = "nothing"
    EDITS = "edits"
    WORK = "somebody's work"


@dataclass(frozen=True)
class Drift:
    """Why a file is not as it should be.

    Attributes:
        rule: the rule's id.
        reason: what is wrong; the file's path comes before it.
        advice: what to do before code is generated again; empty for nothing.
        risk: what would be lost if the file were written or deleted.
        line: where, counted from 1; 0 for the file as a whole.
        found: the text of that line, if it is to be shown.
        expected: what was in the place of that line, if it is known.
    """

    rule: str
    reason: str
    advice: str = ""
    risk: Risk = Risk.NOTHING
    line: int = 0
    found: str = ""
    expected: str = ""


def missing(wanted: RenderedFile) -> Drift:
    """Return the drift of a file that is missing."""
    return Drift("SG301", f"is missing: it is generated from {wanted.source}")


def drift_of(wanted: RenderedFile | None, old: bytes) -> Drift:
    """Return why a file differs from the one that is wanted.

    Args:
        wanted: the file that should be there; None if none should.
        old: the bytes of the one that is there.
    """
    try:
        text = old.decode().replace("\r\n", "\n")
    except UnicodeDecodeError:
        return _foreign(wanted)
    if not has_part_of_header(text):
        # A crash of the machine can leave an empty file that was written just before.
        is_lost = wanted is not None and not text.strip()
        return Drift("SG310", "is empty") if is_lost else _foreign(wanted)
    header = read_header(text)
    is_intact = header is not None and header.intact
    conflict = None if is_intact else conflict_line(text)
    if conflict is not None:
        return _conflict(conflict, wanted)
    if header is None:
        return Drift(
            "SG310",
            "has a broken header, so edits in it cannot be found",
            _SAVE,
            Risk.EDITS,
            found=text.split("\n", 1)[0],
        )
    if wanted is None:
        return _left_over(header)
    if text == wanted.text:
        reason = "has other line endings than it was generated with"
        advice = "with git, set `text eol=lf` for generated code in .gitattributes"
        return Drift("SG306", reason, advice)
    judge = _stale if is_intact else _edited
    return judge(text, header, wanted)


def _foreign(wanted: RenderedFile | None) -> Drift:
    lost = ", or has lost its header," if wanted else ""
    return Drift(
        "SG308",
        f"was not written by schemagen{lost} and is in its output directory",
        "move it elsewhere: nothing is written while it exists",
        Risk.WORK,
    )


def _conflict(line: int, wanted: RenderedFile | None) -> Drift:
    if wanted is None:
        reason = "has merge conflicts and belongs to no record of the schemas"
        return Drift("SG309", reason, _SAVE, Risk.EDITS, line)
    reason = f"has merge conflicts, first in line {line}"
    return Drift("SG309", reason, "merge the schemas, not this file", line=line)


def _left_over(header: Header) -> Drift:
    reason = "belongs to no record of the schemas"
    if header.intact:
        return Drift("SG307", reason)
    return Drift("SG304", f"{reason} and was edited by hand", _SAVE, Risk.EDITS)


def _stale(text: str, header: Header, wanted: RenderedFile) -> Drift:
    """Judge a file that is as it was generated."""
    line = _first_difference(_without_seal(text), _without_seal(wanted.text))
    if header.spec == wanted.spec:
        reason = "is out of date: its template changed, the schema did not"
        return Drift("SG303", reason, line=line)
    is_spec = wanted.path.endswith("/spec.json")
    changes = spec_changes(text, wanted.text) if is_spec else ""
    reason = f"is out of date: {wanted.source} changed{': ' * bool(changes)}{changes}"
    return Drift("SG302", reason, line=line)


def _edited(text: str, header: Header, wanted: RenderedFile) -> Drift:
    """Judge a file that is not as it was generated.

    The edit is found if the file was generated as it is rendered now.
    """
    if _means_the_same(wanted.path, text, wanted.text):
        return Drift(
            "SG305",
            "was reformatted; its code is equivalent",
            "leave the directory out of formatters",
            line=_first_difference(_without_seal(text), _without_seal(wanted.text)),
        )
    advice = "move the change into the schema or your own code"
    if replace(header, intact=True) != read_header(wanted.text):
        what = "its template" if header.spec == wanted.spec else wanted.source
        reason = f"was edited by hand, and {what} changed since"
        return Drift("SG304", reason, advice, Risk.EDITS)
    lines, expected = text.split("\n"), wanted.text.split("\n")
    line = _first_difference(lines, expected)
    return Drift(
        "SG304",
        "was edited by hand" + (f", first in line {line}" if line > 1 else ""),
        advice,
        Risk.EDITS,
        line,
        "".join(lines[line - 1 : line]),
        "".join(expected[line - 1 : line]),
    )


def _first_difference(left: list[str], right: list[str]) -> int:
    """Return the first line that differs, counted from 1."""
    pairs = enumerate(zip(left, right, strict=False), start=1)
    differing = (number for number, (one, other) in pairs if one != other)
    return next(differing, min(len(left), len(right)))


def _without_seal(text: str) -> list[str]:
    """Return a file's lines, that of the hashes empty: it differs with all others."""
    return ["" if is_seal(line) else line for line in text.split("\n")]


def _means_the_same(path: str, left: str, right: str) -> bool:
    """Tell whether a formatter could have made the one text of the other."""
    meaning = _data if path.endswith(".json") else _code
    try:
        return meaning(left) == meaning(right)
    except (SyntaxError, ValueError, RecursionError, tokenize.TokenError):
        return False


def _data(text: str) -> object:
    """Return what JSON says, apart from the header's hashes."""
    data = json.loads(text)
    return {n: v for n, v in data.items() if n != SEAL} if type(data) is dict else data


def _code(text: str) -> tuple[str, list[str]]:
    """Return the syntax and comments of Python source, apart from the header's hashes."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = [token.string for token in tokens if token.type == tokenize.COMMENT]
    return ast.dump(ast.parse(text)), [each for each in comments if not is_seal(each)]


_SHOWN = 6

# Parts of a record whose names say too little.
_RECORD = {
    "class_name": "the class's name",
    "doc": "the docstring",
    "message": "the base class",
    "source": "the schema file",
}


def spec_changes(old: str, new: str) -> str:
    """Return what has changed, such as "breed.classes, +age, -note"; "" if unknown.

    Args:
        old: the text of the old `spec.json`; another version of schemagen
            may have written it, so only its being JSON is assumed.
        new: the text of the new one.
    """
    try:
        found = [*_changes(json.loads(old), json.loads(new))]
    except (ValueError, KeyError, TypeError, AttributeError):
        return ""
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return ", ".join(found[:_SHOWN]) + more


def _changes(before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    old, new = (
        {field["name"]: field for field in spec["fields"]} for spec in (before, after)
    )
    for name in filter(old.__contains__, new):
        differ = _differing(old[name], new[name])
        shown = ["kind"] if "kind" in differ else differ  # the rest differs with it
        yield from (f"{name}.{attribute}" for attribute in shown)
    yield from (f"+{name}" for name in new if name not in old)
    yield from (f"-{name}" for name in old if name not in new)
    for name in _differing(before, after):
        if name not in ("fields", "//", SEAL):
            yield _RECORD.get(name, name)


def _differing(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    return [n for n in sorted({*old, *new}) if old.get(n) != new.get(n)]
