"""The reading benchmark runs, sees what is wrong with a way, and says what it missed."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import read
from benchmarks.measure import Different
from benchmarks.reading import memory
from benchmarks.reading.agreement import Agreement
from benchmarks.reading.profiling import Event, operation, own_times
from benchmarks.reading.shapes import SHAPES
from benchmarks.reading.targets import (
    A_FLOATS,
    DECODING,
    OURS,
    OURS_IN_ORDER,
    TARGETS,
    A,
    B,
    C,
    D,
    E,
)
from benchmarks.reading.ways import Reading
from benchmarks.shapes import Columns, Row, columns_of

DOCUMENT = Path(__file__).parents[2] / "docs" / "benchmarks.md"


@pytest.fixture
def without_peers(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment as `make test` makes it."""
    monkeypatch.setitem(sys.modules, "tensorflow_datasets", None)


def run(tmp_path: Path, *options: str) -> tuple[dict[str, Any], str]:
    """Measure next to nothing; return the results and the document with the tables."""
    document = tmp_path / "benchmarks.md"
    shutil.copy(DOCUMENT, document)
    results = tmp_path / "read.json"
    few = ("--rounds", "1", "--share", "0.005", "--bytes", "1e6")
    files = ("--json", str(results), "--document", str(document))
    read.PROGRAM.run([*few, *options, *files])
    return json.loads(results.read_text()), document.read_text()


@pytest.mark.slow
@pytest.mark.usefixtures("without_peers")
def test_every_way_of_reading_is_measured_and_profiled(tmp_path: Path) -> None:
    """Each agrees with the rows; TFDS is named with what to do; the rest has times."""
    found, text = run(tmp_path, "--parts", "speed,profile")
    assert list(found["speed"]) == [shape.name for shape in SHAPES]
    for shape, result in found["speed"].items():
        ways = {OURS, OURS_IN_ORDER, A}
        ways |= {A_FLOATS, DECODING} if shape == "jpeg" else {B, C, E}
        for clock in ("seconds", "processor"):
            assert ways <= set(result[clock])
            assert D not in result[clock]
            for times in result[clock].values():
                assert len(times) == 1
                assert times[0] > 0
    assert f"{D} is left out: " in text
    for target in TARGETS:
        (line,) = (
            (
                line
                for line in text.splitlines()
                if line.startswith(f"| {target.words} |")
            )
            if target.slow != D
            else ("",)
        )
        verdicts = line.count(": reached |") + line.count(": **missed** |")
        assert verdicts == len(target.goals)
    for profile in found["profile"].values():
        times = [taken for taken, _, _ in profile["operations"]]
        assert times == sorted(times, reverse=True)
        assert any(name.startswith("dataset ") for _, _, name in profile["operations"])


@pytest.mark.slow
def test_memory_is_that_of_processes_which_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mode reads both sizes; four times the records are four times the batches."""
    monkeypatch.delitem(memory.MODES, "in order")  # each process imports tensorflow
    found, text = run(tmp_path, "--parts", "memory")
    assert list(found["memory"]) == ["shuffled"]
    for jobs in found["memory"].values():
        assert list(jobs) == ["1000000", "4000000"]
        assert [job["batches"] for job in jobs.values()] == [3, 10]
        for job in jobs.values():
            assert 10e6 < job["before"] <= job["process"] < 3e9
    assert "at most 10%: " in text


def test_growth_is_a_share_of_what_the_data_grew_by() -> None:
    """Not of the memory that tensorflow itself takes."""
    jobs = {"1000": {"process": 5_000.0}, "4000": {"process": 5_300.0}}
    assert memory.growth(jobs) == pytest.approx(0.1)


def mixed(count: int) -> list[Row]:
    """Return rows of the shape mix, whose tokens are of several lengths."""
    return SHAPES[0].rows(count)


def batch_of(rows: list[Row]) -> Columns:
    """Return rows as a pipeline delivers them."""
    longest = max(len(row["tokens"]) for row in rows)
    padded = [np.pad(row["tokens"], (0, longest - len(row["tokens"]))) for row in rows]
    columns = columns_of(
        [row | {"tokens": p} for row, p in zip(rows, padded, strict=True)]
    )
    return columns | {"label": columns["label"].astype(np.int64)}


def reading(batches: Callable[[], Iterator[Columns]], *, shuffled: bool) -> Reading:
    """Return a way that delivers batches."""
    return Reading(lambda: None, batches, shuffled)


def test_padding_and_order_do_not_matter_and_values_do() -> None:
    """A way that loses, repeats or changes something is not timed."""
    rows = mixed(12)
    agreement = Agreement(rows)

    def check(rows: list[Row], *, shuffled: bool = False, **other: Any) -> None:
        batches = [batch_of(rows[:-2]), batch_of(rows[-2:]) | other]
        agreement.check("way", reading(lambda: iter(batches), shuffled=shuffled))

    check(rows)
    check(rows[::-1], shuffled=True)
    with pytest.raises(Different, match="way: not shuffled"):
        check(rows, shuffled=True)
    with pytest.raises(Different, match="11 records of 12 rows; 1 rows are not among"):
        check(rows[:-1])
    with pytest.raises(Different, match="12 records of 12 rows; 1 rows are not among"):
        check([*rows[:-1], rows[0]])
    with pytest.raises(Different, match="2 rows are not among them"):
        check(rows, floats=np.zeros((2, 5), np.float32))
    with pytest.raises(Different, match="field 'label' is int32, expected int64"):
        check(rows, label=np.zeros(2, np.int32))


def test_a_way_may_deliver_some_fields() -> None:
    """What it does deliver is compared for all rows."""
    rows = mixed(3)
    some = {"floats": np.stack([row["floats"] for row in rows])}
    Agreement(rows).check("way", reading(lambda: iter([some]), shuffled=False))


def test_images_are_compared_as_pixels() -> None:
    """An encoded image is expected decoded, and in its new size."""
    rows = next(shape for shape in SHAPES if shape.name == "jpeg").rows(2)
    pixels = {"image": np.zeros((2, 224, 224, 3), np.uint8)}
    with pytest.raises(Different, match="2 rows are not among them"):
        Agreement(rows).check("way", reading(lambda: iter([pixels]), shuffled=False))


def test_a_profile_counts_what_an_operation_does_itself() -> None:
    """What goes on inside of it counts there; what comes later is next to it."""
    events = [
        Event("outer", 0, 100),
        Event("inner", 10, 30),
        Event("innermost", 10, 5),
        Event("inner", 50, 20),
        Event("later", 100, 7),
    ]
    own = {"outer": 50, "inner": 45, "innermost": 5, "later": 7}
    assert own_times(reversed(events)) == own


def test_operations_have_short_names() -> None:
    """Kernels by their kind, datasets by their last step."""
    assert operation("Parse/ParseExampleV2:ParseExampleV2") == "ParseExampleV2"
    assert operation("Iterator::Root::Batch::Shuffle#id=1#") == "dataset Shuffle"
    assert operation("MakeIterator::MapDataset") == "start of MapDataset"
    assert operation("ExecutorState::Process") == "ExecutorState::Process"
