"""Colors: for people at a terminal, and where the environment asks for them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click
import pytest
from command_line import make_project, run
from terminals import on_terminal

PET = "from schemagen import Record\n\n\nclass Pet(Record):\n    age: int\n"
RULE = click.style("SG111", fg="red", bold=True)
BROKEN = PET.replace("int", "dict[str, int]")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose schema is wrong."""
    return make_project(tmp_path / "p", {"pets.py": BROKEN})


@pytest.mark.parametrize(
    ("variables", "on_terminal", "in_a_pipe"),
    [
        ({}, True, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": ""}, True, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False, False),
        ({"FORCE_COLOR": "1"}, True, True),
        ({"FORCE_COLOR": "0"}, True, False),
        ({"CLICOLOR_FORCE": "1"}, True, True),
        ({"CLICOLOR": "0"}, False, False),
        ({"TERM": "dumb"}, False, False),
        ({"CI": "true"}, False, False),
        ({"CI": "true", "FORCE_COLOR": "1"}, True, True),
    ],
)
def test_environment_decides_on_colors(
    monkeypatch: pytest.MonkeyPatch,
    variables: Mapping[str, str],
    on_terminal: bool,
    in_a_pipe: bool,
) -> None:
    """Without a wish, a terminal has colors and a file has none."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    for terminal, expected in ((True, on_terminal), (False, in_a_pipe)):
        shown = run("explain", "SG304", terminal=terminal).stdout
        assert ("\x1b" in shown) is expected


def test_a_terminal_shows_findings_in_colors(project: Path) -> None:
    """The rule is colored; the place can be copied as it is, and no text differs."""
    shown = on_terminal(["-m", "schemagen", "check"], project)
    assert shown.code == 2
    assert f"schemas/pets.py:5:5: {RULE} Pet.age: " in shown.terminal
    plain = on_terminal(["-m", "schemagen", "check"], project, environment={"CI": "1"})
    assert click.unstyle(shown.terminal) == plain.terminal
    assert "\x1b" not in plain.terminal


@pytest.mark.parametrize("style", ["text", "json", "github"])
def test_colors_can_be_forced_for_people_alone(
    project: Path, monkeypatch: pytest.MonkeyPatch, style: str
) -> None:
    """Also for a pipe; without that a pipe gets plain text, and programs always do."""
    plain = run("check", "--project", project, "--format", style).output
    assert "\x1b" not in plain
    monkeypatch.setenv("FORCE_COLOR", "1")
    forced = run("check", "--project", project, "--format", style).output
    assert (RULE in forced) == (style == "text")
    assert ("\x1b" in forced) == (style == "text")
    assert click.unstyle(forced) == plain


def test_titles_and_diffs_have_colors_and_files_have_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first line of each record and table is bold; a diff is red and green."""
    root = make_project(tmp_path, {"pets.py": PET})
    monkeypatch.setenv("FORCE_COLOR", "1")
    run("init", tmp_path)
    run("generate", "--project", root)
    for path in root.rglob("*"):
        assert path.is_dir() or b"\x1b" not in path.read_bytes()
    (root / "schemas/pets.py").write_text(PET.replace("int", "float"))
    assert run("describe", "--project", root).stdout.startswith("\x1b[1mPet (schemas")
    assert run("templates", "--project", root).stdout.startswith("\x1b[1mtem")
    assert run("explain", "SG304").stdout.startswith("\x1b[1mSG304  ")
    diff = run("check", "--diff", "--project", root).stdout
    assert "\x1b[1m--- a/generated" in diff
    assert "\x1b[31m-" in diff
    assert "\x1b[32m+" in diff


def test_text_of_data_cannot_color(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Escapes in data are printed as text; those of the labels work."""
    monkeypatch.chdir(tmp_path)
    files = ["\x1b[31mno", "\x1b[1m"]
    for name in files:
        Path(f"{name}.tfrecord").write_bytes(b"\x1b[2J is not a record")
    plain = run("verify", "*.tfrecord").stderr
    assert all(repr(name)[1:-1] in plain for name in files)
    assert "\x1b" not in plain
    monkeypatch.setenv("FORCE_COLOR", "1")
    painted = run("verify", "*.tfrecord").stderr
    assert painted != plain
    assert click.unstyle(painted) == plain
