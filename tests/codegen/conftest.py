"""What the tests of generated files share: a generated project, and a copy for each test."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from command_line import make_project, run
from pet_project import PET


@pytest.fixture(scope="session")
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
