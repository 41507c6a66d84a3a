"""The random records' code, generated once a process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .generated_records import (
    Generated,
    generate_records,
    importable,
    project_record,
    tiers,
    write_project,
)
from .strict import SOURCE

PACKAGE = "contract_records"


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the project that holds the random records."""
    return tmp_path_factory.mktemp("contract") / "project"


@pytest.fixture(scope="session")
def records(project: Path) -> Iterator[dict[str, Generated]]:
    """All random records, by class name."""
    with importable(project):
        found = generate_records(project, PACKAGE)
        yield {generated.case.class_name: generated for generated in found}


@pytest.fixture(scope="module", params=tiers())
def generated(
    request: pytest.FixtureRequest, records: dict[str, Generated]
) -> Iterator[Generated]:
    """One random record after the other; its graphs are dropped after its tests."""
    found = records[request.param]
    yield found
    found.forget_graphs()


@pytest.fixture(scope="session")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Generated]]:
    """The records of `strict.py`, by class name."""
    root = tmp_path_factory.mktemp("strict") / "project"
    write_project(root, SOURCE, "contract_strict")
    with importable(root):
        yield {
            name: project_record(root, "contract_strict", name)
            for name in ("Strict", "Clip", "Loose", "LooseClip")
        }
