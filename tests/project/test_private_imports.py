"""Tests go through what users have, so few of them import private modules."""

from __future__ import annotations

import ast
from pathlib import Path

TESTS = Path(__file__).parents[1]

# What pages of the documentation import from, and what generated packages pass on.
PUBLIC = {
    *("schemagen", "schemagen.testing", "schemagen.data.ray"),
    *(f"schemagen.runtime.engines.{n}" for n in ("beam", "dask", "ray", "spark")),
    *("schemagen.runtime.engines", "schemagen.runtime.models"),
    "schemagen.runtime.arrays.torch",
    *("schemagen.runtime.shared.errors", "schemagen.runtime.storage.integrity"),
    "schemagen.runtime.writing.progress",
}

# Tests of code that has no other way to be reached, by folder.
ALLOWED: dict[str, set[str]] = {
    "arrays": {
        *("test_cache", "test_index", "test_order"),
        *("test_remote_splits", "test_split_reading", "test_turns"),
    },
    "contract": {"test_injection", "test_refused_by_all"},
    "data": {"test_row_sample", "test_data_documents"},
    "data/report": {"test_page_parts"},
    "datasets": {"test_faults", "test_named_files"},
    "distributed": {"test_parts", "test_publishing", "test_refused_shards"},
    "engines": {"test_ray"},
    "evolution": {"test_changes"},
    "integrations": {"test_git_attributes"},
    "kinds": {"test_derived_kinds", "test_image_formats", "test_numbers", "test_plans"},
    "native": {"test_core", "test_fuzz"},
    "notebooks": {"test_markdown", "test_views"},
    "pages": {"test_complete_pages", "test_docs"},
    "project": {"test_packaging"},
    "remote": {"test_s3"},
    "runtime": {"test_requirements", "test_runtime", "test_tfrecord", "test_wire"},
    "schema_source": {"test_schema_source", "test_words"},
    "writing": {"test_shuffle"},
}


def private_imports(path: Path) -> set[str]:
    """Return the private modules that a file imports, also inside of functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(str(node.module))
    return {n for n in found - PUBLIC if n.split(".")[0] == "schemagen"}


def test_at_most_a_fifth_of_test_modules_import_private_modules() -> None:
    """A module that begins to needs a place in the table, which has a limit."""
    modules = sorted(TESTS.rglob("test_*.py"))
    found: dict[str, set[str]] = {}
    for path in modules:
        if private_imports(path):
            folder = path.parent.relative_to(TESTS).as_posix()
            found.setdefault(folder, set()).add(path.stem)
    more = {
        folder: names - ALLOWED.get(folder, set()) for folder, names in found.items()
    }
    assert {folder: names for folder, names in more.items() if names} == {}
    assert sum(map(len, ALLOWED.values())) <= len(modules) / 5
