"""What the tests of integrations share: one release, installed once for all of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from composite import Action
from filelock import FileLock
from scratch import Repository, environment, release


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory that all processes of this test run have in common."""
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    found = base / "integrations"
    found.mkdir(exist_ok=True)
    return found


@pytest.fixture(scope="session")
def released(shared: Path) -> Repository:
    """This checkout, as the repository that users name in their settings."""
    place = shared / "release"
    with FileLock(shared / "release.lock"):
        if not place.exists():
            release(shared / "unfinished").root.rename(place)
    return Repository(place)


@pytest.fixture(scope="session")
def action(shared: Path, released: Repository) -> Action:
    """The action of this checkout, on a machine of its own."""
    temporary = shared / "runner"
    temporary.mkdir(exist_ok=True)

    def setup_python(given: Mapping[str, str]) -> dict[str, str]:
        assert given["update-environment"] == "false"
        return {"python-path": sys.executable}

    return Action(
        released.root,
        temporary,
        environment(),
        {"actions/setup-python": setup_python},
        once=frozenset({"Install schemagen"}),
    )
