"""The benchmarks run, say what they could not measure, and compare what they claim."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import generate, read, verify, write
from benchmarks.generated import Generated
from benchmarks.measure import Different, by_clocks, figure, ratio, side_by_side
from benchmarks.program import Program
from benchmarks.report import grid, replace_part
from benchmarks.shapes import Row, batches_of
from benchmarks.writing import speed
from benchmarks.writing.agreement import Agreement, records_of
from benchmarks.writing.ours import Ours
from benchmarks.writing.peers import protobuf
from benchmarks.writing.shapes import SHAPES
from benchmarks.writing.targets import (
    BATCHES,
    FLOOR,
    IN_MEMORY,
    ROWS,
    TARGETS,
    TO_A_FILE,
    A,
    B,
    C,
    without_fsync,
)

DOCUMENT = Path(__file__).parents[2] / "docs" / "benchmarks.md"


@pytest.fixture
def without_peers(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment as `make test` makes it, which has tensorflow alone."""
    for name in ("tfx_bsl", "tfx_bsl.coders.example_coder", "tensorflow_datasets"):
        monkeypatch.setitem(sys.modules, name, None)


def run(tmp_path: Path, *options: str) -> tuple[dict[str, Any], str]:
    """Measure next to nothing; return the results and the document with the tables."""
    document = tmp_path / "benchmarks.md"
    shutil.copy(DOCUMENT, document)
    results = tmp_path / "results" / "write.json"
    few = ("--rounds", "1", "--share", "0.005", "--bytes", "1e6")
    write.PROGRAM.run(
        [*few, *options, "--json", str(results), "--document", str(document)]
    )
    return json.loads(results.read_text()), document.read_text()


def rows_of_tables(text: str) -> list[list[str]]:
    """Return the cells of every line of a table, and see that tables are square."""
    rows: list[list[str]] = []
    before = ""
    for line in text.splitlines():
        if line.startswith("|"):
            cells = line.replace(r"\|", "").strip("|").split("|")
            if before.startswith("|"):
                assert len(cells) == len(rows[-1]), line
            rows.append([cell.strip() for cell in cells])
        before = line
    return rows


@pytest.mark.slow
@pytest.mark.usefixtures("without_peers")
def test_every_way_that_can_be_measured_is(tmp_path: Path) -> None:
    """Missing peers are named with what to do; all others have a time in each round."""
    found, text = run(tmp_path, "--parts", "speed,compression")
    assert set(found) == {"conditions", "speed", "compression"}
    assert list(found["speed"]) == [shape.name for shape in SHAPES]
    for result in found["speed"].values():
        measured = result["seconds"]
        assert {A, BATCHES, ROWS} <= set(measured[IN_MEMORY])
        assert {A, BATCHES, ROWS, FLOOR} <= set(measured[TO_A_FILE])
        assert not {B, C} & {*measured[IN_MEMORY], *measured[TO_A_FILE]}
        for times in (*measured[IN_MEMORY].values(), *measured[TO_A_FILE].values()):
            assert len(times) == 1
            assert times[0] > 0
    assert "(b) tfx-bsl is left out: " in text
    assert "`make bench` sets up an environment that has it" in text
    rows = {row[0]: row[1:] for row in rows_of_tables(text)}
    for target in TARGETS:
        for cell, shape in zip(rows[target.words], SHAPES, strict=True):
            if target.slow == B:
                assert cell == "not measured"
            elif shape.name in target.goals:
                assert cell.endswith((": reached", ": **missed**"))
            else:
                assert cell.endswith(")")
    for result in found["compression"].values():
        assert all(0 < size < result["bytes"] for size in result["compressed"].values())


def test_numbers_of_records_and_shards_and_profiles(tmp_path: Path) -> None:
    """The tables have a line for each number, and for the lines that take the time."""
    chosen = ("--parts", "scaling,profile", "--shapes", "mix")
    found, text = run(tmp_path, *chosen)
    assert list(found["scaling"]["records"]) == ["5", "50", "500"]
    assert list(found["scaling"]["shards"]) == ["1", "16", "256"]
    rows = [row[0] for row in rows_of_tables(text)]
    assert {"5", "50", "500", "1", "16", "256"} <= set(rows)
    for profile in found["profile"]["mix"].values():
        shares = [line[0] for line in profile["lines"]]
        assert shares == sorted(shares, reverse=True)
        assert 0 < sum(shares) <= 1 + 1e-9


@pytest.mark.slow
def test_processes_and_memory(tmp_path: Path) -> None:
    """Each source is written with one worker and two; each mode says what it took."""
    found, text = run(tmp_path, "--parts", "workers,memory")
    assert len(found["workers"]["seconds"]) == 4
    for times in found["workers"]["seconds"].values():
        assert set(times) == {"1", "2"}
    assert list(found["memory"]) == [
        "batches",
        "rows",
        "GZIP",
        "two workers",
        "shuffled",
    ]
    for jobs in found["memory"].values():
        assert list(jobs) == ["100000", "1000000"]
        for job in jobs.values():
            assert 10e6 < job["process"] < 1e9
    assert found["memory"]["two workers"]["1000000"]["largest worker"] > 10e6
    # The document has such a row of reading too, behind that of writing.
    modes = [row[2] for row in rows_of_tables(text) if row[0] == "shuffled"]
    assert modes[0].endswith((": reached", ": **missed**"))


