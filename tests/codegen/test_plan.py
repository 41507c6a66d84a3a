"""What `generate` writes and deletes, and what it leaves alone."""

from __future__ import annotations

import errno
import json
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from command_line import make_project, refusals, run, snapshot

PET = """\
from typing import Annotated
from schemagen import Label, Record


class Pet(Record):
    name: str
    breed: Annotated[int, Label(classes=("pug", "tabby"))]
"""
PARSER = "generated/pet/parser.py"


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the records Pet and Dog, generated."""
    root = tmp_path_factory.mktemp("fresh") / "my project"
    make_project(root, {"pets.py": PET, "dogs.py": PET.replace("Pet", "Dog")})
    assert run("generate", "--project", root).exit_code == 0
    return root


@pytest.fixture
def project(fresh: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it for each test; the user is in it."""
    root = tmp_path / "my project"
    shutil.copytree(fresh, root)
    monkeypatch.chdir(root)
    return root


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


def contents(project: Path) -> dict[str, bytes | None]:
    return {path: data for path, (_, data) in snapshot(project).items()}


def is_clean() -> bool:
    return run("check").exit_code == 0


def test_a_project_is_up_to_date_after_generate(project: Path) -> None:
    """Nothing is written then."""
    before = snapshot(project)
    assert is_clean()
    assert run("generate").exit_code == 0
    assert snapshot(project) == before


def test_only_files_that_differ_are_written(project: Path) -> None:
    """Equal files keep their times, so that build tools and editors see no change."""
    before = snapshot(project / "generated")
    rewrite(project / "schemas/pets.py", "tabby", "siamese")
    assert run("generate").exit_code == 0
    after = snapshot(project / "generated")
    changed = {path for path in after if after[path] != before.get(path)}
    assert {path.split("/")[0] for path in changed} == {"pet"}


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


def test_a_package_goes_with_its_bytecode(project: Path) -> None:
    """Hidden files and the bytecode of others are not looked at, and stay."""
    for name in (
        "pet/__pycache__/model.pyc",
        "dog/.DS_Store",
        ".gitattributes",
        ".cache/x.py",
        "__pycache__/y.pyc",
    ):
        path = project / "generated" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"mine")
    assert is_clean()
    for name in ("pets", "dogs"):
        (project / f"schemas/{name}.py").unlink()
    (project / "schemas/cats.py").write_text(PET.replace("Pet", "Cat"))
    assert run("generate").exit_code == 0
    left = {path for path, data in contents(project / "generated").items() if data}
    assert {path for path in left if not path.startswith("cat/")} == {
        "dog/.DS_Store",
        ".gitattributes",
        ".cache/x.py",
        "__pycache__/y.pyc",
        "__init__.py",
    }
    assert not (project / "generated/pet").exists()


# Failures of the disk


@pytest.mark.parametrize(
    ("method", "step"), [("write_bytes", 1), ("write_bytes", 8), ("mkdir", 1)]
)
def test_a_failure_before_the_first_rename_changes_nothing(
    project: Path, monkeypatch: pytest.MonkeyPatch, method: str, step: int
) -> None:
    """A disk that is full in the middle of a file leaves no piece of it."""
    change_all(project)
    before = contents(project)
    original = getattr(Path, method)
    calls = 0

    def fails(self: Path, *arguments: bytes, **options: bool) -> object:
        nonlocal calls
        calls += 1
        if calls < step:
            return original(self, *arguments, **options)
        if method == "write_bytes":
            original(self, arguments[0][:100])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, method, fails)
    result = run("generate", "--format", "json")
    assert calls == step
    assert result.exit_code == 2
    [found] = json.loads(result.stdout)["findings"]
    assert found["rule"] == "SG403"
    assert found["location"]["path"].startswith("generated/")
    assert contents(project) == before


