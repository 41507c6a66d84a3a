"""Whether a record costs the same among many records, and in many shards."""

from __future__ import annotations

from typing import Any

from ..measure import (
    Way,
    microseconds,
    side_by_side,
    without_waiting_for_the_disk,
)
from ..report import number, table
from ..setting import Setting, empty
from ..shapes import Row, batches_of
from .ours import Ours
from .shapes import SHAPES

_SHAPE = next(shape for shape in SHAPES if shape.name == "tabular")
_RECORDS = (1_000, 10_000, 100_000)
_SHARDS = (1, 16, 256)

# It is a question of twice as much, not of percents.
_ROUNDS = 3


def measure(setting: Setting) -> dict[str, Any]:
    """Write numbers of records, and one number of them in numbers of shards.

    Returns:
        Seconds in each round, with and without waiting for the disk: `records` by
        how many there were, `shards` by how many files `largest` records went to.
    """
    counts = [setting.count(count) for count in _RECORDS]
    rows = _SHAPE.rows(counts[-1])
    ours = Ours(setting.generated, _SHAPE.record)
    setting.say(f"{', '.join(map(str, counts))} records")
    records = {
        str(count): _seconds(setting, ours, rows[:count], None) for count in counts
    }
    setting.say(f"{', '.join(map(str, _SHARDS))} shards")
    shards = {str(many): _seconds(setting, ours, rows, many) for many in _SHARDS}
    return {"largest": counts[-1], "records": records, "shards": shards}


def _seconds(
    setting: Setting, ours: Ours, rows: list[Row], shards: int | None
) -> dict[str, list[float]]:
    batches = batches_of(rows, _SHAPE.batch)
    directory = setting.scratch / "data"

    def synced() -> None:
        ours.write_batches(batches, directory, shards)

    def unsynced() -> None:
        with without_waiting_for_the_disk():
            ours.write_batches(batches, directory, shards)

    ways: dict[str, Way] = {"synced": synced, "unsynced": unsynced}
    return side_by_side(
        ways, min(_ROUNDS, setting.rounds), lambda: empty(setting.scratch)
    )


def markdown(found: dict[str, Any]) -> str:
    """Return two tables: by records and by shards."""
    largest = found["largest"]
    records = [
        [f"{int(count):,}", *_cells(times, int(count))]
        for count, times in found["records"].items()
    ]
    shards = [
        [many, *_cells(times, largest)] for many, times in found["shards"].items()
    ]
    unit = "microseconds a record"
    return "\n".join(
        table([what, unit, f"{unit}, fsync left out"], rows)
        for what, rows in (
            ("records", records),
            (f"shards of {largest:,} records", shards),
        )
    )


def _cells(times: dict[str, list[float]], records: int) -> list[str]:
    return [
        number(microseconds(times[way], records).median)
        for way in ("synced", "unsynced")
    ]
