"""Colors: for people at a terminal, and where the environment asks for them."""

from __future__ import annotations

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
    """The rule is colored; the place can be copied as it is, and no text differs."""
    shown = on_terminal(["-m", "schemagen", "check"], project)
    assert shown.code == 2
    rule = colors.paint("SG111", "error")
    assert f"schemas/pets.py:5:5: {rule} Pet.age: " in shown.terminal
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
    assert (colors.paint("SG111", "error") in forced) == (style == "text")
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
