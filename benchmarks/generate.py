"""Benchmark of generating and checking code: next to other code generators.

`make bench-generate` runs it in an environment that has the alternatives:

    python -m benchmarks.generate [--quick] [--shapes 10,100,300,1000] [--rounds 7]
        [--json FILE] [--document FILE]
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from .generate_ways import (
    CHANGED,
    CHECK,
    GENERATE,
    IMPORTS,
    bytes_of,
    makers_of,
    see_all_fields,
)
from .measure import alternating, available, figure
from .program import Part, Program, Setting
from .report import grid, missing_lines, number, spread, verdict

GOALS = {(GENERATE, "100"): 2.0, (CHECK, "100"): 1.0}
"""Seconds, by way and number of schemas."""

GROWTH = 1.25
"""The largest ratio of the costs of the last schemas and of the first ones."""

_MEASURED = ("seconds", "processor", "memory")

Cells = Callable[[str, Mapping[str, Any]], dict[str, str]]


def measure(setting: Setting) -> dict[str, Any]:
    """Run all ways for each number of schemas."""
    found = {}
    for size in setting.shapes:
        setting.say(f"{size} schemas: all ways, {setting.rounds} rounds")
        found[size] = _measure_size(setting, int(size))
    return found


def _measure_size(setting: Setting, size: int) -> dict[str, Any]:
    """Run all ways in turns.

    Returns:
        The number of schemas; seconds, processor seconds and bytes of memory, by way,
        in each round; bytes generated; and the ways that could not be measured.

    Raises:
        Different: a way has left out a record or a field.
        RuntimeError: a way failed.
    """
    count = setting.count(size)
    root = setting.scratch / str(size)
    ways, missing = available(makers_of(root, count))
    taken: dict[str, dict[str, list[float]]] = {
        measured: {name: [] for name in ways} for measured in _MEASURED
    }
    generated = {name: 0 for name, way in ways.items() if way.output}
    for name, counts in alternating(list(ways), setting.rounds):
        way = ways[name]
        report = way.run()
        if counts:
            for measured in _MEASURED:
                taken[measured][name].append(report[measured])
        elif way.output:
            see_all_fields(name, way.directory / way.output, count)
            generated[name] = bytes_of(way.directory / way.output)
    shutil.rmtree(root)
    return {"schemas": count, **taken, "bytes": generated, "missing": missing}


def markdown(found: dict[str, Any]) -> str:
    """Return tables of times and growth."""

    def table(head: str, cells: Cells) -> str:
        columns = {f"{r['schemas']:,} schemas": cells(s, r) for s, r in found.items()}
        return grid(head, columns)

    parts = [
        table("seconds", _seconds),
        *([_growth(found)] if len(found) > 1 else []),
        missing_lines(found),
    ]
    return "\n".join(parts)


def _seconds(size: str, result: Mapping[str, Any]) -> dict[str, str]:
    cells = {}
    for way, times in result["seconds"].items():
        found = figure(times)
        goal = GOALS.get((way, size))
        text = spread(found)
        cells[way] = text if goal is None else verdict(text, found.median, goal)
    return cells


def _growth(found: dict[str, Any]) -> str:
    """Return the cost of each further schema, between one number and the next."""
    ways = next(iter(found.values()))["processor"]
    columns: dict[str, dict[str, str]] = {}
    costs: dict[str, list[float]] = {way: [] for way in ways if way != IMPORTS}
    for less, more in pairwise(found.values()):
        schemas = more["schemas"] - less["schemas"]
        head = f"from {less['schemas']:,} to {more['schemas']:,}"
        for way, each in costs.items():
            before, after = (figure(r["processor"][way]).median for r in (less, more))
            each.append((after - before) / schemas * 1e3)
            columns.setdefault(head, {})[way] = number(each[-1])
    for way in (GENERATE, CHANGED, CHECK) if len(found) > 2 else ():
        times = costs[way][-1] / costs[way][0]
        cell = verdict(number(times), times, GROWTH)
        columns.setdefault("the last over the first", {})[way] = cell
    return grid("milliseconds of the processor for a further schema", columns)


PROGRAM = Program(
    "generate",
    "Measure generating and checking code, by number of schemas.",
    {"speed": Part(measure, markdown)},
    ("10", "100", "300", "1000"),
    libraries=(
        "click",
        "jinja2",
        "numpy",
        "pydantic",
        "grpcio-tools",
        "datamodel-code-generator",
        "black",
        "isort",
    ),
)

if __name__ == "__main__":
    PROGRAM.run()
