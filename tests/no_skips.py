"""A plugin for CI, `pytest -p tests.no_skips`: a test that is skipped fails.

A test is skipped where a program that it needs is missing. CI has all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


def _failed(report: Any) -> Any:
    if report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI: {report.longrepr[2]}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Iterator[Any]:
    """Turn the report of a skipped test into that of a failed one."""
    return _failed((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Iterator[Any]:
    """Do the same for a module that is skipped."""
    return _failed((yield))
