"""`--tracked`: git tracks generated files and what they are generated from, or neither."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import schemagen
from command_line import make_project, place, run
from scratch import PET, Repository, project_in


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A repository whose project is committed and clean."""
    found = Repository(tmp_path / "repo")
    project_in(found)
    return found


def findings(root: Path, command: str = "check") -> dict[str, str]:
    """Return what `--tracked` finds, by place; all of it under SG421."""
    result = run(command, "--tracked", "--format", "json", "--project", root)
    found = json.loads(result.stdout)["findings"]
    assert result.exit_code == bool(found)
    assert {finding["rule"] for finding in found} <= {"SG421"}
    return {place(finding): finding["message"] for finding in found}


@pytest.mark.parametrize("command", ["check", "generate"])
def test_all_tracked_is_clean(repository: Repository, command: str) -> None:
    """Exit code 0, and what the command says otherwise."""
    plain = run(command, "--project", repository.root)
    tracked = run(command, "--tracked", "--project", repository.root)
    assert (tracked.exit_code, tracked.output) == (0, plain.output)


@pytest.mark.parametrize("command", ["check", "generate"])
def test_generated_files_that_are_not_added(
    repository: Repository, command: str
) -> None:
    """Each is named, whether git ignores it or has not been told of it."""
    repository.write("schemas/dögs.py", PET.replace("Pet", "Dog"))
    schemagen.generate(repository.root)
    assert findings(repository.root, command) == {}  # neither half is in a commit
    repository.git("add", "schemas")
    found = findings(repository.root, command)
    assert found["generated/dog/parser.py:1:1"] == (
        "generated/dog/parser.py is not tracked by git, and schemas/dögs.py is"
    )
    assert "generated/dog/spec.json:1:1" in found
    assert len(found) == 6
    repository.write(".gitignore", "generated/\n")
    assert findings(repository.root, command) == found
    repository.git("add", "--force", "generated")
    assert findings(repository.root, command) == {}


def test_schemas_that_are_not_added(repository: Repository) -> None:
    """One finding for the schema, not one for each file that comes from it."""
    repository.write("schemas/dögs.py", PET.replace("Pet", "Dog"))
    schemagen.generate(repository.root)
    repository.git("add", "generated")
    assert findings(repository.root) == {
        "schemas/dögs.py:1:1": "schemas/dögs.py is not tracked by git, and "
        "generated/dog/spec.json is"
    }


def test_shared_code_that_is_not_added(repository: Repository) -> None:
    """It comes with the package, and belongs to every record."""
    repository.git("add", ".")
    repository.git("rm", "--quiet", "--cached", "generated/__init__.py")
    assert [*findings(repository.root)] == ["generated/__init__.py:1:1"]


def test_accepted_breaks_that_are_not_added(repository: Repository) -> None:
    """Every other clone would find the breaks again."""
    repository.write("generated/accepted_breaks.jsonl", '{"format": 1}')
    assert findings(repository.root) == {
        "generated/accepted_breaks.jsonl:1:1": "generated/accepted_breaks.jsonl is not "
        "tracked by git, and pyproject.toml is"
    }
    repository.git("add", "generated")
    assert findings(repository.root) == {}


def test_what_is_missing_is_not_called_untracked(repository: Repository) -> None:
    """A missing file is one finding."""
    repository.git("rm", "--quiet", "generated/pet/model.py")
    result = run("check", "--tracked", "--project", repository.root)
    assert "SG301" in result.stderr
    assert "SG421" not in result.stderr


def test_a_project_without_git_cannot_be_asked(tmp_path: Path) -> None:
    """The request cannot be carried out; without --tracked git is not asked."""
    root = make_project(tmp_path, {"pets.py": PET})
    schemagen.generate(root)
    result = run("check", "--tracked", "--project", root)
    assert result.exit_code == 2
    assert "SG422 git does not say which files it tracks" in result.stderr
    assert "found:    not a git repository" in result.stderr
    assert run("check", "--project", root).exit_code == 0


def test_a_machine_without_git_says_so(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No traceback, and the way out."""
    monkeypatch.setenv("PATH", "")
    result = run("check", "--tracked", "--project", repository.root)
    assert result.exit_code == 2
    assert "SG422" in result.stderr
    assert "git cannot be run" in result.stderr
    assert "leave out --tracked" in result.stderr
