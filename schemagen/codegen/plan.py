"""What has to happen on disk, as values: rendered files against existing ones."""

from __future__ import annotations

import ast
import io
import posixpath
import tokenize
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from ..findings import Finding, Location
from .header import Header, read_header
from .render import RenderedFile


class Action(Enum):
    """What to do with a file."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    KEEP = "keep"
    REFUSE = "refuse"


@dataclass(frozen=True)
class PlannedFile:
    """One file of the output directory and what is to be done with it.

    Attributes:
        path: relative to the output directory, with forward slashes; that of an
            additional output elsewhere begins with "../".
        action: what to do.
        old: its bytes on disk, or None if it is not there.
        new: its text to be, or None if it is not to be there.
        finding: why it is not as it should be, or None if it is.
    """

    path: str
    action: Action
    old: bytes | None
    new: str | None
    finding: Finding | None


@dataclass(frozen=True)
class Plan:
    """Everything to be done.

    Attributes:
        files: sorted by path.
        output: the output directory relative to the project.
        warnings: what users should know, and what fails nothing.
    """

    files: tuple[PlannedFile, ...]
    output: str
    warnings: tuple[Finding, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Why files are not as they should be."""
        return tuple(file.finding for file in self.files if file.finding is not None)

    @property
    def refused(self) -> tuple[Finding, ...]:
        """Why the plan cannot be carried out as it is."""
        return tuple(
            file.finding
            for file in self.files
            if file.action is Action.REFUSE and file.finding is not None
        )

    @property
    def changes(self) -> tuple[PlannedFile, ...]:
        """The files that are to be written or deleted."""
        return tuple(file for file in self.files if file.action is not Action.KEEP)


def make_plan(
    rendered: Iterable[RenderedFile],
    existing: Mapping[str, bytes],
    output: str,
    *,
    force: bool = False,
) -> Plan:
    """Compare what should be with what is.

    Args:
        rendered: every file that should be there.
        existing: every file that is there, by path in the output directory.
        output: the output directory relative to the project, for messages.
        force: overwrite files of ours that were edited by hand.
    """
    wanted = {file.path: file for file in rendered}
    files = [
        _planned(path, wanted.get(path), existing.get(path), output, force=force)
        for path in sorted(wanted.keys() | existing.keys())
    ]
    return Plan(tuple(files), output)


def _planned(
    path: str,
    wanted: RenderedFile | None,
    old: bytes | None,
    output: str,
    *,
    force: bool,
) -> PlannedFile:
    new = wanted.text if wanted else None
    if old is not None and new is not None and old == new.encode():
        return PlannedFile(path, Action.KEEP, old, new, None)
    verdict = _judged(wanted, old)
    action = verdict.action
    if force and verdict.rule == "SG304":
        action = Action.UPDATE if wanted else Action.DELETE
    shown = shown_path(output, path)
    finding = Finding(
        Location(shown, verdict.line),
        verdict.rule,
        f"{shown} {verdict.reason}",
        advice=verdict.advice,
    )
    return PlannedFile(path, action, old, new, finding)


def shown_path(output: str, path: str) -> str:
    """Return a planned file's path relative to the project; "../" leads out of it."""
    return posixpath.normpath(f"{output}/{path}")


_GENERATE = "run `schemagen generate`"


@dataclass(frozen=True)
class _Verdict:
    """What to do with a file that differs, by which rule, why, and what users can."""

    action: Action
    rule: str
    reason: str
    advice: str = _GENERATE
    line: int = 1


def _judged(wanted: RenderedFile | None, old: bytes | None) -> _Verdict:
    if old is None:
        source = wanted.source if wanted else ""
        return _Verdict(Action.CREATE, "SG301", f"is missing; {source} asks for it")
    text = _decoded(old)
    plain = text.replace("\r\n", "\n") if text is not None else None
    header = read_header(plain) if plain is not None else None
    if header is None or plain is None:
        lost = ", or has lost its header," if wanted else ""
        return _Verdict(
            Action.REFUSE,
            "SG308",
            f"was not written by schemagen{lost} and is in its output directory",
            "move it elsewhere; nothing is written while it is there",
        )
    if wanted is None:
        return _orphan(header)
    if plain == wanted.text:
        reason = "has other line endings than it was generated with"
        advice = f"{_GENERATE}; with git, mark the directory `eol=lf` in .gitattributes"
        return _Verdict(Action.UPDATE, "SG306", reason, advice)
    line = _first_difference(plain, wanted.text)
    if not header.intact:
        return _edited(plain, wanted, header, line)
    if header.spec != wanted.spec:
        reason = f"is out of date: {wanted.source} changed"
        return _Verdict(Action.UPDATE, "SG302", reason, line=line)
    reason = f"is out of date: schemagen prints other code for {wanted.source} now"
    return _Verdict(Action.UPDATE, "SG303", reason, line=line)


def _orphan(header: Header) -> _Verdict:
    if header.intact:
        reason = "belongs to no record of the schemas"
        advice = f"{_GENERATE}, which deletes it"
        return _Verdict(Action.DELETE, "SG307", reason, advice)
    return _Verdict(
        Action.REFUSE,
        "SG304",
        "belongs to no record of the schemas and was edited by hand",
        "delete it, or run `schemagen generate --force`",
    )


def _edited(plain: str, wanted: RenderedFile, header: Header, line: int) -> _Verdict:
    if wanted.path.endswith(".py") and _same_code(plain, wanted.text):
        reason = "was reformatted; it says the same in other words"
        advice = f"{_GENERATE}, and leave the directory out of formatters"
        return _Verdict(Action.UPDATE, "SG305", reason, advice, line)
    if header.spec == wanted.spec:
        reason = f"was edited by hand, first in line {line}"
    else:  # what differs first may come from the schema
        reason, line = f"was edited by hand, and {wanted.source} changed since", 1
    return _Verdict(
        Action.REFUSE,
        "SG304",
        reason,
        "move the change into the schema or your own code, then run `schemagen "
        "generate --force`, which overwrites it",
        line,
    )


def _decoded(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _same_code(left: str, right: str) -> bool:
    """Tell whether texts differ in blanks, quotes and the like, not in a comment."""
    try:
        same_syntax = ast.dump(ast.parse(left)) == ast.dump(ast.parse(right))
        return same_syntax and _comments(left) == _comments(right)
    except (SyntaxError, ValueError, tokenize.TokenError):
        return False


def _comments(text: str) -> list[str]:
    """Return the comments of Python source below the header."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = [token.string for token in tokens if token.type == tokenize.COMMENT]
    return comments[2:]


def _first_difference(left: str, right: str) -> int:
    """Return the first line below the header that differs, counted from 1."""
    lines = zip(left.split("\n"), right.split("\n"), strict=False)
    for number, (one, other) in enumerate(lines, start=1):
        if one != other and "schemagen: spec=" not in one + other:
            return number
    return min(left.count("\n"), right.count("\n")) + 1
