"""The benchmark of writing measures all ways, and compares what they write."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import write
from benchmarks.jobs import WRITING
from benchmarks.measure import Different, empty
from benchmarks.program import Generated
from benchmarks.records import WRITTEN, Row, batches_of
from benchmarks.write import FLOOR, IN_MEMORY, TARGETS, TO_A_FILE
from benchmarks.writing import (
    BATCHES,
    ROWS,
    A,
    Agreement,
    B,
    C,
    Ours,
    protobuf,
    records_of,
)

from .conftest import Run


@pytest.fixture
def without_peers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the alternatives that `make test` does not install."""
    for name in ("tfx_bsl", "tfx_bsl.coders.example_coder", "tensorflow_datasets"):
        monkeypatch.setitem(sys.modules, name, None)


def rows_of_tables(text: str) -> list[list[str]]:
    """Return the cells of every line of a table; all lines of a table have as many."""
    rows: list[list[str]] = []
    before = ""
    for line in text.splitlines():
        if line.startswith("|"):
            cells = line.strip("|").split("|")
            if before.startswith("|"):
                assert len(cells) == len(rows[-1]), line
            rows.append([cell.strip() for cell in cells])
        before = line
    return rows


@pytest.mark.slow
@pytest.mark.usefixtures("without_peers")
def test_every_installed_way_is_measured(run: Run) -> None:
    """Missing alternatives are named with what to do; all others have times."""
    found, text = run(write.PROGRAM, "--parts", "speed,compression")
    assert set(found) == {"conditions", "speed", "compression"}
    assert list(found["speed"]) == list(WRITTEN)
    for result in found["speed"].values():
        assert {A, BATCHES, ROWS} <= set(result[IN_MEMORY])
        assert {A, BATCHES, ROWS, FLOOR} <= set(result[TO_A_FILE])
        assert not {B, C} & {*result[IN_MEMORY], *result[TO_A_FILE]}
        for times in (*result[IN_MEMORY].values(), *result[TO_A_FILE].values()):
            assert len(times) == 1
            assert times[0] > 0
    assert "(b) tfx-bsl is left out: " in text
    assert "`make bench` sets up an environment that has it" in text
    rows = {row[0]: row[1:] for row in rows_of_tables(text)}
    for target in (*TARGETS[IN_MEMORY], *TARGETS[TO_A_FILE]):
        if target.slow == B:
            assert target.words not in rows
            continue
        for cell, shape in zip(rows[target.words], WRITTEN, strict=True):
            with_goal = cell.endswith((": reached", ": **missed**"))
            assert with_goal == (shape in target.goals)
    for result in found["compression"].values():
        assert all(0 < size < result["bytes"] for size in result["compressed"].values())


def test_scaling_has_a_line_for_each_number_of_records_and_shards(run: Run) -> None:
    """The numbers of records shrink with the share; those of shards do not."""
    found, text = run(write.PROGRAM, "--parts", "scaling")
    assert list(found["scaling"]["records"]) == ["5", "50", "500"]
    assert list(found["scaling"]["shards"]) == ["1", "16", "256"]
    rows = [row[0] for row in rows_of_tables(text)]
    assert {"5", "50", "500", "1", "16", "256"} <= set(rows)


@pytest.mark.slow
def test_workers_and_memory_are_measured(run: Run) -> None:
    """Each source is written with one worker and two, and in each mode."""
    found, text = run(write.PROGRAM, "--parts", "workers,memory")
    assert len(found["workers"]["seconds"]) == 4
    for times in found["workers"]["seconds"].values():
        assert set(times) == {"1", "2"}
    assert list(found["memory"]) == list(WRITING)
    for jobs in found["memory"].values():
        assert list(jobs) == ["100000", "1000000"]
        for job in jobs.values():
            assert 10e6 < job["process"] < 1e9
    assert found["memory"]["two workers"]["1000000"]["largest worker"] > 10e6
    # The first such row is that of writing, the next one that of reading.
    modes = [row[2] for row in rows_of_tables(text) if row[0] == "shuffled"]
    assert modes[0].endswith((": reached", ": **missed**"))


def test_different_values_are_not_timed(tmp_path: Path) -> None:
    """A way that loses a row, or changes a value, stops the measurement."""
    shape = WRITTEN["mix"]
    rows = shape.rows(3)
    ours = Ours(Generated(tmp_path / "project"), shape.record)
    written = list(records_of(ours.framed_batches(batches_of(rows, 2))))
    (peer,) = protobuf(rows, at_once=3)()
    agreement = Agreement(rows)
    agreement.check("ours", written)
    agreement.check("ours again", written)
    agreement.check("peer", peer)
    with pytest.raises(Different, match="lost: 2 records of 3 rows"):
        agreement.check("lost", written[:2])
    message = r"turned: record 0: feature '.*' has other values"
    with pytest.raises(Different, match=message):
        agreement.check("turned", written[::-1])
    other: Row = rows[1] | {"floats": np.zeros(5, np.float32)}
    with pytest.raises(Different, match="record 1: feature 'floats'"):
        Agreement([rows[0], other, rows[2]]).check("ours", written)


def test_fsync_is_left_out_only_in_the_lines_that_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our writer waits for the disk in the line that is compared with the targets."""
    waited: list[int] = []
    monkeypatch.setattr("os.fsync", waited.append)
    shape = WRITTEN["tabular"]
    ours = Ours(Generated(tmp_path / "project"), shape.record)
    rows = shape.rows(4)
    scratch = tmp_path / "scratch"
    syncing = {}
    ways = write.file_ways(ours, rows, batches_of(rows, 2), {}, scratch)
    for name, way in ways.items():
        empty(scratch)
        waited.clear()
        way()
        syncing[name] = bool(waited)
    assert syncing == {
        BATCHES: True,
        BATCHES + ", fsync left out": False,
        ROWS: True,
        ROWS + ", fsync left out": False,
        FLOOR: False,
        "floor with fsync": True,
    }
