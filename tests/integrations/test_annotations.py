"""`--format github`: paths count from where GitHub looks for files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import schemagen
from command_line import make_project, run
from scratch import PET, Repository


def stale(root: Path) -> Path:
    """Make a directory a project with one missing file."""
    make_project(root, {"pets.py": PET})
    schemagen.generate(root)
    (root / "generated/pet/model.py").unlink()
    return root


def annotated(*arguments: str | Path) -> list[str]:
    """Return the files that a check annotates."""
    output = run("check", "--format", "github", *arguments).stdout
    return re.findall(r"^::error file=([^,]+),", output, re.M)


@pytest.mark.parametrize("below", [".", "schemas", "generated/pet"])
def test_paths_count_from_the_repository(tmp_path: Path, below: str) -> None:
    """Whichever directory in the project is named."""
    Repository(tmp_path)
    root = stale(tmp_path / "ml/pets")
    assert annotated("--project", root / below) == ["ml/pets/generated/pet/model.py"]


def test_paths_of_worktrees_count_from_them(tmp_path: Path) -> None:
    """They have a file `.git` instead of a directory."""
    repository = Repository(tmp_path / "main")
    repository.write("notes.txt", "")
    assert repository.commit().returncode == 0
    repository.git("worktree", "add", "--quiet", tmp_path / "main/tree")
    root = stale(tmp_path / "main/tree/ml")
    assert annotated("--project", root) == ["ml/generated/pet/model.py"]


def test_a_repository_below_the_workspace_goes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job may check out into a directory; annotations count from there."""
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    Repository(tmp_path / "checkout")
    root = stale(tmp_path / "checkout/ml")
    assert annotated("--project", root) == ["ml/generated/pet/model.py"]


def test_without_git_the_workspace_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some checkouts are archives. One elsewhere says nothing of this project."""
    root = stale(tmp_path / "ml")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    assert annotated("--project", root) == ["ml/generated/pet/model.py"]
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / "other"))
    assert annotated("--project", root) == ["generated/pet/model.py"]
    monkeypatch.delenv("GITHUB_WORKSPACE")
    assert annotated("--project", root) == ["generated/pet/model.py"]


def test_refusals_have_such_paths_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A schema that does not load, settings that cannot be used, and no project."""
    Repository(tmp_path)
    root = stale(tmp_path / "ml")
    schema = root / "schemas/pets.py"
    schema.write_text(schema.read_text().replace("age: int", "age: dict[str, int]"))
    assert annotated("--project", root) == ["ml/schemas/pets.py"]
    (root / "pyproject.toml").write_text("[tool.schemagen]\noutputs = 1\n")
    assert annotated("--project", root / "schemas") == ["ml/pyproject.toml"]
    (root / "pyproject.toml").write_text("[tool.schemagen\n")
    assert annotated("--project", root / "schemas") == ["ml/pyproject.toml"]
    (root / "pyproject.toml").unlink()
    monkeypatch.chdir(root)
    assert annotated() == ["ml/pyproject.toml"]


@pytest.mark.parametrize("style", ["text", "json"])
def test_other_formats_keep_the_projects_paths(tmp_path: Path, style: str) -> None:
    """They are read where the command was given."""
    Repository(tmp_path)
    root = stale(tmp_path / "ml")
    output = run("check", "--format", style, "--project", root).output
    assert "generated/pet/model.py" in output
    assert "ml/generated" not in output
