"""What whole processes take that generate or check, by the number of schemas."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from ..measure import available, figure, ratio, turns
from ..report import grid, number, spread
from ..setting import Setting
from .agreement import bytes_of, see_all_fields
from .targets import (
    B_BUILTIN,
    B_CHECK,
    CHANGED,
    CHECK,
    GENERATE,
    GOALS,
    GROWTH,
    IMPORTS,
    A,
    B,
)
from .ways import makers_of

SIZES = ("10", "100", "300", "1000")
"""How many schemas there are in a full run."""

_MEASURED = ("seconds", "processor", "memory")


def measure(setting: Setting) -> dict[str, Any]:
    """Run every way for each number of schemas.

    Returns:
        By number of schemas in a full run, what `_measure_size` does.
    """
    found = {}
    for size in setting.shapes:
        setting.say(f"{size} schemas: all ways, {setting.rounds} rounds")
        found[size] = _measure_size(setting, int(size))
    return found


def _measure_size(setting: Setting, size: int) -> dict[str, Any]:
    """Run every way in turns.

    Returns:
        How many schemas there were; seconds, seconds of the processor and the most
        bytes that were resident, by way, in each round; how many bytes each has
        generated; and what could not be measured.

    Raises:
        Different: a way has left out a record or a field.
        RuntimeError: a way failed, with what it said.
    """
    count = setting.count(size)
    root = setting.scratch / str(size)
    ways, missing = available(makers_of(root, count))
    taken: dict[str, dict[str, list[float]]] = {
        measured: {name: [] for name in ways} for measured in _MEASURED
    }
    generated = {name: 0 for name, way in ways.items() if way.output}
    for name, counts in turns(list(ways), setting.rounds):
        way = ways[name]
        job = way.run()
        if counts:
            for measured in _MEASURED:
                taken[measured][name].append(job[measured])
        elif way.output:
            see_all_fields(name, way.directory / way.output, count)
            generated[name] = bytes_of(way.directory / way.output)
    shutil.rmtree(root)
    return {"schemas": count, **taken, "bytes": generated, "missing": missing}


def markdown(found: dict[str, Any]) -> str:
    """Return tables: times, ratios, what a further schema costs, memory and size."""
    parts = [
        grid("seconds", _columns(found, _seconds)),
        grid("seconds of the processor", _columns(found, _processor)),
        grid("how many times", _columns(found, _ratios)),
    ]
    if len(found) > 1:
        parts.append(_growth(found))
    parts += [
        grid("MB resident at most", _columns(found, _memory)),
        grid("kB generated for a schema", _columns(found, _kilobytes)),
    ]
    missing = dict.fromkeys(
        line for result in found.values() for line in result["missing"]
    )
    return "\n".join([*parts, *(f"- {line}" for line in missing)])


def _columns(found: dict[str, Any], cells: Any) -> dict[str, dict[str, str]]:
    return {
        f"{result['schemas']:,} schemas": cells(size, result)
        for size, result in found.items()
    }


def _seconds(size: str, result: Mapping[str, Any]) -> dict[str, str]:
    return {
        way: _verdict(spread(figure(times)), figure(times).median, (way, size))
        for way, times in result["seconds"].items()
    }


def _verdict(text: str, found: float, goal: tuple[str, str]) -> str:
    """Return a time with its goal, if there is one, and whether it is reached."""
    if goal not in GOALS:
        return text
    reached = "reached" if found <= GOALS[goal] else "**missed**"
    return f"{text}, at most {GOALS[goal]:g}: {reached}"


def _processor(_: str, result: Mapping[str, Any]) -> dict[str, str]:
    times = result["processor"].items()
    return {way: spread(figure(seconds)) for way, seconds in times}


def _ratios(_: str, result: Mapping[str, Any]) -> dict[str, str]:
    seconds: Mapping[str, Sequence[float]] = result["seconds"]
    cells = {}
    for ours, peer in ((GENERATE, A), (GENERATE, B), (GENERATE, B_BUILTIN)):
        if peer in seconds:
            over = spread(ratio(seconds[ours], seconds[peer]))
            cells[f"{ours}: time over that of {peer}"] = over
    if B_CHECK in seconds:
        over = spread(ratio(seconds[CHECK], seconds[B_CHECK]))
        cells[f"{CHECK}: time over that of {B_CHECK}"] = over
    return cells


def _growth(found: dict[str, Any]) -> str:
    """Return what each further schema costs, between one number and the next."""
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
        verdict = "reached" if times <= GROWTH else "**missed**"
        cell = f"{number(times)}, at most {GROWTH:g}: {verdict}"
        columns.setdefault("the last over the first", {})[way] = cell
    return grid("milliseconds of the processor for a further schema", columns)


def _memory(_: str, result: Mapping[str, Any]) -> dict[str, str]:
    memory = result["memory"].items()
    return {way: number(max(most) / 1e6) for way, most in memory}


def _kilobytes(_: str, result: Mapping[str, Any]) -> dict[str, str]:
    generated = result["bytes"].items()
    return {way: number(size / result["schemas"] / 1e3) for way, size in generated}
