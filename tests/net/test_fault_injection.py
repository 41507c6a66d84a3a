"""Wherever a program is broken off, its files are allowed ones, and others go on to equal bytes.

What that means for each program is in `fault_cases.py`. These tests import nothing of
schemagen: the programs run without tensorflow, in processes of their own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="programs are forked")

_SPLITS = [
    *("blocks", "in turn", "by size", "workers", "workers by size", "shuffled"),
    *("shuffled by workers", "gzip", "writer", "two writers", "ranks", "publishers"),
]
_CASES = [
    *((case, before) for case in _SPLITS for before in ("old", "fresh")),
    ("generate", "old"),
    ("seal", "old"),
]


def _run(scratch: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    script = Path(__file__).with_name("fault_cases.py")
    return subprocess.run(
        [sys.executable, str(script), str(scratch), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )


def _broken_off(scratch: Path, *arguments: object) -> dict[str, Any]:
    done = _run(scratch, *arguments)
    assert not done.returncode, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["ended"] == sum(found["states"].values()) > 0
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("case", "before"), _CASES)
def test_killed_at_each_step(tmp_path: Path, case: str, before: str) -> None:
    """At each file operation, and in the midst of each that writes."""
    found = _broken_off(tmp_path, case, before, "kill", 1, 1)
    assert {"open", "write"} <= set(found["operations"])
    states = set(found["states"])
    if case == "generate":
        assert states == {"old", "partly"}
    elif case == "ranks":
        assert states == {"old" if before == "old" else "none"}
    else:
        # A split that was there is there at any time.
        assert states == {"new", "old" if before == "old" else "none"}


@pytest.mark.slow
@pytest.mark.parametrize(("case", "before"), _CASES)
@pytest.mark.parametrize("fault", ["fail", "full", "interrupt"])
def test_failing_at_some_steps(
    tmp_path: Path, case: str, before: str, fault: str
) -> None:
    """The disk fails once, or takes no more bytes from then on; or somebody stops it."""
    _broken_off(tmp_path, case, before, fault, 4, 2)


@pytest.mark.parametrize(
    ("case", "before", "fault", "every", "first"),
    [
        ("blocks", "old", "kill", 9, 5),
        ("shuffled", "fresh", "fail", 9, 6),
        ("writer", "old", "full", 9, 7),
        ("publishers", "old", "interrupt", 6, 3),
        ("ranks", "fresh", "kill", 7, 4),
        ("generate", "old", "kill", 12, 30),
        ("seal", "old", "kill", 3, 1),
    ],
)
def test_a_sample(
    tmp_path: Path, case: str, before: str, fault: str, every: int, first: int
) -> None:
    """A few steps of what the slow tests break off at each."""
    _broken_off(tmp_path, case, before, fault, every, first)


@pytest.mark.parametrize("fault", ["kill", "fail", "full", "interrupt"])
def test_a_careless_program_is_found_out(tmp_path: Path, fault: str) -> None:
    """One that writes its files one after the other leaves a mixture."""
    done = _run(tmp_path, "careless", "-", fault, 1, 1)
    assert done.returncode == 1
    assert "AssertionError" in done.stderr
    assert f"{fault} at step" in done.stderr
