"""What schemagen has to say: findings as values, and the ways to print them."""

from __future__ import annotations

import json
import os
import posixpath
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
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
    "refused",
    "render_github",
    "render_json",
    "render_text",
]

# How many files a finding names for people, and how many findings about the same field of
# data are shown together; programs get all.
_MOST_LISTED = 8
_MOST_ALIKE = 5


class ExitCode(IntEnum):
    """What a run of the command line means to a script."""

    CLEAN = 0
    FINDINGS = 1
    REFUSED = 2
    BUG = 3


@dataclass(frozen=True, order=True)
class Location:
    """A place in a file, or a file or directory as a whole.

    Attributes:
        path: relative to the project, with forward slashes.
        line: the line, from 1; 0 for the file as a whole.
        column: the column, from 1.
        source: the line's text; empty if it is not to be shown.
    """

    path: str
    line: int = 0
    column: int = 1
    source: str = ""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}" if self.line else self.path


COMMAND_LINE = Location("command line")
"""The place of what is wrong with no file."""


@dataclass(frozen=True, order=True)
class InData:
    """Where and how often something is wrong in data files.

    Attributes:
        split: the split; None if it is unknown.
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
    def is_several(self) -> bool:
        """Whether it is wrong in more than one place."""
        return self.records > 1 or self.files > 1

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
        from .display.html import html

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


def refused(
    where: Location | str | os.PathLike[str],
    message: str,
    *,
    rule: str,
    found: str = "",
    expected: str = "",
    advice: str = "",
) -> SchemagenError:
    """Return the error for a single finding about a place, or a file as a whole."""
    place = where if isinstance(where, Location) else Location(os.fspath(where))
    return refuse(Finding(place, rule, message, found, expected, advice))


Paint = Callable[[str, str], str]
"""Returns a text in the colors of its role: "error", "warning", "label" or "mark"."""


def _plain(text: str, role: str) -> str:
    """Return a text without colors."""
    return text


def render_text(findings: Iterable[Finding], paint: Paint = _plain) -> str:
    """Write findings for people, a paragraph each.

    Those of data that have the rule, the field and the expectation of an earlier one are
    lines below it: the first ones, and how many more there are.

    Args:
        findings: the findings.
        paint: adds colors; none by default.
    """
    groups: dict[object, list[Finding]] = {}
    for number, each in enumerate(findings):
        data = each.data
        key = number if data is None else (each.rule, data.field, each.expected)
        groups.setdefault(key, []).append(each)
    return "\n".join(_paragraph(first, paint, more) for first, *more in groups.values())


def _paragraph(finding: Finding, paint: Paint, alike: Sequence[Finding] = ()) -> str:
    # Text in data may be anything, and is escaped.
    shown = str if finding.data is None else printable
    mark = "" if finding.severity == "error" else f"{finding.severity}:"
    rule = paint(f"{finding.rule} {mark}".rstrip(), finding.severity)
    lines = [f"{shown(_place(finding))}: {rule} {shown(finding.message)}"]
    source = finding.location.source.rstrip()
    if source:
        before = source[: finding.location.column - 1]
        indent = "".join("\t" if c == "\t" else " " for c in before)
        bar = paint("|", "label")
        lines += [f"    {bar} {source}", f"    {bar} {indent}{paint('^', 'mark')}"]
    details = _details(finding)
    details += [("others", _one_line(each, finding)) for each in alike[:_MOST_ALIKE]]
    if (more := len(alike) - _MOST_ALIKE) > 0:
        details.append(("others", f"{more:,} more"))
    for label, text in details:
        lines.append(_labelled(label, shown(text), paint))
    return "\n".join(lines)


def _one_line(finding: Finding, first: Finding) -> str:
    """Return a finding in few words, below the first one of its kind."""
    data, same = finding.data, finding.message == first.message
    amount = data.amount if same and data is not None and data.is_several else ""
    parts = ("" if same else finding.message, finding.found, amount)
    return f"{_place(finding)}: {'; '.join(filter(None, parts))}"


def _details(finding: Finding) -> list[tuple[str, str]]:
    """Return what a finding has to say beyond its message, each with a label."""
    data = finding.data
    details = [
        ("files", _listed(finding.files) if len(finding.files) > 1 else ""),
        ("found", finding.found),
        ("expected", finding.expected),
        ("to do" if data is None else "likely", finding.advice),
    ]
    if data is not None:
        for path, record, offset, found in data.examples[1:]:
            details.append(("also", f"{_in_data(path, record, offset)}: {found}"))
        details.append(("in all", data.amount if data.is_several else ""))
    return [(label, text) for label, text in details if text]


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


def _place(finding: Finding) -> str:
    path, data = finding.location.path, finding.data
    if data is None:
        return str(finding.location)
    return _in_data(path, data.record, data.offset)


def _in_data(path: str, record: int | None, offset: int | None) -> str:
    if record is None:
        return path
    place = f"{path}: record {record}"
    return place if offset is None else f"{place}, byte {offset}"


def findings_table(findings: Iterable[Finding]) -> Table:
    """Return findings as a table."""
    headings = ("rule", "place", "what", "found", "expected", "to do", "in all")
    rows = [_cells(finding) for finding in findings]
    return without_empty(headings, rows, headings[3:])


def _cells(finding: Finding) -> tuple[Cell, ...]:
    data = finding.data
    warning = "" if finding.severity == "error" else f"{finding.severity}: "
    return (
        Code(finding.rule),
        _place(finding),
        warning + finding.message,
        finding.found,
        finding.expected,
        finding.advice,
        data.amount if data is not None and data.is_several else "",
    )


def render_json(findings: Iterable[Finding]) -> str:
    """Write findings for programs: `{"version": 1, "findings": [...]}`."""
    rows = [row_of(finding) for finding in findings]
    return json.dumps({"version": 1, "findings": rows}, indent=2, sort_keys=True)


def row_of(finding: Finding) -> dict[str, Any]:
    """Return a finding as JSON has it."""
    row = asdict(finding)
    if not finding.location.line:
        row["location"] |= {"line": None, "column": None}
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
    details += [f"{label}: {text}" for label, text in _details(finding)]
    if finding.data is not None:
        details = [printable(text) for text in (*details, f"at: {_place(finding)}")]
    at = finding.location
    place = [("line", at.line), ("col", at.column)] if at.line else []
    properties = ",".join(
        f"{name}={_escaped(str(value)).replace(':', '%3A').replace(',', '%2C')}"
        for name, value in (("file", at.path), *place, ("title", finding.rule))
    )
    return f"::{finding.severity} {properties}::{_escaped(chr(10).join(details))}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


RENDERERS = {"json": render_json, "github": render_github}
"""The formats for programs."""
