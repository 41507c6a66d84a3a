"""All schemas that there are to be written again: this repository's, and the tests'."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from contract.generated_records import write_random
from contract.hard_names import ACCEPTED, schema_of_names
from contract.hard_texts import schema_of_texts
from contract.hostile_texts import write_hostile_project
from contract.test_style import AUGMENTED
from schemagen.schema.loading import load_schemas
from schemagen.spec.model import RecordSpec
from schemagen.spec.resolve import resolve

ROOT = Path(__file__).parents[2]

LONG = f"""
import numpy as np
from typing import Annotated
from schemagen import Record, Text, VarLen, Vector

class Long(Record):
    plain: str | None = {"a word " * 11!r}
    longer: str | None = {"a word " * 18!r}
    keyed: Annotated[str | None, Text(key="the key")] = {"a word " * 9!r}
    both: Annotated[str | None, Text(key={"a key " * 11!r})] = {"a word " * 9!r}
    {"m" * 80}: str | None = None
    numbers: Annotated[np.ndarray | None, Vector((9,), key="n")] = np.array(
        [0.5, 1.5, -2.5, 100, 1000, 10000, 0.125, 7, 8], np.float32
    )
    grid: Annotated[np.ndarray | None, Vector((2, 20), "int64")] = np.arange(40).reshape(2, 20)
"""
"""Defaults and names that need several lines."""


def specs_of(root: Path, schemas: str = "schemas") -> tuple[RecordSpec, ...]:
    """Return the specs of a project's schemas, all of which have to be right."""
    loaded = load_schemas(root, schemas, "no_such_output")
    resolved = resolve(loaded.records)
    assert not [*loaded.findings, *resolved.findings]
    return resolved.specs


def _of_repository(schemas: str) -> Callable[[Path], tuple[RecordSpec, ...]]:
    return lambda _: specs_of(ROOT, schemas)


def _of_source(source: Callable[[], str]) -> Callable[[Path], tuple[RecordSpec, ...]]:
    def make(directory: Path) -> tuple[RecordSpec, ...]:
        (directory / "schemas").mkdir(parents=True)
        (directory / "schemas" / "given.py").write_text(source(), encoding="utf-8")
        return specs_of(directory)

    return make


def _of_project(
    write: Callable[[Path], object],
) -> Callable[[Path], tuple[RecordSpec, ...]]:
    def make(directory: Path) -> tuple[RecordSpec, ...]:
        write(directory)
        return specs_of(directory)

    return make


CORPORA: dict[str, Callable[[Path], Iterable[RecordSpec]]] = {
    "schemas": _of_repository("schemas"),
    "formats": _of_repository("tests/formats/schemas"),
    "benchmarks": _of_repository("benchmarks/schemas"),
    "texts": _of_source(schema_of_texts),
    "names": _of_source(lambda: schema_of_names(ACCEPTED, "Names")),
    "long": _of_source(lambda: LONG),
    "augmented": _of_source(lambda: AUGMENTED),
    "random": _of_project(lambda root: write_random(root, "output")),
    "hostile": _of_project(lambda root: write_hostile_project(root, "output", "given")),
}
