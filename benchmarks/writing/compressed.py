"""Compressing while writing: ours on threads against tensorflow's writer."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from ..measure import Times, Way, available, figure, ratio, side_by_side
from ..report import number, spread, table
from ..setting import Setting, empty
from ..shapes import Columns, Shape, batches_of
from . import peers
from .agreement import Agreement, records_in, records_of
from .ours import Ours
from .shapes import SHAPES
from .targets import BATCHES

PEER = "tf.io.TFRecordWriter, given serialized records"
_SHAPES = ("mix", "vector", "tabular", "tokens")


def measure(setting: Setting) -> dict[str, Any]:
    """Write GZIP at level 6, for all shapes but what is compressed already.

    Returns:
        By shape: bytes before, bytes after by way, and seconds in each round; and
        what could not be measured.
    """
    found = {}
    for shape in SHAPES:
        if shape.name in setting.shapes and shape.name in _SHAPES:
            setting.say(f"{shape.name}: GZIP")
            found[shape.name] = _measure_shape(setting, shape)
    return found


def _measure_shape(setting: Setting, shape: Shape) -> dict[str, Any]:
    rows = shape.rows(setting.count(shape.count))
    batches = batches_of(rows, shape.batch)
    ours = Ours(setting.generated, shape.record)
    records = list(records_of(ours.framed_batches(batches)))

    def our_way() -> Way:
        return partial(_write, ours, batches, setting.scratch / "data")

    def peer() -> Way:
        peers.tensorflow()
        path = setting.scratch / "peer.tfrecord.gz"
        return partial(peers.write_file, [records], path, "GZIP")

    ways, missing = available({BATCHES: our_way, PEER: peer})
    agreement = Agreement(rows)
    sizes = {}
    for name, way in ways.items():
        empty(setting.scratch)
        way()
        files = sorted(setting.scratch.rglob("*.tfrecord*"))
        agreement.check(name, records_in(files, "GZIP"))
        sizes[name] = sum(file.stat().st_size for file in files)
    times: Times = side_by_side(ways, setting.rounds, lambda: empty(setting.scratch))
    framed = sum(len(framed.data) for framed in ours.framed_batches(batches))
    return {"bytes": framed, "compressed": sizes, "missing": missing, "seconds": times}


def _write(ours: Ours, batches: list[Columns], directory: Path) -> None:
    writer = ours.serializer.Writer(directory, "train", compression="GZIP")
    with writer:
        for batch in batches:
            writer.write_batch(**batch)


def markdown(found: dict[str, Any]) -> str:
    """Return a table by shape."""
    rows = []
    for shape, result in found.items():
        size, times = result["bytes"], result["seconds"]
        for name in times:
            speed = size / figure(times[name]).median / 1e6
            share = result["compressed"][name] / size
            cells = [number(speed), f"{share:.1%}"]
            last = spread(ratio(times[PEER], times[name])) if PEER in times else ""
            rows.append([f"{shape}: {name}", *cells, "" if name == PEER else last])
    head = ["GZIP, level 6", "MB/s", "size of the file", "how many times faster"]
    missing = dict.fromkeys(
        line for result in found.values() for line in result["missing"]
    )
    return "\n".join([table(head, rows), *(f"{line}.\n" for line in missing)])
