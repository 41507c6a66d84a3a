"""A project and its data, for all tests of exports."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from exported_records import ROWS, make_project, write

# TensorFlow Data Validation needs an old TensorFlow, and an environment of its own.
collect_ignore = (
    [] if find_spec("tensorflow_data_validation") else ["test_tfdv_validates.py"]
)


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_project(tmp_path_factory.mktemp("exports") / "project")


@pytest.fixture(scope="session")
def data(project: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Data directories of the records, by their names, which no test changes."""
    root = tmp_path_factory.mktemp("data")
    return {name: write(project, name, root / name) for name in ROWS}
