"""The cost of a shard by the number of shards, where ranks write the split."""

from __future__ import annotations

from typing import Any

from .measure import Way, empty, figure, side_by_side, without_fsync
from .program import Part, Setting
from .records import WRITTEN, Repeated
from .report import number, table

_SHARDS = (20, 200, 2_000, 20_000)
_ROWS_A_SHARD = 2
_ROUNDS = 3


def measure(setting: Setting) -> dict[str, Any]:
    """Write and publish tiny shards; return seconds in each round, by their number."""
    shape = WRITTEN["tabular"]
    rows = shape.rows(64)
    serializer = setting.generated.module(f"{shape.record}.serializer")
    shards = [setting.count(many) for many in _SHARDS]

    def way(many: int, *, synced: bool) -> Way:
        source = Repeated(rows, many * _ROWS_A_SHARD)

        def write() -> None:
            directory = setting.scratch / "data"
            plan = serializer.plan_dataset(
                directory, "train", shards=many, rows=len(source)
            )
            serializer.write_parts(source, plan, part=(0, 1))
            serializer.publish(plan)

        def unsynced() -> None:
            with without_fsync():
                write()

        return write if synced else unsynced

    setting.say(f"{', '.join(map(str, shards))} shards of {_ROWS_A_SHARD} records")
    rounds = min(_ROUNDS, setting.rounds)
    found = {}
    for synced in (True, False):
        ways = {str(many): way(many, synced=synced) for many in shards}
        times = side_by_side(ways, rounds, lambda: empty(setting.scratch))
        found["synced" if synced else "unsynced"] = times
    return {"seconds": found}


def markdown(found: dict[str, Any]) -> str:
    """Return a table by the number of shards."""
    synced, unsynced = found["seconds"].values()
    rows = [
        [
            f"{int(many):,}",
            *(_each(times[many], int(many)) for times in (synced, unsynced)),
        ]
        for many in synced
    ]
    unit = "milliseconds a shard"
    head = [f"shards of {_ROWS_A_SHARD} records", unit, f"{unit}, fsync left out"]
    return table(head, rows)


def _each(times: list[float], many: int) -> str:
    return number(figure(times).median / many * 1e3)


RANKS = Part(measure, markdown)
