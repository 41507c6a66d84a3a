"""Lines of commands: as wide as a terminal, and never wrapped in pipes and files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import run
from data.messages import example, write_file
from terminals import on_terminal

NAME = "train-00000-of-00001-of-long-names.tfrecord"

# Of each command, a name in its output, which no line break may cut.
COMMANDS = {
    "inspect data --records 0": NAME,
    "diff data other": NAME,
    "describe --project project": "schemas/pet_photo.py",
    "explain SG205": "",
    "explain leakage": "[tool.schemagen.thresholds.fields.NAME]",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two datasets that differ, with repeated records, and a project."""
    root = tmp_path_factory.mktemp("widths")
    text = "a value of several words that is longer than a line of some terminal"
    some = [example({"size": at % 7, "text": f"{text} {at % 9}"}) for at in range(80)]
    write_file(root / "data" / NAME, some)
    write_file(root / "other" / NAME, some[:10])
    (root / "project").mkdir()
    assert run("init", root / "project").exit_code == 0
    return root


@pytest.mark.parametrize("words", COMMANDS)
def test_lines_fit_a_terminal_and_are_whole_in_a_pipe(root: Path, words: str) -> None:
    """A name of a file is whole in both: its line is longer if it has to be."""
    arguments = ["-m", "schemagen", *words.split()]
    shown = on_terminal(arguments, root, columns=60).terminal.replace("\r", "")
    piped = subprocess.run(
        [sys.executable, *arguments],
        cwd=root,
        env={
            **os.environ
        },  # without the COLUMNS that readline sets in the environment of C
        check=False,
        capture_output=True,
        text=True,
    ).stdout
    assert COMMANDS[words] in shown
    assert COMMANDS[words] in piped
    wide = [line for line in shown.split("\n") if len(line) > 60]
    if words.startswith("explain"):
        assert wide == []
    assert all("/" in line or ".tfrecord" in line for line in wide[1:])
    assert len(piped.splitlines()) < len(shown.splitlines())
    assert max(map(len, piped.splitlines())) > 80
