"""Tests of a project, one line each, under pytest or any other runner.

from schemagen.testing import assert_fresh


def test_generated_code_is_fresh() -> None:
    assert_fresh()
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from .config import settings_directory
from .evolution.comparison import Mode
from .findings import Finding, SchemagenError, render_text
from .use_cases.compare import breaking
from .use_cases.generate import check


def assert_fresh(directory: Path | str | None = None) -> None:
    """Assert that a project's generated code is up to date, as `schemagen check` does.

    Args:
        directory: a directory of the project. By default the project of the calling
            file, or else that of the current directory.

    Raises:
        AssertionError: lists the findings of `schemagen check`: files that are missing,
            stale or edited, and why; or errors in the schemas.
    """
    __tracebackhide__ = True  # pytest shows the line of the test instead
    start = _start(directory)
    try:
        findings = check(start).findings
    except SchemagenError as error:
        findings = error.findings
    _fail_of("the generated code does not match the schemas", findings)


def assert_no_breaks(
    against: str, directory: Path | str | None = None, *, mode: str = "backward"
) -> None:
    """Assert that a project's schemas break nothing, except accepted breaks.

    Args:
        against: a git revision, a spec.json, or a data directory. Paths count from the
            current directory.
        directory: a directory of the project, by default as for `assert_fresh`.
        mode: "backward": new code with old data and programs; "forward": old code with
            new data; or "full": both.

    Raises:
        AssertionError: lists the breaks that `schemagen breaking` finds, or says why it
            cannot compare.
    """
    __tracebackhide__ = True
    start = _start(directory)
    try:
        findings = breaking(against, start, mode=Mode(mode)).findings
    except SchemagenError as error:
        findings = error.findings
    _fail_of(f"the schemas are not compatible with {against}", findings)


def _fail_of(what: str, findings: Iterable[Finding]) -> None:
    __tracebackhide__ = True
    errors = [finding for finding in findings if finding.severity == "error"]
    if errors:
        raise AssertionError(f"{what}:\n{render_text(errors)}")


def _start(directory: Path | str | None) -> Path:
    """Return a directory that is given, or one in the project of the calling test."""
    __tracebackhide__ = True
    if directory is None:
        file = sys._getframe(2).f_globals.get("__file__")
        found = settings_directory(Path(file).parent) if file else None
        return found or Path()
    if not Path(directory).is_dir():  # a mistyped one would mean one above it
        raise AssertionError(f"directory {str(directory)!r}")
    return Path(directory)
