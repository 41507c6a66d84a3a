"""The speed of one process: ours against the peers, for records of five shapes."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from google_crc32c import value as crc32c

from ..generated import Generated
from ..measure import (
    Times,
    Way,
    available,
    exhausting,
    microseconds,
    ratio,
    side_by_side,
    without_waiting_for_the_disk,
)
from ..report import grid, number
from ..setting import Setting, empty
from ..shapes import Columns, Row, Shape, batches_of
from ..targets import Target
from . import peers
from .agreement import Agreement, records_in, records_of
from .ours import Ours
from .peers import Serialize
from .shapes import SHAPES
from .targets import (
    A_LISTS,
    BATCHES,
    FLOOR,
    IN_MEMORY,
    ROWS,
    TARGETS,
    TO_A_FILE,
    UNSYNCED,
    A,
    B,
    C,
    without_fsync,
)

SYNCED_FLOOR = "floor with fsync"


def measure(setting: Setting) -> dict[str, Any]:
    """Return what `measure_shape` finds, by the shape's name."""
    found = {}
    for shape in SHAPES:
        if shape.name in setting.shapes:
            setting.say(f"{shape.name}: all ways, {setting.rounds} rounds")
            found[shape.name] = measure_shape(
                shape,
                setting.generated,
                setting.scratch,
                rounds=setting.rounds,
                count=setting.count(shape.count),
            )
    return found


def measure_shape(
    shape: Shape, generated: Generated, scratch: Path, *, rounds: int, count: int
) -> dict[str, Any]:
    """Write records of one shape in all ways.

    Args:
        shape: of the records.
        generated: the code that writes ours.
        scratch: a directory for files, which is emptied.
        rounds: how many count.
        count: how many records a round writes.

    Returns:
        By measurement, the seconds of each way in each round; the size of a record;
        and what could not be measured.

    Raises:
        Different: a way does not write the records that it was given.
    """
    rows = shape.rows(count)
    batches = batches_of(rows, shape.batch)
    ours = Ours(generated, shape.record)
    agreement = Agreement(rows)
    serialize, missing = _peers(rows, batches, shape.batch)
    for name, peer in serialize.items():
        agreement.check(name, (record for some in peer() for record in some))
    agreement.check(BATCHES, records_of(ours.framed_batches(batches)))
    agreement.check(ROWS, records_of(ours.framed_rows(rows, shape.batch)))
    size = sum(len(framed.data) for framed in ours.framed_batches(batches)) / count

    memory: dict[str, Way] = {
        BATCHES: exhausting(partial(ours.framed_batches, batches)),
        ROWS: exhausting(partial(ours.framed_rows, rows, shape.batch)),
    }
    for name, peer in serialize.items():
        memory[name] = exhausting(peer)

    files = file_ways(ours, rows, batches, serialize, scratch)
    for name, way in files.items():
        empty(scratch)
        way()
        if not name.startswith(FLOOR):
            agreement.check(name, records_in(sorted(scratch.rglob("*.tfrecord"))))
    return {
        "records": count,
        "bytes a record": round(size, 1),
        "missing": missing,
        "seconds": {
            IN_MEMORY: side_by_side(memory, rounds),
            TO_A_FILE: side_by_side(files, rounds, lambda: empty(scratch)),
        },
    }


def _peers(
    rows: list[Row], batches: list[Columns], at_once: int
) -> tuple[dict[str, Serialize], list[str]]:
    makers: dict[str, Callable[[], Serialize]] = {
        A: lambda: peers.protobuf(rows, at_once),
        A_LISTS: lambda: peers.protobuf(rows, at_once, lists=True),
        B: lambda: peers.tfx_bsl(batches),
        C: lambda: peers.tfds(rows, at_once),
    }
    return available(makers)


def file_ways(
    ours: Ours,
    rows: list[Row],
    batches: list[Columns],
    serialize: dict[str, Serialize],
    scratch: Path,
) -> dict[str, Way]:
    def write_batches() -> None:
        ours.write_batches(batches, scratch / "data")

    def write_rows() -> None:
        ours.write_rows(rows, scratch / "data")

    def unsynced(way: Way) -> Way:
        def run() -> None:
            with without_waiting_for_the_disk():
                way()

        return run

    def peer(way: Serialize) -> Way:
        return lambda: peers.write_file(way(), scratch / "peer.tfrecord")

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
        **{name: peer(way) for name, way in serialize.items()},
        FLOOR: lambda: floor(sync=False),
        SYNCED_FLOOR: lambda: floor(sync=True),
    }


def markdown(found: dict[str, Any]) -> str:
    """Return tables: the time of each way, and the ratios next to their targets."""
    parts = []
    for measurement in (IN_MEMORY, TO_A_FILE):
        parts.append(_times(found, measurement))
        parts.append(_targets(found, measurement))
    missing = dict.fromkeys(
        line for result in found.values() for line in result["missing"]
    )
    parts += [f"{line}.\n" for line in missing]
    return "\n".join(parts)


def _times(found: dict[str, Any], measurement: str) -> str:
    columns = {}
    for shape, result in found.items():
        columns[shape] = {
            name: number(microseconds(times, result["records"]).median)
            for name, times in result["seconds"][measurement].items()
        }
        size = f"{result['bytes a record']:,.0f}"
        columns[shape]["bytes of a record, framed"] = size
    return grid(f"{measurement}: microseconds a record", columns)


def _targets(found: dict[str, Any], measurement: str) -> str:
    targets = []
    for target in TARGETS:
        if target.measurement == measurement:
            targets.append(target)
            if measurement == TO_A_FILE:
                targets.append(without_fsync(target))
    columns = {
        shape: {
            target.words: _cell(target, shape, result["seconds"][measurement])
            for target in targets
        }
        for shape, result in found.items()
    }
    return grid(f"{measurement}: how many times", columns)


def _cell(target: Target, shape: str, times: Times) -> str:
    if target.slow not in times:
        return "not measured"
    return target.verdict(shape, ratio(times[target.slow], times[target.fast]))
