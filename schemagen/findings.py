"""What schemagen has to say: findings as values, and the ways to print them."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from enum import IntEnum
from typing import Any

from .display.blocks import Cell, Code, Table, printable, without_empty

__all__ = [
    "COMMAND_LINE",
    "RENDERERS",
    "ExitCode",
    "Finding",
    "InData",
    "Location",
    "SchemagenError",
    "findings_table",
    "printable",
    "refuse",
    "render_github",
    "render_json",
    "render_text",
]

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

    def _repr_html_(self) -> str:
        from .display.html import html  # which imports jinja2

        return html([findings_table([self])])


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


Paint = Callable[[str, str], str]
"""Returns a text in the colors of its role: "error", "warning", "label" or "mark"."""


def _plain(text: str, role: str) -> str:
    """Return a text without colors."""
    return text


def render_text(findings: Iterable[Finding], paint: Paint = _plain) -> str:
    """Write findings for people, one paragraph each.

    Args:
        findings: the findings.
        paint: adds colors; none by default.
    """
    return "\n".join(_paragraph(finding, paint) for finding in findings)


def _paragraph(finding: Finding, paint: Paint) -> str:
    if finding.data is not None:
        return _data_paragraph(finding, finding.data, paint)
    mark = "" if finding.severity == "error" else f"{finding.severity}:"
    rule = paint(f"{finding.rule} {mark}".rstrip(), finding.severity)
    lines = [f"{finding.location}: {rule} {finding.message}"]
    source = finding.location.source.rstrip()
    if source:
        before = source[: finding.location.column - 1]
        indent = "".join("\t" if c == "\t" else " " for c in before)
        bar = paint("|", "label")
        lines += [f"    {bar} {source}", f"    {bar} {indent}{paint('^', 'mark')}"]
    if len(finding.files) > 1:
        lines.append(_labelled("files", _listed(finding.files), paint))
    if finding.found:
        lines.append(_labelled("found", finding.found, paint))
    if finding.expected:
        lines.append(_labelled("expected", finding.expected, paint))
    if finding.advice:
        lines.append(_labelled("to do", finding.advice, paint))
    return "\n".join(lines)


def _labelled(label: str, text: str, paint: Paint) -> str:
    """Return a line such as "    found:    int64"."""
    indent = " " * (len("expected") - len(label) + 1)
    return f"    {paint(f'{label}:', 'label')}{indent}{text}"


def _listed(files: tuple[str, ...]) -> str:
    """Name files relative to the directory that they have in common."""
    directory = posixpath.commonpath([posixpath.dirname(file) for file in files])
    names = [posixpath.relpath(file, directory or ".") for file in files[:_MOST_LISTED]]
    more = len(files) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


def _data_paragraph(finding: Finding, data: InData, paint: Paint) -> str:
    """Write a finding in data files. Text in data may be anything, and is escaped."""
    place = printable(_place(finding.location.path, data))
    rule = paint(finding.rule, finding.severity)
    parts = [("found", finding.found), ("expected", finding.expected)]
    parts.append(("likely", finding.advice))
    for path, record, offset, found in data.examples[1:]:
        at = replace(data, record=record, offset=offset)
        parts.append(("also", f"{_place(path, at)}: {found}"))
    if data.records > 1 or data.files > 1:
        parts.append(("in all", data.amount))
    lines = [f"{place}: {rule} {printable(finding.message)}"]
    lines += [_labelled(label, printable(text), paint) for label, text in parts if text]
    return "\n".join(lines)


def _place(path: str, data: InData) -> str:
    if data.record is None:
        return path
    return f"{path}: record {data.record}, byte {data.offset}"


def findings_table(findings: Iterable[Finding]) -> Table:
    """Return findings as a table."""
    headings = ("rule", "place", "what", "found", "expected", "to do", "in all")
    rows = [_cells(finding) for finding in findings]
    return without_empty(headings, rows, headings[3:])


def _cells(finding: Finding) -> tuple[Cell, ...]:
    data = finding.data
    place = (
        str(finding.location) if data is None else _place(finding.location.path, data)
    )
    warning = "" if finding.severity == "error" else f"{finding.severity}: "
    several = data is not None and (data.records > 1 or data.files > 1)
    return (
        Code(finding.rule),
        place,
        warning + finding.message,
        finding.found,
        finding.expected,
        finding.advice,
        data.amount if data is not None and several else "",
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


RENDERERS = {"json": render_json, "github": render_github}
"""The formats for programs."""
