"""The benchmarks measure every way, in turn, and stop where ways differ."""

from __future__ import annotations

import json
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import (
    generate,
    read,
    read_start,
    read_training,
    scale_shards,
    verify,
    write,
)
from benchmarks import generate_schemas as schemas
from benchmarks.agreement import Agreement
from benchmarks.generate_ways import see_all_fields
from benchmarks.measure import Different
from benchmarks.program import Generated, Program
from benchmarks.reading import SHAPES, Reading
from benchmarks.records import WRITTEN, Columns, Row, batches_of, columns_of
from benchmarks.report import Target
from benchmarks.writing import Agreement as Written
from benchmarks.writing import Ours, records_of

DOCUMENT = Path(__file__).parents[2] / "benchmarks" / "README.md"
PEERS = ("tfx_bsl", "tensorflow_datasets", "grpc_tools", "datamodel_code_generator")
PROGRAMS = (
    *(write.PROGRAM, read.PROGRAM, verify.PROGRAM),
    *(generate.PROGRAM, scale_shards.PROGRAM),
)


@pytest.fixture
def without_peers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the alternatives that only the environment of the benchmarks has."""
    for name in (*PEERS, "tfx_bsl.coders.example_coder"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(
        "benchmarks.generate_ways.find_spec",
        lambda name: None if name in PEERS else find_spec(name),
    )


def times_in(results: Any) -> list[float]:
    """Return all measured times, from whichever depth: lists with a time a round."""
    if isinstance(results, dict):
        return [time for value in results.values() for time in times_in(value)]
    if not isinstance(results, list):
        return []
    return [time for time in results if isinstance(time, float)]


@pytest.mark.slow
@pytest.mark.usefixtures("without_peers")
@pytest.mark.parametrize(
    ("program", "part", "options", "targets"),
    [
        (write.PROGRAM, "speed", (), ()),
        (write.PROGRAM, "scaling", (), ()),
        (write.PROGRAM, "workers", (), ()),
        (read.PROGRAM, "speed", (), read.TARGETS),
        (read.PROGRAM, "start", ("--shapes", "mix-1k,jpeg"), read_start.TARGETS),
        (read.PROGRAM, "fit", (), read_training.FIT_TARGETS),
        (verify.PROGRAM, "speed", ("--bytes", "1e5"), ()),
        (generate.PROGRAM, "speed", ("--shapes", "10"), ()),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_part_measures_what_is_installed(
    tmp_path: Path,
    program: Program,
    part: str,
    options: tuple[str, ...],
    targets: tuple[Target, ...],
) -> None:
    """With next to no records: each way has times, and each target a line in the page."""
    document = tmp_path / "README.md"
    shutil.copy(DOCUMENT, document)
    results = tmp_path / "found.json"
    few = ("--rounds", "1", "--share", "0.005", "--bytes", "1e6", "--parts", part)
    files = ("--json", str(results), "--document", str(document))
    program.run([*few, *options, *files])
    found = json.loads(results.read_text())[part]
    times = times_in(found)
    assert len(times) >= 2
    assert all(time > 0 for time in times)
    text = document.read_text()
    for target in targets:
        assert text.count(f"| {target.words} |") == ("TFDS" not in target.slow)


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_part_has_a_place_in_the_documentation(program: Program) -> None:
    """`make bench OPTIONS="--document benchmarks/README.md"` finds where to write."""
    text = DOCUMENT.read_text(encoding="utf-8")
    for part in ("conditions", *program.parts):
        assert text.count(f"<!-- measured: {program.mark(part)} -->\n") == 1


def test_ways_that_write_other_values_are_not_timed(tmp_path: Path) -> None:
    """A way that loses a row, or changes a value, stops the measurement."""
    shape = WRITTEN["mix"]
    rows = shape.rows(3)
    ours = Ours(Generated(tmp_path / "project"), shape.record)
    written = list(records_of(ours.framed_batches(batches_of(rows, 2))))
    agreement = Written(rows)
    agreement.check("ours", written)
    with pytest.raises(Different):
        agreement.check("lost", written[:2])
    with pytest.raises(Different):
        agreement.check("turned", written[::-1])


def batch_of(rows: list[Row]) -> Columns:
    """Return rows as a pipeline delivers them."""
    longest = max(len(row["tokens"]) for row in rows)
    padded = [np.pad(row["tokens"], (0, longest - len(row["tokens"]))) for row in rows]
    columns = columns_of(
        [row | {"tokens": p} for row, p in zip(rows, padded, strict=True)]
    )
    return columns | {"label": columns["label"].astype(np.int64)}


def test_ways_that_read_other_records_are_not_timed() -> None:
    """Padding and order do not matter; lost, repeated and changed records do."""
    rows = SHAPES["mix"].rows(12)
    agreement = Agreement(rows)

    def check(rows: list[Row], *, shuffled: bool = False, **other: Any) -> None:
        batches = [batch_of(rows[:-2]), batch_of(rows[-2:]) | other]
        way = Reading(lambda: None, lambda: iter(batches), shuffled=shuffled)
        agreement.check("way", way)

    check(rows)
    check(rows[::-1], shuffled=True)
    for wrong in (rows[:-1], [*rows[:-1], rows[0]]):
        with pytest.raises(Different):
            check(wrong)
    with pytest.raises(Different):
        check(rows, shuffled=True)
    with pytest.raises(Different):
        check(rows, floats=np.zeros((2, 5), np.float32))
    with pytest.raises(Different):
        check(rows, label=np.zeros(2, np.int32))


def test_ways_that_generate_fewer_fields_are_not_timed(tmp_path: Path) -> None:
    """All languages declare the same fields; a file without one ends the measurement."""
    for number in range(2):
        names = [field.name for field in schemas.fields_of(number)]
        for write_schema in schemas.LANGUAGES.values():
            assert all(name in write_schema(number) for name in names)
        path = tmp_path / f"{schemas.record_name(number)}_pb2.py"
        path.write_text(repr("".join(names)))
    see_all_fields("all", tmp_path, 2)
    path.write_text(path.read_text().replace("weight", "height"))
    with pytest.raises(Different):
        see_all_fields("less", tmp_path, 2)
