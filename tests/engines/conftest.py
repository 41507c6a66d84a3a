"""Tests of the engines that are installed: Beam in one environment, the others in another."""

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
    "beam": "apache_beam",
    "dask": "dask",
    "ray": "ray",
    "spark": "pyspark",
}
_INSTALLED = [name for name, package in _PACKAGES.items() if find_spec(package)]

collect_ignore = [f"test_{name}.py" for name in _PACKAGES if name not in _INSTALLED]


@pytest.fixture(scope="module", params=_INSTALLED)
def engine(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Each engine that is installed, at work."""
    with importlib.import_module(f"{request.param}_engine").started() as found:
        yield found
