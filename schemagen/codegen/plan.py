"""What has to happen on disk, as values: rendered files against existing ones."""

from __future__ import annotations

import difflib
import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from ..findings import Finding, Location
from .drift import Drift, Risk, drift_of, missing
from .render import RenderedFile

if TYPE_CHECKING:
    from ..spec.model import RecordSpec

COMMAND = "schemagen generate"

# A line as tools for diffs see it: only LF ends one.
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_NO_LINE_END = "\\ No newline at end of file\n"


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
        path: relative to the output directory, with forward slashes.
        action: what to do.
        old: its bytes on disk, or None if it does not exist.
        new: its text to be, or None if it is not to be there.
        finding: why it is not as it should be, or None if it is.
        cause: equal for files of one record that have one cause.
    """

    path: str
    action: Action
    old: bytes | None
    new: str | None
    finding: Finding | None = None
    cause: tuple[str, ...] = ()


@dataclass(frozen=True)
class GenerationPlan:
    """What `generate` writes and deletes.

    Attributes:
        files: sorted by path.
        output: the output directory relative to the project.
        command: the command that generates the code, from the user's directory.
        warnings: findings that do not fail a run.
        new: the records of which there is no code yet.
        new_warnings: further warnings about these, which are shown once.
    """

    files: tuple[PlannedFile, ...]
    output: str
    command: str = COMMAND
    warnings: tuple[Finding, ...] = ()
    new: tuple[RecordSpec, ...] = ()
    new_warnings: tuple[Finding, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The files that are not up to date: one finding for each record and cause."""
        joined: dict[tuple[str, ...], list[Finding]] = {}
        for file in self.files:
            if file.finding is not None:
                joined.setdefault(file.cause, []).append(file.finding)
        return tuple(map(_joined, joined.values()))

    @property
    def refused(self) -> tuple[Finding, ...]:
        """Why the plan cannot be carried out as it is."""
        refused = (file for file in self.files if file.action is Action.REFUSE)
        return tuple(file.finding for file in refused if file.finding is not None)

    @property
    def changes(self) -> tuple[PlannedFile, ...]:
        """The files that are to be written or deleted."""
        return tuple(file for file in self.files if file.action is not Action.KEEP)

    @property
    def is_first(self) -> bool:
        """Whether the output package does not exist yet."""
        created = (file.path for file in self.files if file.action is Action.CREATE)
        return "__init__.py" in created


def make_plan(
    rendered: Iterable[RenderedFile],
    existing: Mapping[str, bytes],
    output: str,
    *,
    force: bool = False,
    links: Collection[str] = (),
    command: str = COMMAND,
) -> GenerationPlan:
    """Compare what should be with what is.

    Args:
        rendered: every file that should be there.
        existing: every file that is there, by path in the output directory.
        output: the output directory relative to the project, for messages.
        force: overwrite files of ours that were edited by hand.
        links: the paths of `existing` that are symbolic links, those to directories
            included; they are neither written nor deleted.
        command: how the code is generated from where the user is, for messages.
    """
    wanted = {file.path: file for file in rendered}
    missed = {path.casefold(): path for path in wanted if path not in existing}
    files = []
    for path in sorted(wanted.keys() | existing.keys()):
        if links and any(str(above) in links for above in PurePosixPath(path).parents):
            continue  # the link above it is refused
        asked, old = wanted.get(path), existing.get(path)
        new = asked.text if asked else None
        if path in links:
            drift = _LINK
        elif old is not None and new is not None and old == new.encode():
            files.append(PlannedFile(path, Action.KEEP, old, new))
            continue
        elif asked is None and path.casefold() in missed:
            drift = _twin(shown_path(output, missed[path.casefold()]))
        elif asked is not None and old is None:
            drift = missing(asked)
        else:
            drift = drift_of(asked, existing[path])
        needed = _needed(old, new)
        allowed = drift.risk is Risk.NOTHING or (force and drift.risk is Risk.EDITS)
        action = needed if allowed else Action.REFUSE
        finding = _finding(shown_path(output, path), drift, needed, command)
        # What refuses a run is settled file by file.
        cause = (path, "", "")
        if drift.risk is Risk.NOTHING:
            cause = (posixpath.dirname(path), drift.rule, drift.advice)
        files.append(PlannedFile(path, action, old, new, finding, cause))
    return GenerationPlan(tuple(files), output, command)


def _needed(old: bytes | None, new: str | None) -> Action:
    """Return what makes a file as it should be."""
    if new is None:
        return Action.DELETE
    return Action.CREATE if old is None else Action.UPDATE


_LINK = Drift(
    "SG311",
    "is a symbolic link, and nothing is written or deleted through one",
    "remove the link",
    Risk.WORK,
)


def _twin(shown: str) -> Drift:
    """Return the drift of a file whose name differs from a wanted one's in case only.

    Where case does not count, as on Windows and macOS, both are one file: to write the
    one and delete the other would lose it.
    """
    return Drift(
        "SG312",
        f"differs from {shown} in upper and lower case only",
        "rename it with `git mv`",
        Risk.WORK,
    )


def _finding(shown: str, drift: Drift, needed: Action, command: str) -> Finding:
    run = f"then run `{command}`" if drift.advice else f"run `{command}`"
    if drift.risk is Risk.EDITS:
        verb = "delete" if needed is Action.DELETE else "overwrite"
        run = f"to {verb} it, run `{command} --force`"
    return Finding(
        Location(shown, drift.line),
        drift.rule,
        f"{shown} {drift.reason}",
        found=drift.found.strip(),
        expected=drift.expected.strip(),
        advice="; ".join(filter(None, (drift.advice, run))),
        files=(shown,),
    )


def _joined(findings: list[Finding]) -> Finding:
    """Return one finding for files that have one cause.

    Its place is in the spec, if that is one of them: it says what has changed.
    """
    if len(findings) == 1:
        return findings[0]
    paths = [finding.location.path for finding in findings]
    first = max(findings, key=lambda each: each.location.path.endswith("/spec.json"))
    shown = first.location.path
    directory = posixpath.commonpath(map(posixpath.dirname, paths))
    code = f"the code in {directory} ({len(paths)} files)"
    message = code + first.message.removeprefix(shown)
    return replace(first, message=message, files=tuple(paths))


def shown_path(output: str, path: str) -> str:
    """Return a planned file's path relative to the project."""
    return f"{output}/{path}"


def unified_diff(found: GenerationPlan) -> str:
    """Return a diff that `git apply` and `patch` can carry out.

    It has what a plan would change, and for an edited file what --force would.
    """
    parts: list[str] = []
    for file in found.changes:
        if file.action is not Action.REFUSE or file.new is not None:
            parts += _file_diff(file, found.output)
    return "".join(parts)


def _file_diff(file: PlannedFile, output: str) -> Iterator[str]:
    path = shown_path(output, file.path)
    for line in difflib.unified_diff(
        _LINE.findall((file.old or b"").decode(errors="replace")),
        _LINE.findall(file.new or ""),
        f"a/{path}" if file.old is not None else "/dev/null",
        f"b/{path}" if file.new is not None else "/dev/null",
    ):
        yield line if line.endswith("\n") else f"{line}\n{_NO_LINE_END}"
