"""Whatever happens to the files of a reader, it delivers one generation of them, or an error.

What that means is in `reader_cases.py`. These tests import nothing of schemagen: readers run
without tensorflow, in processes of their own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="readers are forked")

_REMOTE = ["remote", "remote no index", "remote gzip"]
_FORMS = ["plain", "no index", "gzip", "files", "gzip files", *_REMOTE]
_MAIN = ["plain", "gzip", "remote"]
_SEQUENTIAL = ["in turn", "batches", "shares", "resumed"]
_WAYS = [*_SEQUENTIAL, "by number", "shuffled", "blocks"]
_CASES = [
    (form, way) for form in _FORMS for way in (_SEQUENTIAL if "gzip" in form else _WAYS)
]


def _read(
    scratch: Path, *arguments: object, program: str = "reader_cases.py"
) -> list[dict[str, Any]]:
    """Read while files change, and return what the program prints."""
    script = Path(__file__).with_name(program)
    done = subprocess.run(
        [sys.executable, str(script), str(scratch), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert not done.returncode, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def _wrong(found: list[dict[str, Any]]) -> list[str]:
    """Describe the outcomes that are not allowed."""
    return [
        f"{case['form']}, {case['way']}, {case['change']}: {outcome} {example}"
        for case in found
        for outcome, example in case["wrong"].items()
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("form", "way"), _CASES)
@pytest.mark.timeout(2000)
def test_files_that_change_before_each_step_are_one_generation_or_an_error(
    tmp_path: Path, form: str, way: str
) -> None:
    """Overwritten, cut, emptied, copied over, deleted, settled: at any step of a reader."""
    found = _read(tmp_path, form, way, "all", 0)
    assert len(found) >= 6
    assert _wrong(found) == []


@pytest.mark.parametrize("form", _FORMS)
def test_files_that_change_before_some_steps_are_one_generation_or_an_error(
    tmp_path: Path, form: str
) -> None:
    """One step of cases that the slow test reads at all of them."""
    ways = "all" if form in _MAIN else "in turn,batches"
    assert _wrong(_read(tmp_path, form, ways, "all", 1)) == []


@pytest.mark.parametrize(
    ("way", "change", "outcome", "steps"),
    [
        ("shard by shard", "overwritten", "mixed", 24),
        ("shard by shard", "by fewer", "lost", 24),
        ("unprepared", "deleted", "raw", 24),
        ("mapped", "emptied", "signal", 0),  # four steps of more than a hundred
        ("waiting", "cut", "hang", 24),
    ],
)
def test_a_careless_reader_is_found_out(
    tmp_path: Path, way: str, change: str, outcome: str, steps: int
) -> None:
    """A reader that trusts its files ends as none of ours may."""
    (found,) = _read(tmp_path, "careless", way, change, steps)
    assert outcome in found["wrong"]


def _read_epochs(scratch: Path, form: str, steps: int) -> list[dict[str, Any]]:
    arguments = (form, "all", "settled", steps)
    return _read(scratch, *arguments, program="dataset_cases.py")


def test_datasets_go_on_when_a_publication_is_settled(tmp_path: Path) -> None:
    """A dataset that is made between commit and settling has two whole epochs."""
    found = _read_epochs(tmp_path, "plain", 4)
    assert len(found) == 2
    assert _wrong(found) == []


@pytest.mark.slow
@pytest.mark.parametrize("form", ["plain", "no index", "gzip"])
def test_datasets_go_on_when_a_publication_is_settled_before_any_batch(
    tmp_path: Path, form: str
) -> None:
    """The same before each batch of both epochs."""
    assert _wrong(_read_epochs(tmp_path, form, 0)) == []
