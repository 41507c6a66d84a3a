"""Datasets of the records in `every_kind`, written once for all tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import every_kind
import pytest

if TYPE_CHECKING:
    from conftest import PackageOf, Workspace

Data = Callable[..., Path]
MakeDataset = Callable[..., Any]


@pytest.fixture(scope="module")
def package(request: pytest.FixtureRequest, package_of: PackageOf) -> Workspace:
    """The code generated for the module's `SCHEMA`, or for the records of every kind."""
    return package_of(getattr(request.module, "SCHEMA", every_kind.SCHEMA))


@pytest.fixture(scope="session")
def data(package_of: PackageOf, tmp_path_factory: pytest.TempPathFactory) -> Data:
    """Return what writes numbered records of a kind, and gives their directory.

    No one may change what is written there.
    """
    package = package_of(every_kind.SCHEMA)
    written: dict[object, Path] = {}

    def make(record: str = "small", rows: int = 50, shards: int = 4) -> Path:
        asked = (record, rows, shards)
        if asked not in written:
            directory = tmp_path_factory.mktemp(record)
            write = package.module(record, "serializer").write_dataset
            row = getattr(every_kind, record)
            options = {"shards": shards, "allow_empty": not rows}
            write(map(row, range(rows)), directory, "train", **options)
            written[asked] = directory
        return written[asked]

    return make


@pytest.fixture
def make_dataset(package: Workspace) -> MakeDataset:
    """`make_dataset` of the small record."""
    found: MakeDataset = package.module("small", "pipeline").make_dataset
    return found
