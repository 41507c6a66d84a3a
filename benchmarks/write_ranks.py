"""The cost of a shard by the number of shards, where ranks write the split."""

from __future__ import annotations

from typing import Any

from .measure import Way, empty, figure, side_by_side
from .program import Part, Setting
from .records import WRITTEN
from .report import number, table

_SHARDS = (20, 200, 2_000, 20_000)
_ROWS_A_SHARD = 2
_ROUNDS = 3


class _Rows:
    """A few rows, again and again."""

    def __init__(self, rows: list[dict[str, Any]], length: int) -> None:
        self._rows = rows
        self._length = length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: int) -> dict[str, Any]:
        return self._rows[index % len(self._rows)]


def measure(setting: Setting) -> dict[str, Any]:
    """Write and publish tiny shards; return seconds in each round, by their number."""
    shape = WRITTEN["tabular"]
    rows = shape.rows(64)
    serializer = setting.generated.module(f"{shape.record}.serializer")
    shards = [setting.count(many) for many in _SHARDS]

    def way(many: int) -> Way:
        source = _Rows(rows, many * _ROWS_A_SHARD)

        def write() -> None:
            directory = setting.scratch / "data"
            plan = serializer.plan_dataset(
                directory, "train", shards=many, rows=len(source)
            )
            serializer.write_parts(source, plan, part=(0, 1))
            serializer.publish(plan)

        return write

    setting.say(f"{', '.join(map(str, shards))} shards of {_ROWS_A_SHARD} records")
    ways = {str(many): way(many) for many in shards}
    rounds = min(_ROUNDS, setting.rounds)
    return {"seconds": side_by_side(ways, rounds, lambda: empty(setting.scratch))}


def markdown(found: dict[str, Any]) -> str:
    """Return a table by the number of shards."""
    rows = []
    for many, times in found["seconds"].items():
        taken = figure(times).median
        rows.append([f"{int(many):,}", number(taken), number(taken / int(many) * 1e3)])
    head = [f"shards of {_ROWS_A_SHARD} records", "seconds", "milliseconds a shard"]
    return table(head, rows)


RANKS = Part(measure, markdown)
