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


def annotated(*arguments: str | Path, style: str = "github") -> list[str]:
    """Return the files that a check annotates."""
    output = run("check", "--format", style, *arguments).stdout
    return re.findall(r"^::error file=([^,]+),", output, re.M)


def test_paths_count_from_the_repository(tmp_path: Path) -> None:
    """Whichever directory in the project is named; other formats keep its paths."""
    repository = Repository(tmp_path)
    root = stale(tmp_path / "ml/pets")
    for below in (".", "schemas", "generated/pet"):
        found = annotated("--project", root / below)
        assert found == ["ml/pets/generated/pet/model.py"]
    for style in ("text", "json"):
        output = run("check", "--format", style, "--project", root).output
        assert "generated/pet/model.py" in output
        assert "ml/pets/generated" not in output
    repository.write("notes.txt", "")
    assert repository.commit("notes.txt").returncode == 0
    repository.git("worktree", "add", "--quiet", tmp_path / "tree")
    root = stale(tmp_path / "tree/ml")  # has a file `.git` instead of a directory
    assert annotated("--project", root) == ["ml/generated/pet/model.py"]


def test_refusals_have_such_paths_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A schema that does not load, settings that cannot be used, and no project."""
    Repository(tmp_path)
    root = stale(tmp_path / "ml")
    schema = root / "schemas/pets.py"
    schema.write_text(schema.read_text().replace("age: int", "age: dict[str, int]"))
    assert annotated("--project", root) == ["ml/schemas/pets.py"]
    for text in ("[tool.schemagen]\noutputs = 1\n", "[tool.schemagen\n"):
        (root / "pyproject.toml").write_text(text)
        assert annotated("--project", root / "schemas") == ["ml/pyproject.toml"]
    (root / "pyproject.toml").unlink()
    monkeypatch.chdir(root)
    assert annotated() == ["ml/pyproject.toml"]