def test_arguments_that_name_nothing_are_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A part or shape that there is not ends the program before it measures."""
    for option, there in (("--parts", "speed"), ("--shapes", "mix, vector")):
        with pytest.raises(SystemExit):
            write.PROGRAM.run([option, "speeed"])
        said = capsys.readouterr().err
        assert "no speeed; there are " in said
        assert there in said


def test_other_values_are_not_timed(tmp_path: Path) -> None:
    """A way that loses a row, or changes a value, stops the measurement."""
    (shape,) = (shape for shape in SHAPES if shape.name == "mix")
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
    with pytest.raises(
        Different, match=r"turned: record 0: feature '.*' has other values"
    ):
        agreement.check("turned", written[::-1])
    other: Row = rows[1] | {"floats": np.zeros(5, np.float32)}
    with pytest.raises(Different, match="record 1: feature 'floats'"):
        Agreement([rows[0], other, rows[2]]).check("ours", written)


def test_the_order_turns_around_and_one_round_does_not_count() -> None:
    """No way always comes after the same one."""
    order: list[str] = []
    ways = {name: lambda name=name: order.append(name) for name in "abc"}
    times = side_by_side(ways, 2, lambda: order.append("|"))
    assert "".join(order) == "|c|b|a|a|b|c|c|b|a"
    assert [len(taken) for taken in times.values()] == [2, 2, 2]


def test_clocks_are_read_around_the_same_runs() -> None:
    """Each has its own numbers for each way, of the rounds that count."""
    now = {"slow": 0.0, "fast": 0.0}

    def work() -> None:
        now["slow"] += 1
        now["fast"] += 3

    clocks = [lambda clock=clock: now[clock] for clock in now]
    slow, fast = by_clocks({"a": work, "b": work}, 2, clocks)
    assert slow == {"a": [1, 1], "b": [1, 1]}
    assert fast == {"a": [3, 3], "b": [3, 3]}


def test_a_way_that_a_shape_does_not_have_leaves_its_cell_empty() -> None:
    """The others stay in their columns."""
    text = grid("way", {"mix": {"a": "1", "b": "2"}, "jpeg": {"b": "3"}})
    assert rows_of_tables(text)[2:] == [["a", "1", ""], ["b", "2", "3"]]


def test_ratios_compare_the_same_round() -> None:
    """What slows down a whole round does not change them."""
    found = ratio([2, 20, 200, 2000], [1, 10, 100, 1000])
    assert (found.low, found.median, found.high) == (2, 2, 2)
    spread = figure([5, 1, 3, 2, 4])
    assert (spread.low, spread.median, spread.high) == (2, 3, 4)


def test_a_target_may_be_the_least_or_the_most() -> None:
    """Ratios reach a goal from above, times over the floor from below."""
    least, most = TARGETS[0], TARGETS[-1]
    assert [least.reached("mix", found) for found in (4.9, 5.0)] == [False, True]
    assert [most.reached("mix", found) for found in (3.1, 3.0)] == [False, True]
    assert most.reached("tabular", 1000.0) is None
    assert without_fsync(most).slow == "ours, batches, fsync left out"
    assert without_fsync(least).fast == "ours, batches, fsync left out"


def test_tables_go_between_their_marks(tmp_path: Path) -> None:
    """The rest of the document stays; one without marks is refused."""
    document = tmp_path / "page.md"
    end = "<!-- end of what was measured -->"
    page = f"a\n<!-- measured: x -->\nold\n{end}\nb\n<!-- measured: y -->\n{end}\n"
    document.write_text(page)
    replace_part(document, "x", "| \\1 |\n")
    assert document.read_text() == page.replace("old", "| \\1 |")
    with pytest.raises(ValueError, match="0 places for the results of 'z'"):
        replace_part(document, "z", "")


@pytest.mark.parametrize(
    "program", [write.PROGRAM, read.PROGRAM, verify.PROGRAM, generate.PROGRAM]
)
def test_every_part_has_a_place_in_the_documentation(program: Program) -> None:
    """`make bench OPTIONS="--document docs/benchmarks.md"` finds where to write."""
    text = DOCUMENT.read_text(encoding="utf-8")
    for part in ("conditions", *program.parts):
        assert text.count(f"<!-- measured: {program.mark(part)} -->\n") == 1


def test_fsync_is_left_out_only_where_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our writer waits for the disk in the line that is compared with the targets."""
    waited: list[int] = []
    monkeypatch.setattr("os.fsync", waited.append)
    (shape,) = (shape for shape in SHAPES if shape.name == "tabular")
    ours = Ours(Generated(tmp_path / "project"), shape.record)
    rows = shape.rows(4)
    batches = batches_of(rows, 2)
    ways = speed.file_ways(ours, rows, batches, {}, tmp_path / "scratch")
    syncing = {}
    for name, way in ways.items():
        speed.empty(tmp_path / "scratch")
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
