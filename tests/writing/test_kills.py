"""Killed at any moment, or on a disk that fails, a writer leaves no mixture.

There is the old split, the new one, or none. What is checked after each run that was
ended, and after the runs that follow it, is in `killed_runs.py`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import killed_runs
import pytest
from killed_runs import CASES

if TYPE_CHECKING:
    from conftest import PackageOf

pytestmark = pytest.mark.slow

_SCHEMA = """
from typing import Annotated
from schemagen import Record, VarLen

class Note(Record):
    word: str
    seeds: Annotated[list[int], VarLen(dtype="int64")]
"""

# For each of nine cases and two directories: more than seventy together.
_MOMENTS = 4

# Every so many steps. Each step of one case is tried, and some steps of each case.
_EVERY = {"blocks": 1, "by size": 3, "shuffled": 3, "gzip": 4, "writer": 4}


@pytest.fixture
def ended(package_of: PackageOf, tmp_path: Path) -> Any:
    """End runs of a case at many points, continue them, and return the summary."""
    package = package_of(_SCHEMA)

    def run(case: str, before: str, mode: str, number: int) -> dict[str, Any]:
        arguments = [
            package.root,
            package.package,
            tmp_path,
            case,
            before,
            mode,
            number,
        ]
        done = subprocess.run(
            [sys.executable, killed_runs.__file__, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=900,
        )
        assert not done.returncode, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    return run


@pytest.mark.parametrize("before", ["old", "fresh"])
@pytest.mark.parametrize("case", CASES)
def test_killed_at_random_moments(ended: Any, case: str, before: str) -> None:
    """Nothing is mixed or short; the next run cleans up, or goes on to equal bytes."""
    summary = ended(case, before, "moments", _MOMENTS)
    assert summary["ended"] == _MOMENTS
    assert len(CASES) * 2 * _MOMENTS > 70


@pytest.mark.parametrize("before", ["old", "fresh"])
@pytest.mark.parametrize("case", CASES)
def test_killed_at_each_step(ended: Any, case: str, before: str) -> None:
    """The same before files are opened, made durable, renamed or removed.

    Writes are killed in their midst.
    """
    summary = ended(case, before, "steps", _EVERY.get(case, 8))
    assert "none" in summary["states"]
    assert ("old" in summary["states"]) == (before == "old")
    # Shards that rows are dealt to in turn all end with the source.
    assert case in ("writer", "in turn") or summary["resumable"]
    if _EVERY.get(case) == 1:
        phases = {"open", "write", "fsync", "rename", "remove"}
        assert phases <= set(summary["phases"])
        assert summary["completed"] > 3
        assert "new" in summary["states"]


@pytest.mark.parametrize("before", ["old", "fresh"])
@pytest.mark.parametrize("case", ["blocks", "shuffled", "writer"])
@pytest.mark.parametrize("failure", ["fault", "full"])
def test_a_disk_that_fails(ended: Any, case: str, before: str, failure: str) -> None:
    """The error names a file and says what became of the split, and that is so.

    The disk fails once, at any step, or takes no more bytes from then on. No file has
    the name of a shard and other bytes; the runs that follow go as after a kill.
    """
    summary = ended(case, before, failure, 4)
    assert summary["ended"] > 10
    nothing = "nothing of split 'train' was published"
    kept = (
        "nothing new of split 'train' was published, and the 40 records that it had "
        "before are still there"
    )
    assert (kept if before == "old" else nothing) in summary["said"]
    complete = (
        "split 'train' is complete, but not all of it has its name; the next run that "
        "writes to DIRECTORY publishes it"
    )
    assert complete in summary["said"]
