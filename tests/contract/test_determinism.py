"""The same schema and rows give the same bytes in every process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow


def every_byte(root: Path, working_directory: Path, seed: str) -> dict[str, Any]:
    """Generate and write in a new process."""
    working_directory.mkdir(parents=True)
    tests = str(Path(__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-m", "contract.every_byte", str(root)],
        cwd=working_directory,
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": tests},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_two_processes_give_the_same_bytes(tmp_path: Path) -> None:
    """Neither hash seed, working directory nor project directory shows in a byte."""
    one = every_byte(tmp_path / "a" / "project", tmp_path / "here", "1")
    two = every_byte(tmp_path / "bb" / "other", tmp_path / "there" / "deep", "2")
    assert one["hash"] != two["hash"]
    assert one["found"] == two["found"]
    assert sum(name.startswith("output/") for name in one["found"]) > 100
    assert all(
        len(set(rows)) > 1 for name, rows in one["found"].items() if "/" not in name
    )
