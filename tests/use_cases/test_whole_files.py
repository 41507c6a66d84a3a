"""Files that commands write in one step, also after a command that was killed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from command_line import run
from digit_rows import rows

from generated.digit.serializer import write_dataset

ROOT = Path(__file__).parents[2]

# Killed once the new file is there under its temporary name.
_KILLED = """
import os, pathlib, signal, sys
pathlib.Path.replace = lambda *paths: os.kill(os.getpid(), signal.SIGKILL)
from schemagen.cli import main
main(sys.argv[1:])
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A directory of digits."""
    write_dataset(rows(20), tmp_path / "data", "train")
    return tmp_path / "data"


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["infer", "{data}", "--out", "{out}/digits.py"], "digits.py"),
        (["inspect", "{data}", "--html", "{out}/digits.html"], "digits.html"),
        (
            ["verify", "{out}", "--project", "{root}", "--record", "digit", "--seal"],
            "manifest.json",
        ),
    ],
    ids=["infer", "inspect", "seal"],
)
def test_next_command_removes_what_a_killed_one_has_left(
    tmp_path: Path, data: Path, command: list[str], name: str
) -> None:
    """And writes its own file; a temporary file of another name stays."""
    out = tmp_path / "out"
    out.mkdir()
    if name == "manifest.json":
        (shard,) = data.glob("train-*")
        shard.rename(out / "old.tfrecord")
    arguments = [part.format(data=data, out=out, root=ROOT) for part in command]
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", _KILLED, *arguments], check=False)
        assert done.returncode < 0
        (left,) = out.glob(".*.tmp")
        assert left.name.startswith((f".{name}.", ".old."))
    other = out / f".another{left.name}"
    other.touch()
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert (out / name).exists()
    assert [*out.glob(".*.tmp")] == [other]
