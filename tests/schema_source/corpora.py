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
    "augmented": _of_source(lambda: AUGMENTED),
    "random": _of_project(lambda root: write_random(root, "output")),
    "hostile": _of_project(lambda root: write_hostile_project(root, "output", "given")),
}