@pytest.mark.parametrize("method", ["replace", "unlink"])
def test_a_failure_in_the_middle_is_repaired_by_the_next_run(
    project: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """Each file is the old or the new one, and none is refused."""
    change_all(project)
    old = contents(project / "generated")
    original = getattr(Path, method)
    calls = 0

    def fails(self: Path, *arguments: Path, **options: bool) -> object:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        return original(self, *arguments, **options)

    monkeypatch.setattr(Path, method, fails)
    assert run("generate").exit_code == 2
    monkeypatch.undo()
    monkeypatch.chdir(project)
    middle = contents(project / "generated")
    assert run("generate").exit_code == 0
    new = contents(project / "generated")
    assert middle not in (old, new)
    for path, data in middle.items():
        assert data is None or data in (old.get(path), new.get(path)), path
    assert is_clean()


def test_a_directory_in_the_place_of_a_file_refuses_the_run(project: Path) -> None:
    """It is seen before anything is written, and named."""
    change_all(project)
    (project / "generated/pet/model.py").unlink()
    (project / "generated/pet/model.py").mkdir()
    before = contents(project)
    result = run("generate", "--format", "json")
    assert result.exit_code == 2
    [found] = json.loads(result.stdout)["findings"]
    assert found["rule"] == "SG403"
    assert found["location"]["path"] == "generated/pet/model.py"
    assert contents(project) == before


# Links


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


# Commands and diffs


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
    result = run("check", *options, "--format", "json")
    [found] = json.loads(result.stdout)["findings"]
    command = shlex.join(["schemagen", "generate", *options])
    assert found["advice"] == f"run `{command}`"
    assert run("generate", *options).exit_code == 0
    assert run("check", *options).exit_code == 0


def git(root: Path, *arguments: str, check: bool = True) -> None:
    command = ["git", "-c", "user.name=A", "-c", "user.email=a@b.c", *arguments]
    subprocess.run(command, cwd=root, check=check, capture_output=True)


@pytest.mark.parametrize("style", ["merge", "diff3"])
def test_a_conflict_is_solved_by_generating(project: Path, style: str) -> None:
    """In a real merge, the schema is merged by hand and the rest by `generate`."""
    schema = project / "schemas/pets.py"
    git(project, "init", "-b", "main")
    git(project, "add", ".")
    git(project, "commit", "-m", "one")
    git(project, "branch", "other")
    for branch, name in (("other", "age: int"), ("main", "call: str")):
        git(project, "checkout", branch)
        rewrite(schema, "name: str", name)
        assert run("generate").exit_code == 0
        git(project, "commit", "-am", branch)
    git(project, "-c", f"merge.conflictStyle={style}", "merge", "other", check=False)
    assert "<<<<<<< HEAD" in schema.read_text()
    schema.write_text(PET.replace("name: str", "call: str\n    age: int"))
    found = json.loads(run("check", "--format", "json").stdout)["findings"]
    [conflict] = [each for each in found if PARSER in each["files"]]
    assert conflict["rule"] == "SG309"
    assert run("generate").exit_code == 0
    assert is_clean()


def test_a_diff_can_be_applied(project: Path) -> None:
    """What git makes of the diff is what generate would write, byte for byte."""
    change_all(project)
    rewrite(project / PARSER, "(\n", "(\n\n")
    (project / "generated/pet/model.py").unlink()
    path = project / "generated/pet/pipeline.py"
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    rewrite(
        project / "schemas/pets.py",
        "class Pet(Record):\n",
        'class Pet(Record):\n    """A pet\\x0cor two\\u2028more."""\n\n',
    )
    git(project, "init")
    text = run("check", "--diff").stdout
    assert "\\ No newline at end of file\n" in text
    (project / "changes.diff").write_bytes(text.encode())
    git(project, "apply", "changes.diff")
    assert is_clean()


def test_a_diff_of_an_edited_file_is_what_force_would_do(project: Path) -> None:
    """And a file of others is not in it."""
    original = (project / PARSER).read_text()
    rewrite(project / PARSER, "def parse_batch", "def parse_all")
    (project / "generated/mine.txt").write_text("mine")
    git(project, "init")
    text = run("check", "--diff").stdout
    assert "mine" not in text
    (project / "changes.diff").write_bytes(text.encode())
    git(project, "apply", "changes.diff")
    assert (project / PARSER).read_text() == original
