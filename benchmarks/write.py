"""Benchmark of writing: generated writers and their alternatives.

`make bench-write` runs it in an environment that has the alternatives:

    python -m benchmarks.write [--quick] [--parts speed,scaling] [--shapes mix,jpeg]
        [--rounds 7] [--bytes 4e9] [--json FILE] [--document FILE]
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from schemagen.runtime.native import crc32c

from . import memory, writing
from .measure import Way, available, empty, exhausting, side_by_side, without_fsync
from .program import Part, Program, Setting
from .records import WRITTEN, Columns, Row, Shape, batches_of
from .report import Target, missing_lines, targets_table, times_table
from .write_ranks import RANKS
from .write_scaling import COMPRESSION, SCALING
from .write_workers import WORKERS
from .writing import (
    A_LISTS,
    BATCHES,
    DATASET,
    ROWS,
    A,
    Agreement,
    B,
    C,
    Ours,
    Serialize,
    records_in,
    records_of,
)

FLOOR = "floor"
SYNCED_FLOOR = "floor with fsync"
UNSYNCED = ", fsync left out"
IN_MEMORY = "in memory"
TO_A_FILE = "to a closed file"


def _goals(*values: float) -> dict[str, float]:
    return dict(zip(WRITTEN, values, strict=True))


_FLOOR_GOALS = {"mix": 3, "vector": 1.8, "jpeg": 1.5}
_FILE_TARGETS = (
    Target(A, BATCHES, _goals(3.5, 20, 6, 6, 1.3)),
    Target(A, ROWS, _goals(2.5, 15, 2, 3, 1.2)),
    Target(A, DATASET, {"mix": 3, "tabular": 8}),
    Target(BATCHES, FLOOR, _FLOOR_GOALS, at_most=True),
)


def without_waiting(target: Target) -> Target:
    """Return a target with our time without fsync, which alternatives do not call."""
    if target.at_most:
        return replace(target, slow=target.slow + UNSYNCED)
    return replace(target, fast=target.fast + UNSYNCED)


TARGETS = {
    IN_MEMORY: (
        Target(A, BATCHES, _goals(5, 80, 8, 8, 4)),
        Target(A, ROWS, _goals(2.5, 40, 2.5, 4, 2)),
        Target(B, BATCHES, _goals(1, 2, 1.2, 1.2, 1.5)),
    ),
    TO_A_FILE: tuple(
        each for target in _FILE_TARGETS for each in (target, without_waiting(target))
    ),
}


def measure(setting: Setting) -> dict[str, Any]:
    """Write the records of each shape in all ways."""
    found = {}
    for name in setting.shapes:
        setting.say(f"{name}: all ways, {setting.rounds} rounds")
        found[name] = measure_shape(setting, WRITTEN[name])
    return found


def measure_shape(setting: Setting, shape: Shape) -> dict[str, Any]:
    """Write records of one shape in all ways.

    Returns:
        The number of records; seconds by way in each round, in memory and to a file;
        and the ways that could not be measured.

    Raises:
        Different: a way does not write the given records.
    """
    scratch, rounds = setting.scratch, setting.rounds
    rows = shape.rows(setting.count(shape.count))
    batches = batches_of(rows, shape.batch)
    ours = Ours(setting.generated, shape.record)
    agreement = Agreement(rows)
    serialize, missing = _peers(rows, batches, shape.batch)
    for name, peer in serialize.items():
        agreement.check(name, (record for some in peer() for record in some))
    framed = list(ours.framed_batches(batches))
    agreement.check(BATCHES, records_of(framed))
    agreement.check(ROWS, records_of(ours.framed_rows(rows, shape.batch)))
    size = sum(len(some.data) for some in framed) / len(rows)
    del framed

    in_memory: dict[str, Way] = {
        BATCHES: exhausting(partial(ours.framed_batches, batches)),
        ROWS: exhausting(partial(ours.framed_rows, rows, shape.batch)),
        **{name: exhausting(peer) for name, peer in serialize.items()},
    }
    to_a_file = file_ways(ours, rows, batches, serialize, scratch)
    for name, way in to_a_file.items():
        empty(scratch)
        way()
        if not name.startswith(FLOOR):
            agreement.check(name, records_in(sorted(scratch.rglob("*.tfrecord"))))
    return {
        "records": len(rows),
        "facts": {"bytes of a record, framed": f"{size:,.0f}"},
        "missing": missing,
        IN_MEMORY: side_by_side(in_memory, rounds),
        TO_A_FILE: side_by_side(to_a_file, rounds, lambda: empty(scratch)),
    }


def _peers(
    rows: list[Row], batches: list[Columns], at_once: int
) -> tuple[dict[str, Serialize], list[str]]:
    makers: dict[str, Callable[[], Serialize]] = {
        A: lambda: writing.protobuf(rows, at_once),
        A_LISTS: lambda: writing.protobuf(rows, at_once, lists=True),
        B: lambda: writing.tfx_bsl(batches),
        C: lambda: writing.tfds(rows, at_once),
    }
    return available(makers)


def file_ways(
    ours: Ours,
    rows: list[Row],
    batches: list[Columns],
    serialize: dict[str, Serialize],
    scratch: Path,
) -> dict[str, Way]:
    """Return all ways of writing a closed file into an empty directory."""
    directory = scratch / "data"
    write_batches = partial(ours.write_batches, batches, directory)
    write_rows = partial(ours.write_rows, rows, directory)
    write_dataset = partial(ours.write_dataset, rows, directory)

    def unsynced(way: Way) -> Way:
        def run() -> None:
            with without_fsync():
                way()

        return run

    def peer(way: Serialize) -> Way:
        return lambda: writing.write_file(way(), scratch / "peer.tfrecord")

    data = b"".join(framed.data for framed in ours.framed_batches(batches))

    def floor(*, sync: bool) -> None:
        with (scratch / "floor").open("wb", buffering=0) as file:
            file.write(data)
            if sync:
                os.fsync(file.fileno())
        crc32c(data)

    return {
        BATCHES: write_batches,
        BATCHES + UNSYNCED: unsynced(write_batches),
        ROWS: write_rows,
        ROWS + UNSYNCED: unsynced(write_rows),
        DATASET: write_dataset,
        DATASET + UNSYNCED: unsynced(write_dataset),
        **{name: peer(way) for name, way in serialize.items()},
        FLOOR: partial(floor, sync=False),
        SYNCED_FLOOR: partial(floor, sync=True),
    }


def markdown(found: dict[str, Any]) -> str:
    """Return tables of the times and of the ratios, in memory and to a file."""
    parts = []
    for where, targets in TARGETS.items():
        parts.append(times_table(f"{where}: microseconds a record", found, where))
        parts.append(targets_table(f"{where}: how many times", found, where, targets))
    return "\n".join([*parts, missing_lines(found)])


PROGRAM = Program(
    "write",
    "Measure writing next to alternatives, its scaling, workers and memory.",
    {
        "speed": Part(measure, markdown),
        "scaling": SCALING,
        "workers": WORKERS,
        "ranks": RANKS,
        "compression": COMPRESSION,
        "memory": memory.WRITE,
    },
    tuple(WRITTEN),
    bytes=4e9,
)

if __name__ == "__main__":
    PROGRAM.run()
