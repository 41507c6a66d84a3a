"""Progress bars: on a terminal, after a while, on stderr, and removed at the end."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from command_line import make_project, run
from terminals import after_bars, on_terminal

PET = "from schemagen import Record\n\n\nclass Pet{}(Record):\n    age: int\n"

# The command, with bars that appear at once.
_AT_ONCE = """\
import sys
from schemagen import progress
progress._DELAY_SECONDS = 0
from schemagen.__main__ import main
sys.argv = ["schemagen", *sys.argv[1:]]
main()
"""

# A program that uses the use cases, as those of users do.
_PROGRAM = """\
from schemagen import generate, progress
progress._DELAY_SECONDS = 0
generate(".")
"""

_SLOW = """\
import time
from schemagen import progress
progress._DELAY_SECONDS = {delay}
with progress.showing():
    for item in progress.track(range(5), "working", "file"):
        time.sleep({sleep})
print("done")
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with generated code and a data directory."""
    schemas = {f"pet_{at}.py": PET.format(at) for at in range(3)}
    root = make_project(tmp_path_factory.mktemp("bars"), schemas)
    assert run("generate", "--project", root).exit_code == 0
    program = "from generated.pet0.serializer import write_dataset\n"
    program += "write_dataset(({'age': at} for at in range(500)), 'data', 'train')\n"
    subprocess.run([sys.executable, "-c", program], cwd=root, check=True)
    return root


COMMANDS = [
    ("verifying", "verify data"),
    ("inspecting", "inspect data"),
    ("reading", "infer data/train* --out schemas/other.py"),
    ("hashing", "export pet0 --to croissant --data data --out c.json"),
    ("writing", "export pet0 --to tfds --data data --out ds"),
    ("reading schemas", "generate"),
    ("generating", "check"),
    ("drawing plots", "inspect data --html x.html"),
]


@pytest.mark.parametrize(("title", "words"), COMMANDS)
def test_a_command_shows_a_bar_and_removes_it(
    project: Path, title: str, words: str
) -> None:
    """On the terminal's stderr; what stays there, and stdout, are as without bars."""
    words = words.replace("*", "-00000-of-00001.tfrecord")
    if title == "reading":
        (project / "data/manifest.json").rename(project / "manifest.json")
    shown = on_terminal(["-c", _AT_ONCE, *words.split()], project, piped=True)
    if title == "reading":
        (project / "manifest.json").rename(project / "data/manifest.json")
        (project / "schemas/other.py").unlink()
    assert shown.code == 0, shown
    assert f"\r{title}: " in shown.terminal
    left = after_bars(shown.terminal)
    assert title not in left
    assert "|" not in left
    assert "\r" not in shown.stdout
    assert f"{title}: " not in shown.stdout


def test_json_is_not_mixed_with_bars(project: Path) -> None:
    """The document on stdout is the one that there is without a terminal."""
    arguments = ["verify", "data", "--format", "json"]
    shown = on_terminal(["-c", _AT_ONCE, *arguments], project, piped=True)
    assert "verifying: " in shown.terminal
    done = subprocess.run(
        [sys.executable, "-c", _AT_ONCE, *arguments],
        cwd=project,
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""
    assert json.loads(shown.stdout) == json.loads(done.stdout)


@pytest.mark.parametrize(
    ("program", "variables"),
    [(_AT_ONCE, {"CI": "true"}), (_AT_ONCE, {"TERM": "dumb"}), (_PROGRAM, {})],
    ids=["CI", "dumb terminal", "program"],
)
def test_bars_are_for_people_at_the_command_line(
    project: Path, program: str, variables: Mapping[str, str]
) -> None:
    """Not for logs, terminals that cannot move their cursor, and programs of users."""
    arguments = ["-c", program, "verify", "data"]
    shown = on_terminal(arguments, project, environment=variables)
    assert shown.code == 0
    assert "verifying" not in shown.terminal
    assert "generating" not in shown.terminal


@pytest.mark.parametrize(
    ("delay", "sleep", "is_shown"), [(0.2, 0.1, True), (30, 0, False)]
)
def test_a_bar_appears_after_a_while(
    tmp_path: Path, delay: float, sleep: float, is_shown: bool
) -> None:
    """Quick work shows nothing, not even for a moment."""
    program = _SLOW.format(delay=delay, sleep=sleep)
    shown = on_terminal(["-c", program], tmp_path)
    assert ("working: " in shown.terminal) == is_shown
    assert ("%|" in shown.terminal) == is_shown
    assert after_bars(shown.terminal) == "done\n"
