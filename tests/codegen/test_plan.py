"""What `generate` writes and deletes, and what it leaves alone.

Runs that are killed, and disks that fail, are cases of the fault injector.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import findings_of, make_project, refusals, run, snapshot
from pet_project import PARSER, PET


def rewrite(path: Path, old: str, new: str) -> None:
    """Replace text in a file, which has to be there."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def change_all(project: Path) -> None:
    """Leave files to create, to update and to delete."""
    rewrite(project / "schemas/pets.py", '"tabby"', '"tabby", "siamese"')
    (project / "schemas/dogs.py").unlink()
    (project / "schemas/cats.py").write_text(PET.replace("Pet", "Cat"))


def is_clean() -> bool:
    return run("check").exit_code == 0


def test_only_files_that_differ_are_written(project: Path) -> None:
    """Equal files keep their times, so that build tools and editors see no change."""
    before = snapshot(project)
    assert is_clean()
    assert run("generate").exit_code == 0
    assert snapshot(project) == before
    rewrite(project / "schemas/pets.py", "tabby", "siamese")
    assert run("generate").exit_code == 0
    changed = {file for file, data in snapshot(project).items() if before[file] != data}
    assert {"/".join(file.split("/")[:2]) for file in changed} == {
        "schemas/pets.py",
        "generated/pet",
    }


@pytest.mark.parametrize(
    ("command", "code"),
    [("check", 1), ("check --diff", 1), ("generate --dry-run", 0)],
)
def test_looking_writes_nothing(project: Path, command: str, code: int) -> None:
    """The disk is as it was."""
    change_all(project)
    before = snapshot(project)
    assert run(*command.split()).exit_code == code
    assert snapshot(project) == before


# Files next to generated ones, and whether they stay when the records are gone.
OTHERS = {
    "pet/__pycache__/model.pyc": False,
    "pet/.model.py.1234.schemagen.tmp": False,
    "empty/inner/__pycache__/x.pyc": False,
    "dog/.DS_Store": True,
    "dog/__pycache__/notes.txt": True,
    ".gitattributes": True,
    ".cache/x.py": True,
    "__pycache__/y.pyc": True,
}


def test_a_package_goes_with_its_bytecode_and_what_killed_runs_left(
    project: Path,
) -> None:
    """Hidden files, links and the bytecode of others are not looked at, and stay."""
    output = project / "generated"
    for name in OTHERS:
        (output / name).parent.mkdir(parents=True, exist_ok=True)
        (output / name).write_bytes(b"mine")
    elsewhere = project.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "x.pyc").write_bytes(b"mine")
    (output / "linked").mkdir()
    (output / "linked/__pycache__").symlink_to(elsewhere)
    assert is_clean()
    for name in ("pets", "dogs"):
        (project / f"schemas/{name}.py").unlink()
    (project / "schemas/cats.py").write_text(PET.replace("Pet", "Cat"))
    assert run("generate").exit_code == 0
    assert {name: (output / name).exists() for name in OTHERS} == OTHERS
    assert not (output / "pet").exists()
    assert not (output / "empty").exists()
    assert (elsewhere / "x.pyc").read_bytes() == b"mine"


@pytest.mark.slow
def test_runs_at_the_same_time_do_not_disturb_each_other(project: Path) -> None:
    """All end well, the first one writes, and the code is that of the schemas."""
    change_all(project)
    command = [sys.executable, "-m", "schemagen", "generate"]
    runs = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    printed = [each.communicate()[0] for each in runs]
    assert [each.returncode for each in runs] == [0, 0, 0]
    unchanged = [bool(re.fullmatch(r"\d+ files up to date\n", t)) for t in printed]
    assert sorted(unchanged) == [False, True, True]
    assert is_clean()
    assert not list((project / "generated").rglob("*.tmp"))


def test_a_file_that_is_replaced_keeps_its_rights(project: Path) -> None:
    """Read-only files are written, too, and stay what they were."""
    code = project / "generated/pet/fields.py"
    code.chmod(0o440)
    change_all(project)
    assert run("generate").exit_code == 0
    assert "siamese" in code.read_text()
    assert code.stat().st_mode & 0o777 == 0o440


def test_a_directory_in_the_place_of_a_file_refuses_the_run(project: Path) -> None:
    """It is seen before anything is written, and named."""
    change_all(project)
    (project / "generated/pet/model.py").unlink()
    (project / "generated/pet/model.py").mkdir()
    before = {path: data for path, (_, data) in snapshot(project).items()}
    [found] = findings_of("generate", code=2)
    assert found["rule"] == "SG403"
    assert found["location"]["path"] == "generated/pet/model.py"
    assert {path: data for path, (_, data) in snapshot(project).items()} == before


def test_an_output_outside_of_the_project_is_not_written(project: Path) -> None:
    """An output directory may be a link to another place in the project."""
    output, inside = project / "generated", project / "inside"
    output.rename(inside)
    output.symlink_to(inside)
    rewrite(project / "schemas/pets.py", "name", "call")
    assert run("generate").exit_code == 0
    assert "call" in (inside / "pet/parser.py").read_text()
    output.unlink()
    outside = project.parent / "outside"
    inside.rename(outside)
    output.symlink_to(outside)
    assert run("generate").exit_code == 0  # nothing to do
    rewrite(project / "schemas/pets.py", "call", "name")
    before = snapshot(outside)
    [found] = refusals(project)
    assert (found["rule"], found["location"]["path"]) == ("SG311", "generated")
    assert snapshot(outside) == before


@pytest.mark.parametrize("place", ["the project", "inside", "outside", "next to"])
def test_the_command_is_right_for_where_the_user_is(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """--project is a part of it where, and only where, it is needed."""
    (project / PARSER).unlink()
    other = make_project(tmp_path / "other", {"pets.py": PET})
    here = {
        "the project": project,
        "inside": project / "schemas",
        "outside": tmp_path,
        "next to": other,
    }[place]
    monkeypatch.chdir(here)
    needed = place in ("outside", "next to")
    options = ["--project", str(project)] if needed else []
    [found] = findings_of("check", *options, code=1)
    command = shlex.join(["schemagen", "generate", *options])
    assert f"`{command}`" in found["advice"]
    assert run("generate", *options).exit_code == 0
    assert run("check", *options).exit_code == 0


def test_a_diff_can_be_applied(project: Path) -> None:
    """What git makes of the diff is what generate would write, byte for byte.

    An edited file is in it as --force would write it, and a file of others is not.
    """
    change_all(project)
    rewrite(project / PARSER, "(\n", "(\n\n")
    rewrite(project / "generated/pet/model.py", "build_model", "build_all")
    (project / "generated/pet/serializer.py").unlink()
    path = project / "generated/pet/pipeline.py"
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    rewrite(
        project / "schemas/pets.py",
        "class Pet(Record):\n",
        'class Pet(Record):\n    """A pet\\x0cor two\\u2028more."""\n\n',
    )
    mine = project / "generated/mine.txt"
    mine.write_text("mine")
    subprocess.run(["git", "init", "--quiet"], check=True)
    text = run("check", "--diff").stdout
    assert "mine" not in text
    assert "\\ No newline at end of file\n" in text
    Path("changes.diff").write_bytes(text.encode())
    subprocess.run(["git", "apply", "changes.diff"], check=True)
    os.remove(mine)
    assert is_clean()
