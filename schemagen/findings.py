"""What schemagen has to say: findings as values, and the ways to print them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import IntEnum


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
    """

    location: Location
    rule: str
    message: str
    found: str = ""
    expected: str = ""
    advice: str = ""
    severity: str = "error"


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
    mark = "" if finding.severity == "error" else f"{finding.severity}: "
    lines = [f"{finding.location}: {finding.rule} {mark}{finding.message}"]
    source = finding.location.source.rstrip()
    if source:
        before = source[: finding.location.column - 1]
        caret = "".join("\t" if c == "\t" else " " for c in before) + "^"
        lines += [f"    | {source}", f"    | {caret}"]
    if finding.found:
        lines.append(f"    found:    {finding.found}")
    if finding.expected:
        lines.append(f"    expected: {finding.expected}")
    if finding.advice:
        lines.append(f"    to do:    {finding.advice}")
    return "\n".join(lines)


def render_json(findings: Iterable[Finding]) -> str:
    """Write findings for programs: `{"version": 1, "findings": [...]}`."""
    rows = [asdict(finding) for finding in findings]
    return json.dumps({"version": 1, "findings": rows}, indent=2, sort_keys=True)


def render_github(findings: Iterable[Finding]) -> str:
    """Write findings as GitHub workflow commands, which annotate lines of a diff."""
    return "\n".join(map(_annotation, findings))


def _annotation(finding: Finding) -> str:
    details = [finding.message]
    details += [f"found: {finding.found}"] if finding.found else []
    details += [f"expected: {finding.expected}"] if finding.expected else []
    details += [finding.advice] if finding.advice else []
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
