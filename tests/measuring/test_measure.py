"""The harness of the benchmarks: rounds, ratios, tables and the document."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import generate, read, verify, write
from benchmarks.measure import by_clocks, figure, ratio, side_by_side
from benchmarks.program import Program
from benchmarks.report import Target, grid, replace_part

from .conftest import DOCUMENT


def test_ways_alternate_and_the_first_round_does_not_count() -> None:
    """No way always runs after the same one."""
    order: list[str] = []
    ways = {name: lambda name=name: order.append(name) for name in "abc"}
    times = side_by_side(ways, 2, lambda: order.append("|"))
    assert "".join(order) == "|c|b|a|a|b|c|c|b|a"
    assert [len(taken) for taken in times.values()] == [2, 2, 2]


def test_several_clocks_measure_the_same_runs() -> None:
    """Each has its own seconds for each way, of the rounds that count."""
    now = {"slow": 0.0, "fast": 0.0}

    def work() -> None:
        now["slow"] += 1
        now["fast"] += 3

    clocks = [lambda clock=clock: now[clock] for clock in now]
    slow, fast = by_clocks({"a": work, "b": work}, 2, clocks)
    assert slow == {"a": [1, 1], "b": [1, 1]}
    assert fast == {"a": [3, 3], "b": [3, 3]}


def test_ratios_compare_the_same_round() -> None:
    """A slow round does not change them."""
    found = ratio([2, 20, 200, 2000], [1, 10, 100, 1000])
    assert (found.low, found.median, found.high) == (2, 2, 2)
    spread = figure([5, 1, 3, 2, 4])
    assert (spread.low, spread.median, spread.high) == (2, 3, 4)


@pytest.mark.parametrize(
    ("at_most", "found", "verdict"),
    [
        (False, 4.9, "at least 5: **missed**"),
        (False, 5.0, "at least 5: reached"),
        (True, 5.0, "at most 5: reached"),
        (True, 5.1, "at most 5: **missed**"),
    ],
)
def test_a_goal_is_a_minimum_or_a_maximum(
    at_most: bool, found: float, verdict: str
) -> None:
    """A shape without a goal has only a ratio."""
    target = Target("slow", "fast", {"mix": 5}, at_most=at_most)
    assert target.cell("mix", figure([found])).endswith(f"), {verdict}")
    assert target.cell("jpeg", figure([found])).endswith(")")


def test_a_way_that_a_shape_does_not_have_leaves_its_cell_empty() -> None:
    """The other cells stay in their columns."""
    text = grid("way", {"mix": {"a": "1", "b": "2"}, "jpeg": {"b": "3"}})
    assert text.splitlines()[2:] == ["| a | 1 |  |", "| b | 2 | 3 |"]


def test_tables_go_between_their_marks(tmp_path: Path) -> None:
    """The rest of the document stays; a document without marks is refused."""
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


@pytest.mark.parametrize(
    ("option", "known"), [("--parts", "speed"), ("--shapes", "mix, vector")]
)
def test_unknown_names_are_refused_before_measuring(
    capsys: pytest.CaptureFixture[str], option: str, known: str
) -> None:
    """The message lists the known names."""
    with pytest.raises(SystemExit):
        write.PROGRAM.run([option, "speeed"])
    said = capsys.readouterr().err
    assert "no speeed; there are " in said
    assert known in said
