"""The cost of a record by number of records and of shards, and of compression."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .measure import (
    Times,
    Way,
    available,
    empty,
    figure,
    microseconds,
    ratio,
    side_by_side,
    without_fsync,
)
from .program import Part, Setting
from .records import WRITTEN, Row, Shape, batches_of
from .report import missing_lines, number, spread, table
from .writing import (
    BATCHES,
    Agreement,
    Ours,
    records_in,
    records_of,
    tensorflow,
    write_file,
)

GZIP_PEER = "tf.io.TFRecordWriter, given serialized records"

_RECORDS = (1_000, 10_000, 100_000)
_SHARDS = (1, 16, 256)

# The question is a factor of two, not a few percent.
_ROUNDS = 3


def _measure_scaling(setting: Setting) -> dict[str, Any]:
    """Write several numbers of records, and the largest in several numbers of shards."""
    shape = WRITTEN["tabular"]
    counts = [setting.count(count) for count in _RECORDS]
    rows = shape.rows(counts[-1])
    setting.say(f"{', '.join(map(str, counts))} records")
    records = {str(n): _synced_or_not(setting, shape, rows[:n]) for n in counts}
    setting.say(f"{', '.join(map(str, _SHARDS))} shards")
    shards = {
        str(many): _synced_or_not(setting, shape, rows, shards=many) for many in _SHARDS
    }
    return {"largest": counts[-1], "records": records, "shards": shards}


def _synced_or_not(
    setting: Setting, shape: Shape, rows: list[Row], **options: int
) -> Times:
    """Return seconds with and without fsync."""
    ours = Ours(setting.generated, shape.record)
    batches = batches_of(rows, shape.batch)
    write = partial(ours.write_batches, batches, setting.scratch / "data", **options)

    def unsynced() -> None:
        with without_fsync():
            write()

    ways: dict[str, Way] = {"synced": write, "unsynced": unsynced}
    rounds = min(_ROUNDS, setting.rounds)
    return side_by_side(ways, rounds, lambda: empty(setting.scratch))


def _scaling_tables(found: dict[str, Any]) -> str:
    largest = found["largest"]
    records = [
        [f"{int(count):,}", *_cells(times, int(count))]
        for count, times in found["records"].items()
    ]
    shards = [
        [many, *_cells(times, largest)] for many, times in found["shards"].items()
    ]
    units = ["microseconds a record", "microseconds a record, fsync left out"]
    by_shards = table([f"shards of {largest:,} records", *units], shards)
    return f"{table(['records', *units], records)}\n{by_shards}"


def _cells(times: Times, records: int) -> list[str]:
    return [number(microseconds(taken, records).median) for taken in times.values()]


def _measure_compression(setting: Setting) -> dict[str, Any]:
    """Write GZIP at level 6, for all shapes that are not compressed already."""
    found = {}
    for name in setting.shapes:
        if name != "jpeg":
            setting.say(f"{name}: GZIP")
            found[name] = _compress(setting, WRITTEN[name])
    return found


def _compress(setting: Setting, shape: Shape) -> dict[str, Any]:
    rows = shape.rows(setting.count(shape.count))
    batches = batches_of(rows, shape.batch)
    ours = Ours(setting.generated, shape.record)
    framed = list(ours.framed_batches(batches))
    records = list(records_of(framed))
    directory = setting.scratch / "data"

    def peer() -> Way:
        tensorflow()
        path = setting.scratch / "peer.tfrecord.gz"
        return partial(write_file, [records], path, "GZIP")

    write = partial(ours.write_batches, batches, directory, compression="GZIP")
    makers: dict[str, Callable[[], Way]] = {BATCHES: lambda: write, GZIP_PEER: peer}
    ways, missing = available(makers)
    agreement = Agreement(rows)
    sizes = {}
    for name, way in ways.items():
        empty(setting.scratch)
        way()
        files = sorted(setting.scratch.rglob("*.tfrecord*"))
        agreement.check(name, records_in(files, "GZIP"))
        sizes[name] = sum(file.stat().st_size for file in files)
    return {
        "bytes": sum(len(some.data) for some in framed),
        "compressed": sizes,
        "missing": missing,
        "seconds": side_by_side(ways, setting.rounds, lambda: empty(setting.scratch)),
    }


def _compression_tables(found: dict[str, Any]) -> str:
    rows = []
    for shape, result in found.items():
        size, times = result["bytes"], result["seconds"]
        for name in times:
            speed = size / figure(times[name]).median / 1e6
            share = result["compressed"][name] / size
            ours = name == BATCHES and GZIP_PEER in times
            faster = spread(ratio(times[GZIP_PEER], times[name])) if ours else ""
            rows.append([f"{shape}: {name}", number(speed), f"{share:.1%}", faster])
    head = ["GZIP, level 6", "MB/s", "size of the file", "how many times faster"]
    return "\n".join([table(head, rows), missing_lines(found)])


SCALING = Part(_measure_scaling, _scaling_tables)
COMPRESSION = Part(_measure_compression, _compression_tables)
