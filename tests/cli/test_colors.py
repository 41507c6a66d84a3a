"""Colors: for people at a terminal, and where the environment asks for them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import click
import pytest
from command_line import make_project, run
from schemagen.cli import colors
from schemagen.findings import Finding, InData, Location, render_text
from terminals import on_terminal

PET = "from schemagen import Record\n\n\nclass Pet(Record):\n    age: int\n"
BROKEN = PET.replace("int", "dict[str, int]")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose schema is wrong."""
    return make_project(tmp_path / "p", {"pets.py": BROKEN})


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, None),
        ({"NO_COLOR": "1"}, False),
        ({"NO_COLOR": ""}, None),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "0"}, None),
        ({"CLICOLOR_FORCE": "1"}, True),
        ({"CLICOLOR": "0"}, False),
        ({"CLICOLOR": "1"}, None),
        ({"TERM": "dumb"}, False),
        ({"CI": "true"}, False),
        ({"CI": "true", "FORCE_COLOR": "1"}, True),
    ],
)
def test_the_environment_decides(
    monkeypatch: pytest.MonkeyPatch,
    variables: Mapping[str, str],
    expected: bool | None,
) -> None:
    """None is for outputs to decide: a terminal has colors, a file has none."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert colors.wanted() is expected


def test_a_terminal_shows_findings_in_colors(project: Path) -> None:
    """The rule is bold and red, labels are dim; the place can be copied as it is."""
    shown = on_terminal(["-m", "schemagen", "check"], project)
    assert shown.code == 2
    rule, label = colors.paint("SG111", "error"), colors.paint("to do:", "label")
    assert f"schemas/pets.py:5:5: {rule} Pet.age: no kind" in shown.terminal
    assert f"\r\n    {label}    write" in shown.terminal
    plain = on_terminal(["-m", "schemagen", "check"], project, environment={"CI": "1"})
    assert click.unstyle(shown.terminal) == plain.terminal
    assert "\x1b" not in plain.terminal


@pytest.mark.parametrize("variable", ["FORCE_COLOR", "CLICOLOR_FORCE"])
def test_colors_can_be_forced(
    project: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    """Also for a pipe; without that a pipe gets plain text."""
    plain = run("check", "--project", project).stderr
    assert "\x1b" not in plain
    monkeypatch.setenv(variable, "1")
    forced = run("check", "--project", project).stderr
    assert colors.paint("SG111", "error") in forced
    assert click.unstyle(forced) == plain


@pytest.mark.parametrize("style", ["json", "github"])
def test_programs_get_no_colors(
    project: Path, monkeypatch: pytest.MonkeyPatch, style: str
) -> None:
    """Not even if they are forced."""
    plain = run("check", "--project", project, "--format", style).stdout
    monkeypatch.setenv("FORCE_COLOR", "1")
    result = run("check", "--project", project, "--format", style)
    assert result.stdout == plain
    assert "\x1b" not in result.output
    if style == "json":
        assert json.loads(plain)["findings"]


def test_titles_and_diffs_have_colors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first line of each record and table is bold; a diff is red and green."""
    root = make_project(tmp_path, {"pets.py": PET})
    run("generate", "--project", root)
    (root / "schemas/pets.py").write_text(PET.replace("int", "float"))
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert run("describe", "--project", root).stdout.startswith("\x1b[1mPet (schemas")
    assert run("templates", "--project", root).stdout.startswith("\x1b[1mtem")
    assert run("explain", "SG304").stdout.startswith("\x1b[1mSG304  ")
    diff = run("check", "--diff", "--project", root).stdout
    assert "\x1b[1m--- a/generated" in diff
    assert "\x1b[31m-" in diff
    assert "\x1b[32m+" in diff


def test_written_files_have_no_colors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the terminal shows."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert run("init", tmp_path).exit_code == 0
    assert run("generate", "--project", tmp_path).exit_code == 0
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or b"\x1b" not in path.read_bytes()


def test_warnings_are_yellow() -> None:
    """With the word, which also says so without colors."""
    finding = Finding(Location("a.py"), "SG101", "no", severity="warning")
    painted = render_text([finding], colors.paint)
    assert f": {colors.paint('SG101 warning:', 'warning')} no" in painted
    assert click.unstyle(painted) == "a.py:1:1: SG101 warning: no"


def test_text_of_data_cannot_color() -> None:
    """Escapes in data are printed as text; those of the labels work."""
    data = InData(
        "train", "", "", 0, 0, 2, 1, 5, (("f", 0, 0, "x"), ("f", 1, 9, "\x1b[1m"))
    )
    finding = Finding(Location("f"), "SG501", "\x1b[31mno", found="\x1b", data=data)
    painted = render_text([finding], colors.paint)
    assert click.unstyle(painted) == render_text([finding])
    assert "\\x1b[31mno" in painted
    assert "\x1b" not in render_text([finding])
