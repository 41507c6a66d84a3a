"""What schemagen has to say: findings as values, and the ways to print them."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from enum import IntEnum
from typing import Any

# How many files a finding names for people; programs get all.
_MOST_LISTED = 8


class ExitCode(IntEnum):
    """What a run of the command line means to a script."""

    CLEAN = 0
    FINDINGS = 1
    REFUSED = 2
    BUG = 3


@dataclass(frozen=True, order=True)
class Location:
    """A place in a file, counted from 1.

    Attributes:
        path: relative to the project, with forward slashes.
        line: the line.
        column: the column.
        source: the line's text; empty if it is not to be shown.
    """

    path: str
    line: int = 1
    column: int = 1
    source: str = ""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


COMMAND_LINE = Location("command line")
"""The place of what is wrong with no file."""


@dataclass(frozen=True, order=True)
class InData:
    """Where and how often something is wrong in data files.

    Attributes:
        split: the split; None where nothing tells.
        field: the field's name; "" for a whole record or file.
        key: the wire key; "" likewise.
        record: of the first example: which record of the file, counted from 0; None
            for the file as a whole.
        offset: of the first example: where the record's frame begins, in bytes; in a
            compressed file, in what it inflates to.
        records: in how many records it is wrong.
        files: in how many files.
        of: how many records were looked at.
        examples: the first places: file, record, offset, and what was found.
    """

    split: str | None
    field: str
    key: str
    record: int | None
    offset: int | None
    records: int
    files: int
    of: int
    examples: tuple[tuple[str, int | None, int | None, str], ...]

    @property
    def amount(self) -> str:
        """How much is wrong, in words."""
        files = f"{self.files} file{'' if self.files == 1 else 's'}"
        if not self.records:
            return files
        share = self.records / max(1, self.of, self.records)
        shown = (
            "less than 0.1 %" if share < 0.001 else f"{share:.1%}".replace("%", " %")
        )
        return f"{self.records:,} of {self.of:,} records ({shown}), {files}"


@dataclass(frozen=True, order=True)
class Finding:
    """One thing that is wrong.

    Attributes:
        location: where.
        rule: the rule's id, such as SG113.
        message: what, naming record and field.
        found: what was found; empty if the message says all.
        expected: what was expected; empty likewise.
        advice: what to do.
        severity: "error", or "warning" for what does not fail a run.
        data: more about its place, if that is in data files; None otherwise.
        files: the generated files that it is about; empty if it is about something
            else.
    """

    location: Location
    rule: str
    message: str
    found: str = ""
    expected: str = ""
    advice: str = ""
    severity: str = "error"
    data: InData | None = None
    files: tuple[str, ...] = ()


class SchemagenError(Exception):
    """The request cannot be carried out.

    Attributes:
        findings: why, all of them, in the order of their places.
    """

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(sorted(findings))
        super().__init__(render_text(self.findings))


def refuse(finding: Finding) -> SchemagenError:
    """Return the error for a single finding."""
    return SchemagenError([finding])


def render_text(findings: Iterable[Finding]) -> str:
    """Write findings for people, one paragraph each."""
    return "\n".join(map(_paragraph, findings))


def _paragraph(finding: Finding) -> str:
    if finding.data is not None:
        return _data_paragraph(finding, finding.data)
    mark = "" if finding.severity == "error" else f"{finding.severity}: "
    lines = [f"{finding.location}: {finding.rule} {mark}{finding.message}"]
    source = finding.location.source.rstrip()
    if source:
        before = source[: finding.location.column - 1]
        caret = "".join("\t" if c == "\t" else " " for c in before) + "^"
        lines += [f"    | {source}", f"    | {caret}"]
    if len(finding.files) > 1:
        lines.append(f"    files:    {_listed(finding.files)}")
    if finding.found:
        lines.append(f"    found:    {finding.found}")
    if finding.expected:
        lines.append(f"    expected: {finding.expected}")
    if finding.advice:
        lines.append(f"    to do:    {finding.advice}")
    return "\n".join(lines)


def _listed(files: tuple[str, ...]) -> str:
    """Name files relative to the directory that they have in common."""
    directory = posixpath.commonpath([posixpath.dirname(file) for file in files])
    names = [posixpath.relpath(file, directory or ".") for file in files[:_MOST_LISTED]]
    more = len(files) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


def _data_paragraph(finding: Finding, data: InData) -> str:
    """Write a finding in data files. Text in data may be anything, and is escaped."""
    lines = [f"{_place(finding.location.path, data)}: {finding.rule} {finding.message}"]
    lines += [f"    found:    {finding.found}"] if finding.found else []
    lines += [f"    expected: {finding.expected}"] if finding.expected else []
    lines += [f"    likely:   {finding.advice}"] if finding.advice else []
    for path, record, offset, found in data.examples[1:]:
        at = replace(data, record=record, offset=offset)
        lines.append(f"    also:     {_place(path, at)}: {found}")
    if data.records > 1 or data.files > 1:
        lines.append(f"    in all:   {data.amount}")
    return "\n".join(map(printable, lines))


def _place(path: str, data: InData) -> str:
    if data.record is None:
        return path
    return f"{path}: record {data.record}, byte {data.offset}"


def printable(text: str) -> str:
    """Escape what would act on a terminal in place of being shown."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in text
    )


def render_json(findings: Iterable[Finding]) -> str:
    """Write findings for programs: `{"version": 1, "findings": [...]}`."""
    rows = [_row(finding) for finding in findings]
    return json.dumps({"version": 1, "findings": rows}, indent=2, sort_keys=True)


def _row(finding: Finding) -> dict[str, Any]:
    row = asdict(finding)
    if finding.data is None:
        del row["data"]
    else:
        names = ("path", "record", "offset", "found")
        row["data"]["examples"] = [
            dict(zip(names, example, strict=True)) for example in finding.data.examples
        ]
    return row


def render_github(findings: Iterable[Finding]) -> str:
    """Write findings as GitHub workflow commands, which annotate lines of a diff."""
    return "\n".join(map(_annotation, findings))


def _annotation(finding: Finding) -> str:
    details = [finding.message]
    details += [f"files: {_listed(finding.files)}"] if len(finding.files) > 1 else []
    details += [f"found: {finding.found}"] if finding.found else []
    details += [f"expected: {finding.expected}"] if finding.expected else []
    details += [finding.advice] if finding.advice else []
    if finding.data is not None:
        place = _place(finding.location.path, finding.data)
        details += [f"at: {place}; in all {finding.data.amount}"]
        details = list(map(printable, details))
    at = finding.location
    properties = ",".join(
        f"{name}={_escaped(str(value)).replace(':', '%3A').replace(',', '%2C')}"
        for name, value in (
            ("file", at.path),
            ("line", at.line),
            ("col", at.column),
            ("title", finding.rule),
        )
    )
    return f"::{finding.severity} {properties}::{_escaped(chr(10).join(details))}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


RENDERERS = {"text": render_text, "json": render_json, "github": render_github}
