"""The speed of an epoch: ours against the peers, for records of three shapes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..measure import Times, Way, available, by_clocks, microseconds, ratio
from ..report import grid, number
from ..setting import Setting, empty
from ..shapes import Row
from . import ours, peers
from .agreement import Agreement
from .shapes import SHAPES, ReadShape
from .targets import (
    A_FLOATS,
    C_SHUFFLED,
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
from .ways import Reading

_LEAST_SECONDS = 0.5


def measure(setting: Setting) -> dict[str, Any]:
    """Return what `measure_shape` finds, by the shape's name."""
    found = {}
    for shape in SHAPES:
        if shape.name in setting.shapes:
            setting.say(f"{shape.name}: all ways, {setting.rounds} rounds")
            empty(setting.scratch)
            found[shape.name] = measure_shape(setting, shape)
            empty(setting.scratch)
    return found


def measure_shape(setting: Setting, shape: ReadShape) -> dict[str, Any]:
    """Read records of one shape in all ways.

    Every way reads all records at least once before it is timed: its functions are
    traced, and the system has the files in memory.

    Returns:
        How many records an epoch has, and how many epochs each way was timed for in
        a round; seconds and seconds of the processor an epoch, by way, in each round;
        and what could not be measured.

    Raises:
        Different: a way does not deliver the records that were written.
    """
    rows = shape.rows(setting.count(shape.count))
    ways, missing = available(makers(setting, shape, rows, setting.scratch / "data"))
    agreement = Agreement(rows)
    for name, reading in ways.items():
        agreement.check(name, reading)
    epochs = {
        name: _epochs(reading.epoch, _LEAST_SECONDS * min(1, setting.share))
        for name, reading in ways.items()
    }
    timed = {
        name: _repeated(reading.epoch, epochs[name]) for name, reading in ways.items()
    }
    clocks = (time.perf_counter, time.process_time)
    wall, processor = (
        {name: [taken / epochs[name] for taken in times[name]] for name in times}
        for times in by_clocks(timed, setting.rounds, clocks)
    )
    return {
        "records": len(rows),
        "epochs": epochs,
        "missing": missing,
        "seconds": wall,
        "processor": processor,
    }


def makers(
    setting: Setting, shape: ReadShape, rows: list[Row], directory: Path
) -> Mapping[str, Callable[[], Reading]]:
    """Write the records, and return what prepares each way of reading them."""
    files = ours.write(setting.generated, shape, rows, directory)

    def read(training: bool) -> Reading:
        return ours.read(setting.generated, shape, directory, training=training)

    ways: dict[str, Callable[[], Reading]] = {
        OURS: lambda: read(training=True),
        OURS_IN_ORDER: lambda: read(training=False),
        A: lambda: peers.tutorials(files, shape),
    }
    if shape.name == "jpeg":
        return ways | {
            A_FLOATS: lambda: peers.tutorials_with_floats(files, shape),
            DECODING: lambda: peers.decoding(rows),
        }
    return ways | {
        B: lambda: peers.batched_features(files, shape),
        C: lambda: peers.records(files, shape),
        C_SHUFFLED: lambda: peers.records(files, shape, shuffle=True),
        D: lambda: peers.tfds(directory, rows, shape),
        E: lambda: peers.in_memory(rows, shape),
    }


def _epochs(epoch: Way, least: float) -> int:
    """Return how many epochs take long enough to be timed."""
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
    """Return tables: the time of each way by both clocks, and ratios with targets."""
    targets = {
        shape: {
            target.words: target.verdict(shape, ratio(times[slow], times[fast]))
            for target in TARGETS
            if (slow := target.slow) in times and (fast := target.fast) in times
        }
        for shape, times in ((shape, found[shape]["seconds"]) for shape in found)
    }
    missing = dict.fromkeys(
        line for result in found.values() for line in result["missing"]
    )
    return "\n".join(
        [
            _times("an epoch: microseconds a record", found, "seconds"),
            _times("microseconds of all cores a record", found, "processor"),
            grid("how many times", targets),
            *(f"{line}.\n" for line in missing),
        ]
    )


def _times(head: str, found: dict[str, Any], clock: str) -> str:
    columns = {}
    for shape, result in found.items():
        times: Times = result[clock]
        columns[shape] = {"records in an epoch": f"{result['records']:,}"} | {
            name: number(microseconds(taken, result["records"]).median)
            for name, taken in times.items()
        }
    return grid(head, columns)
