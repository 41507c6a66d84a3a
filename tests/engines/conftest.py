"""Tests of the engines that are installed: Beam in one environment, Spark and Ray in another."""

from __future__ import annotations

from importlib.util import find_spec

_PACKAGES = {"test_beam": "apache_beam", "test_ray": "ray", "test_spark": "pyspark"}

collect_ignore = [
    f"{module}.py" for module, package in _PACKAGES.items() if not find_spec(package)
]
