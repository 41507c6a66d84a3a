"""Why a file in the output directory is not as it should be, and what is to be done."""

from __future__ import annotations

import ast
import io
import json
import tokenize
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

from .header import (
    SEAL,
    Header,
    find_conflict,
    has_broken_header,
    is_seal,
    read_header,
)
from .render import RenderedFile
from .spec_changes import spec_changes

# Renders again what the spec of a spec.json asked for: its files, by their paths.
Rerender = Callable[[str], Iterable[RenderedFile]]


class Action(Enum):
    """What to do with a file."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    KEEP = "keep"
    REFUSE = "refuse"


@dataclass(frozen=True)
class Verdict:
    """What to do with a file that is not as it should be, and why.

    Attributes:
        action: what to do.
        rule: the rule's id.
        reason: what is wrong, to be read behind the file's path.
        advice: what users can do; ends with the command that fixes it.
        line: where, counted from 1.
        shown: the text of that line, if it is to be shown.
        expected: what stood in the place of that line, if it is known.
        forced: what to do instead if edits may be lost.
    """

    action: Action
    rule: str
    reason: str
    advice: str
    line: int = 1
    shown: str = ""
    expected: str = ""
    forced: Action | None = None


@dataclass(frozen=True)
class Evidence:
    """What tells of a file's past, besides the file.

    Attributes:
        existing: every file that is there, by path in the output directory.
        output: that directory, relative to the project.
        specs: the texts of the specs that there are now, by their hash.
        command: how this project's code is generated from where the user is.
        rerender: makes the files of a former spec again; None if nothing can.
    """

    existing: Mapping[str, bytes]
    output: str
    specs: Mapping[str, str]
    command: str
    rerender: Rerender | None = None
    _former: dict[str, dict[str, str]] = field(default_factory=dict)

    @cached_property
    def _specs_on_disk(self) -> dict[str, str]:
        """The texts of the intact spec.json that are there, by the hash of each."""
        found = {}
        for path, data in self.existing.items():
            if path.rsplit("/", 1)[-1] == "spec.json":
                text = plain_text(data) or ""
                header = read_header(text)
                if header and header.intact:
                    found[header.spec] = text
        return found

    def changes(self, old: str, new: str) -> str:
        """Return what differs between the specs of two hashes; "" if unknown."""
        text = self._specs_on_disk.get(old)
        return spec_changes(text, self.specs[new]) if text and new in self.specs else ""

    def original(self, wanted: RenderedFile, header: Header) -> str | None:
        """Return the text that a file had before it was edited, if it can be known.

        It is known if it can be made again: from the spec that there is now, or from
        the one on disk. The header's hash proves that it is the same.
        """
        texts = [wanted.text]
        if header.spec != wanted.spec:
            texts = [self._files_of(header.spec).get(wanted.path, "")]
        for text in texts:
            made = read_header(text)
            if made and (made.spec, made.body) == (header.spec, header.body):
                return text
        return None

    def _files_of(self, spec: str) -> dict[str, str]:
        if spec not in self._former:
            self._former[spec] = {}
            text = self._specs_on_disk.get(spec)
            if text and self.rerender:
                try:
                    files = self.rerender(text)
                    self._former[spec] = {file.path: file.text for file in files}
                except Exception:
                    # The spec is of another version of schemagen, which may know
                    # kinds and attributes that this one cannot render.
                    return {}
        return self._former[spec]


def plain_text(data: bytes) -> str | None:
    """Return a file's text with plain line ends, or None if it is no text."""
    try:
        return data.decode().replace("\r\n", "\n")
    except UnicodeDecodeError:
        return None


def verdict_on(
    wanted: RenderedFile | None, old: bytes | None, evidence: Evidence
) -> Verdict:
    """Say what is wrong with a file that differs from the one that is wanted.

    Args:
        wanted: the file that should be there; None if none should.
        old: the bytes of the one that is there; None if there is none.
        evidence: what else is known.
    """
    run = f"run `{evidence.command}`"
    if old is None:
        source = wanted.source if wanted and wanted.spec != "-" else ""
        needs = f"{source} asks for it" if source else "all records need it"
        return Verdict(Action.CREATE, "SG301", f"is missing; {needs}", run)
    plain = plain_text(old)
    header = read_header(plain) if plain is not None else None
    if plain is None or header is None or not header.intact:
        conflict = find_conflict(plain) if plain is not None else None
        if conflict is not None and any(map(has_broken_header, conflict[1])):
            return _conflicting(conflict[0], wanted, evidence)
    if plain is None or header is None:
        return _not_ours(plain, wanted, evidence)
    if wanted is None:
        return _orphan(header, evidence)
    if plain == wanted.text:
        return Verdict(
            Action.UPDATE,
            "SG306",
            "has other line endings than it was generated with",
            f"with git, write `{evidence.output}/** text eol=lf` into .gitattributes; "
            f"then {run}",
        )
    if not header.intact:
        return _edited(plain, wanted, header, evidence)
    line = _first_difference(plain, wanted.text)
    if header.spec != wanted.spec:
        reason = f"is out of date: {_changed(wanted, header, evidence)}"
        return Verdict(Action.UPDATE, "SG302", reason, run, line)
    what = (
        "schemagen prints other code now"
        if wanted.spec == "-"
        else f"its template changed; {wanted.source} did not"
    )
    return Verdict(Action.UPDATE, "SG303", f"is out of date: {what}", run, line)


def _changed(wanted: RenderedFile, header: Header, evidence: Evidence) -> str:
    what = evidence.changes(header.spec, wanted.spec)
    return f"{wanted.source} changed{f': {what}' if what else ''}"


