"""The engines that are installed: Beam in one environment, the others in another."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

# Beam's environment runs this folder alone, without the conftest above it.
sys.path.append(str(Path(__file__).parents[1]))

_PACKAGES = {
    "plain": "schemagen",
    "beam": "apache_beam",
    "dask": "dask",
    "ray": "ray",
    "spark": "pyspark",
}
_INSTALLED = [name for name, package in _PACKAGES.items() if find_spec(package)]

collect_ignore = [f"test_{name}.py" for name in _PACKAGES if name not in _INSTALLED]


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=[pytest.mark.integration] if name != "plain" else [])
        for name in _INSTALLED
    ],
)
def engine(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Each engine that is installed, at work, and none: `write_part` alone."""
    with importlib.import_module(f"{request.param}_engine").started() as found:
        yield found


@pytest.fixture
def moving(engine: Any) -> Any:
    """Each engine that moves rows between workers."""
    return engine


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave `write_part` alone out where rows have to move."""
    items[:] = [item for item in items if not _moves_rows_without_an_engine(item)]


def _moves_rows_without_an_engine(item: Any) -> bool:
    values = getattr(item, "callspec", None) and item.callspec.params
    if not values or values.get("engine") != "plain":
        return False
    return "moving" in item.fixturenames or values.get("is_source") is False
