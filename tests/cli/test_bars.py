"""Progress bars: on a terminal, after a while, on stderr, and removed at the end."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import make_project, run
from schemagen import progress
from schemagen.progress import Bar, showing, step, track
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


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with generated code and a data directory."""
    schemas = {f"pet_{at}.py": PET.format(at) for at in range(3)}
    root = make_project(tmp_path / "p", schemas)
    assert run("generate", "--project", root).exit_code == 0
    program = "from generated.pet0.serializer import write_dataset\n"
    program += "write_dataset(({'age': at} for at in range(500)), 'data', 'train')\n"
    subprocess.run([sys.executable, "-c", program], cwd=root, check=True)
    return root


COMMANDS = [
    ("verifying", ["verify", "data"]),
    ("inspecting", ["inspect", "data"]),
    ("reading", ["infer", "data/train*", "--out", "schemas/other.py"]),
    ("reading", ["infer", "data/train*", "--out", "schemas/other.py", "--limit", "0"]),
    (
        "hashing",
        ["export", "pet0", "--to", "croissant", "--data", "data", "--out", "c.json"],
    ),
    (
        "linking or copying",
        ["export", "pet0", "--to", "tfds", "--data", "data", "--out", "ds"],
    ),
    ("reading schemas", ["generate"]),
    ("generating", ["check"]),
    ("drawing records", ["inspect", "data", "--html", "x.html"]),
    ("drawing plots", ["inspect", "data", "--html", "x.html"]),
    ("verifying", ["inspect", "data", "--html", "x.html"]),
]


@pytest.mark.parametrize(("title", "arguments"), COMMANDS)
def test_a_command_shows_a_bar_and_removes_it(
    project: Path, title: str, arguments: list[str]
) -> None:
    """On the terminal's stderr; what stays there, and stdout, are as without bars."""
    if title == "reading":
        (project / "data/manifest.json").unlink()
    shown = on_terminal(["-c", _AT_ONCE, *arguments], project, piped=True)
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
    assert json.loads(shown.stdout) == json.loads(
        subprocess.run(
            [sys.executable, "-m", "schemagen", *arguments],
            cwd=project,
            check=True,
            capture_output=True,
        ).stdout
    )


@pytest.mark.parametrize("variable", [{"CI": "true"}, {"TERM": "dumb"}])
def test_there_is_no_bar_in_ci(project: Path, variable: dict[str, str]) -> None:
    """Nor on a terminal that cannot move its cursor."""
    shown = on_terminal(
        ["-c", _AT_ONCE, "verify", "data"], project, environment=variable
    )
    assert shown.code == 0
    assert "verifying" not in shown.terminal


def test_there_is_no_bar_without_a_terminal(project: Path) -> None:
    """Files and pipes get the result only."""
    done = subprocess.run(
        [sys.executable, "-c", _AT_ONCE, "verify", "data"],
        cwd=project,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    assert "\r" not in done.stdout


def test_programs_that_call_schemagen_show_no_bars(project: Path) -> None:
    """Bars belong to the command line."""
    assert on_terminal(["-c", _PROGRAM], project).terminal == ""


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


def test_bars_are_silent_outside_of_the_command_line(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """They count nothing, and items are passed on as they are."""
    with Bar("x", 3) as bar, step("y"):
        bar(2)
        assert list(track(iter([1, 2]), "z", "file")) == [1, 2]
    assert capfd.readouterr() == ("", "")


def test_showing_ends_with_its_block() -> None:
    """Also after an error."""
    with pytest.raises(ValueError, match="x"), showing():
        raise ValueError("x")
    assert not progress._is_shown