def _not_ours(
    plain: str | None, wanted: RenderedFile | None, evidence: Evidence
) -> Verdict:
    """Judge a file without our header."""
    run = evidence.command
    if plain is not None and has_broken_header(plain):
        return Verdict(
            Action.REFUSE,
            "SG310",
            "has a broken header, so that no one can tell whether it was edited",
            f"take what is yours out of it; to overwrite it, run `{run} --force`"
            if wanted
            else f"take what is yours out of it; to delete it, run `{run} --force`",
            shown=plain.split("\n", 1)[0],
            forced=Action.UPDATE if wanted else Action.DELETE,
        )
    if wanted and plain is not None and not plain.strip():
        # A crash of the machine can leave this of a file that was written just before.
        return Verdict(Action.UPDATE, "SG310", "is empty", f"run `{run}`")
    lost = ", or has lost its header," if wanted else ""
    return Verdict(
        Action.REFUSE,
        "SG308",
        f"was not written by schemagen{lost} and is in its output directory",
        f"nothing is written while it is there: move it elsewhere, and run `{run}`",
    )


def _conflicting(line: int, wanted: RenderedFile | None, evidence: Evidence) -> Verdict:
    """Judge a file of ours that git could not merge; it has both sides."""
    run = evidence.command
    if wanted is None:
        return Verdict(
            Action.REFUSE,
            "SG309",
            "has merge conflicts and belongs to no record of the schemas",
            f"delete it, or run `{run} --force`",
            line,
            forced=Action.DELETE,
        )
    return Verdict(
        Action.UPDATE,
        "SG309",
        f"has merge conflicts, first in line {line}",
        f"merge the schemas, not this file; then run `{run}`",
        line,
    )


def _orphan(header: Header, evidence: Evidence) -> Verdict:
    run = evidence.command
    what = "belongs to no record of the schemas"
    if header.intact:
        return Verdict(Action.DELETE, "SG307", what, f"to delete it, run `{run}`")
    return Verdict(
        Action.REFUSE,
        "SG304",
        f"{what} and was edited by hand",
        f"save what you need of it; to delete it, run `{run} --force`",
        forced=Action.DELETE,
    )


def _edited(
    plain: str, wanted: RenderedFile, header: Header, evidence: Evidence
) -> Verdict:
    """Judge a file of ours that is not as it was generated."""
    original = evidence.original(wanted, header)
    since = ""
    if header.spec != wanted.spec:
        since = f", and {_changed(wanted, header, evidence)} since"
    elif original is None and _unsealed(plain) != _unsealed(wanted.text):
        since = ", and its template changed since"
    for text in (wanted.text, original or ""):
        if _says_the_same(wanted.path, plain, text):
            return Verdict(
                Action.UPDATE,
                "SG305",
                "was reformatted; it says the same in other words",
                f"leave the directory out of formatters, and run `{evidence.command}`",
                _first_difference(plain, text),
            )
    line, shown, expected = 1, "", ""
    if not since or original is not None:
        before = original or wanted.text
        line = _first_difference(plain, before, sealed=True)
        shown, expected = _line(plain, line), _line(before, line)
    where = "" if line == 1 else f", first in line {line}"
    return Verdict(
        Action.REFUSE,
        "SG304",
        f"was edited by hand{where}{since}",
        "move the change into the schema or your own code; to overwrite it, run "
        f"`{evidence.command} --force`",
        line,
        shown,
        expected,
        forced=Action.UPDATE,
    )


def _says_the_same(path: str, left: str, right: str) -> bool:
    """Tell whether a formatter could have made the one text of the other."""
    if path.endswith(".py"):
        return _same_code(left, right)
    return path.endswith(".json") and _same_data(left, right)


def _same_data(left: str, right: str) -> bool:
    try:
        return _unsealed_data(left) == _unsealed_data(right)
    except (ValueError, RecursionError):
        return False


def _unsealed_data(text: str) -> object:
    """Return what JSON says, apart from the header's hashes."""
    data = json.loads(text)
    return {n: v for n, v in data.items() if n != SEAL} if type(data) is dict else data


def _same_code(left: str, right: str) -> bool:
    """Tell whether texts differ in blanks, quotes and the like, not in a comment."""
    try:
        same_syntax = ast.dump(ast.parse(left)) == ast.dump(ast.parse(right))
        return same_syntax and _comments(left) == _comments(right)
    except (SyntaxError, ValueError, RecursionError, tokenize.TokenError):
        return False


def _comments(text: str) -> list[str]:
    """Return the comments of Python source, apart from the header's hashes."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = [token.string for token in tokens if token.type == tokenize.COMMENT]
    return [comment for comment in comments if not is_seal(comment)]


def _unsealed(text: str) -> list[str]:
    """Return the lines of a file but those of hashes."""
    return [line for line in text.split("\n") if not is_seal(line)]


def _first_difference(left: str, right: str, *, sealed: bool = False) -> int:
    """Return the first line that differs, counted from 1.

    Args:
        left: a text.
        right: another one.
        sealed: whether the line of the hashes is to be compared, too. It differs
            wherever schema or template do.
    """
    lines = zip(left.split("\n"), right.split("\n"), strict=False)
    for number, (one, other) in enumerate(lines, start=1):
        if one != other and (sealed or not (is_seal(one) and is_seal(other))):
            return number
    return min(left.count("\n"), right.count("\n")) + 1


def _line(text: str, number: int) -> str:
    lines = text.split("\n")
    return lines[number - 1] if number <= len(lines) else ""
