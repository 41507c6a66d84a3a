"""Benchmark of reading: generated pipelines and their alternatives.

`make bench-read` runs it in an environment that has the alternatives:

    python -m benchmarks.read [--quick] [--parts speed,start] [--shapes mix,mix-16k]
        [--rounds 7] [--bytes 1e8] [--json FILE] [--document FILE]
"""

from __future__ import annotations

import math
import time
from typing import Any

from . import memory
from .agreement import Agreement
from .measure import Way, available, by_clocks, empty
from .program import Part, Program, Setting, keep_to_cores
from .read_start import START
from .read_training import FIT
from .read_ways import (
    A_FLOATS,
    C_SHUFFLED,
    DECODING,
    OURS,
    OURS_IN_ORDER,
    PLAIN,
    PLAIN_IN_ORDER,
    SHAPES,
    SPLIT,
    A,
    B,
    C,
    D,
    E,
    makers,
)
from .reading import CORES, ReadShape
from .report import Target, missing_lines, targets_table, times_table

TARGETS = (
    Target(A, OURS, {"mix": 6, "mix-1k": 0.9, "jpeg": 1, "tokens": 4}),
    Target(A_FLOATS, OURS, {}),
    Target(B, OURS, {"mix": 2, "mix-16k": 1.2}),
    Target(PLAIN, OURS, {"mix": 1, "jpeg": 1}),
    Target(PLAIN_IN_ORDER, OURS_IN_ORDER, {"mix": 1, "jpeg": 1}),
    Target(OURS, C, {}, at_most=True),
    Target(OURS, C_SHUFFLED, {}, at_most=True),
    Target(OURS_IN_ORDER, C, {}, at_most=True),
    Target(OURS, DECODING, {"jpeg": 1.25}, at_most=True),
    Target(D, OURS, {}),
    Target(OURS, E, {}, at_most=True),
    Target(OURS, SPLIT, {"mix": 4, "jpeg": 1}),
    Target(A, SPLIT, {"mix-1k": 5}),
)

_LEAST_SECONDS = 0.5


def measure(setting: Setting) -> dict[str, Any]:
    """Read the records of each shape in all ways."""
    found = {}
    for name in setting.shapes:
        setting.say(f"{name}: all ways, {setting.rounds} rounds")
        empty(setting.scratch)
        found[name] = measure_shape(setting, SHAPES[name])
        empty(setting.scratch)
    return found


def measure_shape(setting: Setting, shape: ReadShape) -> dict[str, Any]:
    """Read records of one shape in all ways.

    Every way reads all records before it is timed: its functions are traced, and the
    system has the files in memory.

    Returns:
        The number of records; seconds and processor seconds of an epoch, by way, in
        each round; and the ways that could not be measured.

    Raises:
        Different: a way does not deliver the records.
    """
    rows = shape.rows(setting.count(shape.count))
    ways, missing = available(makers(setting, shape, rows))
    agreement = Agreement(rows)
    for name, way in ways.items():
        agreement.check(name, way)
    least = _LEAST_SECONDS * min(1, setting.share)
    epochs = {name: _epochs(way.epoch, least) for name, way in ways.items()}
    timed = {name: _repeated(way.epoch, epochs[name]) for name, way in ways.items()}
    clocks = (time.perf_counter, time.process_time)
    wall, processor = (
        {name: [taken / epochs[name] for taken in times[name]] for name in times}
        for times in by_clocks(timed, setting.rounds, clocks)
    )
    return {
        "records": len(rows),
        "facts": {"records in an epoch": f"{len(rows):,}"},
        "missing": missing,
        "seconds": wall,
        "processor": processor,
    }


def _epochs(epoch: Way, least: float) -> int:
    """Return the number of epochs that take at least some seconds."""
    epoch()
    start = time.perf_counter()
    epoch()
    return math.ceil(least / (time.perf_counter() - start))


def _repeated(epoch: Way, times: int) -> Way:
    def way() -> None:
        for _ in range(times):
            epoch()

    return way


def markdown(found: dict[str, Any]) -> str:
    """Return tables of the times and of the ratios."""
    return "\n".join(
        [
            times_table("an epoch: microseconds a record", found, "seconds"),
            targets_table("how many times", found, "seconds", TARGETS),
            missing_lines(found),
        ]
    )


PROGRAM = Program(
    "read",
    "Measure reading, the start of epochs, training and memory, next to alternatives.",
    {
        "speed": Part(measure, markdown),
        "start": START,
        "fit": FIT,
        "memory": memory.READ,
    },
    tuple(SHAPES),
    bytes=1e8,
)

if __name__ == "__main__":
    keep_to_cores(CORES)
    PROGRAM.run()
