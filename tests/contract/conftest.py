"""The random records' code, generated once a process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .generated_records import (
    Generated,
    cached_records,
    generate_records,
    importable,
    is_quick,
)

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


# Each third record has every kind and dtype, which test_acceptance.py asserts.
RECORDS = [
    pytest.param(case.class_name, marks=[] if is_quick(number) else pytest.mark.slow)
    for number, case in enumerate(cached_records())
]


@pytest.fixture(params=RECORDS)
def generated(
    request: pytest.FixtureRequest, records: dict[str, Generated]
) -> Generated:
    """One random record after the other."""
    return records[request.param]
