"""What has to happen on disk, as values: rendered files against existing ones."""

from __future__ import annotations

import difflib
import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from ..findings import Finding, Location
from .drift import Action as Action
from .drift import Evidence, Rerender, Verdict, plain_text, verdict_on
from .header import read_header
from .render import RenderedFile

COMMAND = "schemagen generate"

_NO_LINE_END = "\\ No newline at end of file\n"


@dataclass(frozen=True)
class PlannedFile:
    """One file of the output directory and what is to be done with it.

    Attributes:
        path: relative to the output directory, with forward slashes.
        action: what to do.
        old: its bytes on disk, or None if it is not there.
        new: its text to be, or None if it is not to be there.
        finding: why it is not as it should be, or None if it is.
        cause: equal for files of one record that have one cause.
    """

    path: str
    action: Action
    old: bytes | None
    new: str | None
    finding: Finding | None
    cause: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan:
    """Everything to be done.

    Attributes:
        files: sorted by path.
        output: the output directory relative to the project.
        command: how the code is generated from where the user is.
        warnings: what users should know, and what fails nothing.
    """

    files: tuple[PlannedFile, ...]
    output: str
    command: str = COMMAND
    warnings: tuple[Finding, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Why files are not as they should be: one finding for a record and cause."""
        joined: dict[tuple[str, ...], list[Finding]] = {}
        for file in self.files:
            if file.finding is not None:
                joined.setdefault(file.cause, []).append(file.finding)
        return tuple(map(_joined, joined.values()))

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

    @property
    def is_first(self) -> bool:
        """Whether the output package is not there yet."""
        return any(
            file.path == "__init__.py" and file.action is Action.CREATE
            for file in self.files
        )


def make_plan(
    rendered: Iterable[RenderedFile],
    existing: Mapping[str, bytes],
    output: str,
    *,
    force: bool = False,
    links: Collection[str] = (),
    command: str = COMMAND,
    rerender: Rerender | None = None,
) -> Plan:
    """Compare what should be with what is.

    Args:
        rendered: every file that should be there.
        existing: every file that is there, by path in the output directory.
        output: the output directory relative to the project, for messages.
        force: overwrite files of ours that were edited by hand.
        links: the paths of `existing` that are symbolic links, those to directories
            included; they are neither written nor deleted.
        command: how the code is generated from where the user is, for messages.
        rerender: makes the files of a former spec again, to tell edits in them.
    """
    wanted = {file.path: file for file in rendered}
    specs = {file.spec: file.text for file in wanted.values() if _is_spec(file.path)}
    evidence = Evidence(existing, output, specs, command, rerender)
    clashing = _clashing(wanted, existing)
    files = []
    for path in sorted(wanted.keys() | existing.keys()):
        if links and any(parent in links for parent in _parents(path)):
            continue  # the link above it is refused
        asked, old = wanted.get(path), existing.get(path)
        new = asked.text if asked else None
        if path in links:
            verdict = _link(command)
        elif old is not None and new is not None and old == new.encode():
            files.append(PlannedFile(path, Action.KEEP, old, new, None))
            continue
        elif path in clashing:
            verdict = _clash(path, clashing[path], output, command)
        else:
            verdict = verdict_on(asked, old, evidence)
        action = verdict.forced if force and verdict.forced else verdict.action
        finding = _finding(shown_path(output, path), verdict)
        cause = _cause(path, asked, old, verdict)
        files.append(PlannedFile(path, action, old, new, finding, cause))
    return Plan(tuple(files), output, command)


def _finding(shown: str, verdict: Verdict) -> Finding:
    return Finding(
        Location(shown, verdict.line),
        verdict.rule,
        f"{shown} {verdict.reason}",
        found=verdict.shown.strip(),
        expected=verdict.expected.strip(),
        advice=verdict.advice,
        files=(shown,),
    )


def _cause(
    path: str, wanted: RenderedFile | None, old: bytes | None, verdict: Verdict
) -> tuple[str, ...]:
    """Return what the files of a record with the same cause have in common.

    What stands against a run is settled file by file.
    """
    if verdict.action is Action.REFUSE:
        return (path,)
    header = read_header(plain_text(old or b"") or "")
    spec = wanted.spec if wanted else header.spec if header else path
    return (spec, verdict.rule, verdict.advice)


def _joined(findings: list[Finding]) -> Finding:
    """Return one finding for files that have one cause.

    Its place is in the spec, if that is one of them: it says what has changed.
    """
    if len(findings) == 1:
        return findings[0]
    first = max(findings, key=lambda finding: _is_spec(finding.location.path))
    files = tuple(finding.location.path for finding in findings)
    common = posixpath.commonpath([posixpath.dirname(file) for file in files])
    directory = common or posixpath.dirname(first.location.path)
    reason = first.message.removeprefix(first.location.path)
    code = f"the code in {directory} ({len(files)} files)"
    return replace(first, message=f"{code}{reason}", files=files)


def shown_path(output: str, path: str) -> str:
    """Return a planned file's path relative to the project."""
    return f"{output}/{path}"


def _is_spec(path: str) -> bool:
    return path.endswith("/spec.json")


def _parents(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:end]) for end in range(1, len(parts))]


def _clashing(
    wanted: Mapping[str, RenderedFile], existing: Mapping[str, bytes]
) -> dict[str, str]:
    """Return the files whose names differ from a wanted one's in case only.

    Where case does not count, as on Windows and macOS, both are one file: to write the
    one and delete the other would lose it.
    """
    missing = {path.casefold(): path for path in wanted if path not in existing}
    return {
        path: missing[path.casefold()]
        for path in existing
        if path not in wanted and path.casefold() in missing
    }


def _clash(path: str, wanted: str, output: str, command: str) -> Verdict:
    pairs = list(zip(path.split("/"), wanted.split("/"), strict=True))
    end = next(n for n, (one, other) in enumerate(pairs, 1) if one != other)
    one = shown_path(output, "/".join(one for one, _ in pairs[:end]))
    other = shown_path(output, "/".join(other for _, other in pairs[:end]))
    return Verdict(
        Action.REFUSE,
        "SG312",
        f"differs from {shown_path(output, wanted)} in upper and lower case only",
        f"rename it: run `git mv {one} {other}` and then `{command}`",
    )


def _link(command: str) -> Verdict:
    return Verdict(
        Action.REFUSE,
        "SG311",
        "is a symbolic link, and nothing is written or deleted through one",
        f"remove the link, and run `{command}`",
    )


def unified_diff(found: Plan) -> str:
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
        _lines((file.old or b"").decode(errors="replace")),
        _lines(file.new or ""),
        f"a/{path}" if file.old is not None else "/dev/null",
        f"b/{path}" if file.new is not None else "/dev/null",
    ):
        yield line if line.endswith("\n") else f"{line}\n{_NO_LINE_END}"


def _lines(text: str) -> list[str]:
    """Return a text's lines as tools for diffs see them: only LF ends one."""
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines
