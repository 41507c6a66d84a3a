"""Tests of a project, one line each, under pytest or any other runner.

from schemagen.testing import assert_fresh


def test_generated_code_is_fresh() -> None:
    assert_fresh()
"""

from __future__ import annotations

import sys
from pathlib import Path

from .config import settings_directory
from .findings import SchemagenError, render_text
from .project import check


def assert_fresh(directory: Path | str | None = None) -> None:
    """Assert that a project's generated code is what its schemas ask for.

    Args:
        directory: in the project. By default the project that the calling file is in,
            or else the one that the current directory is in.

    Raises:
        AssertionError: with every finding of `schemagen check`: what is missing, stale
            or edited and why, or what stands against reading the schemas.
    """
    __tracebackhide__ = True  # pytest shows the line of the test instead
    start = _project_of_caller() if directory is None else Path(directory)
    try:
        findings = check(start).findings
    except SchemagenError as error:
        findings = error.findings
    errors = [finding for finding in findings if finding.severity == "error"]
    if errors:
        raise AssertionError(
            "the generated code does not follow from the schemas:\n"
            + render_text(errors)
        )


def _project_of_caller() -> Path:
    """Return a directory in the project of the file that called `assert_...`."""
    file = sys._getframe(2).f_globals.get("__file__")
    found = settings_directory(Path(file).parent) if file else None
    return found or Path()
