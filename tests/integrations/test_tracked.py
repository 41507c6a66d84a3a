"""`--tracked`: git tracks generated files and what they are generated from, or neither."""

from __future__ import annotations

import json
import re
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


def findings(root: Path, command: str = "check") -> dict[str, list[str]]:
    """Return the files that `--tracked` names, by place; all of it under SG421."""
    result = run(command, "--tracked", "--format", "json", "--project", root)
    found = json.loads(result.stdout)["findings"]
    assert result.exit_code == bool(found)
    assert {finding["rule"] for finding in found} <= {"SG421"}
    return {
        place(finding): re.findall(r"[\w./]+\.\w+", finding["message"])
        for finding in found
    }


@pytest.mark.parametrize("command", ["check", "generate"])
def test_generated_files_that_are_not_added(
    repository: Repository, command: str
) -> None:
    """Each is named, whether git ignores it or has not been told of it."""
    assert findings(repository.root, command) == {}
    repository.write("schemas/dögs.py", PET.replace("Pet", "Dog"))
    schemagen.generate(repository.root)
    assert findings(repository.root, command) == {}  # neither half is in a commit
    repository.git("add", "schemas")
    found = findings(repository.root, command)
    assert found["generated/dog/parser.py"] == [
        *("generated/dog/parser.py", "schemas/dögs.py")
    ]
    assert len(found) == 8
    repository.write(".gitignore", "generated/\n")
    assert findings(repository.root, command) == found
    repository.git("add", "--force", "generated")
    assert findings(repository.root, command) == {}


def test_other_files_that_are_not_added(repository: Repository) -> None:
    """A schema once, not for each file of it; shared code, and accepted breaks."""
    repository.write("schemas/dögs.py", PET.replace("Pet", "Dog"))
    schemagen.generate(repository.root)
    repository.git("add", "generated")
    repository.git("rm", "--quiet", "--cached", "generated/__init__.py")
    repository.write("generated/accepted_breaks.jsonl", '{"format": 1}')
    assert set(findings(repository.root)) == {
        "schemas/dögs.py",
        "generated/__init__.py",
        "generated/accepted_breaks.jsonl",
    }


def test_what_is_missing_is_not_called_untracked(repository: Repository) -> None:
    """A missing file is one finding."""
    repository.git("rm", "--quiet", "generated/pet/model.py")
    result = run("check", "--tracked", "--project", repository.root)
    assert "SG301" in result.stderr
    assert "SG421" not in result.stderr


@pytest.mark.parametrize("is_installed", [True, False])
def test_without_git_nothing_can_be_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_installed: bool
) -> None:
    """The request cannot be carried out; without --tracked git is not asked."""
    root = make_project(tmp_path, {"pets.py": PET})
    schemagen.generate(root)
    if not is_installed:
        monkeypatch.setenv("PATH", "")
    result = run("check", "--tracked", "--project", root)
    assert result.exit_code == 2
    assert "SG422" in result.stderr
    assert run("check", "--project", root).exit_code == 0
