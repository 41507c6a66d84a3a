"""The random records' code, generated once a process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from .generated_records import Generated, cached_records, generate_records, importable

# What runs in CI is the same every time, and no slower machine makes it fail.
settings.register_profile(
    "contract",
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.function_scoped_fixture,
    ],
)
settings.load_profile("contract")

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


@pytest.fixture(params=[case.class_name for case in cached_records()])
def generated(
    request: pytest.FixtureRequest, records: dict[str, Generated]
) -> Generated:
    """One random record after the other."""
    return records[request.param]
