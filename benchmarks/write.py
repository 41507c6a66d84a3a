"""Writing records: ours against what one would otherwise use, side by side.

Run by `make bench`, in an environment that has the peers:

    python -m benchmarks.write [--rounds 5] [--shapes mix,tabular] [--json FILE]
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import schemagen

from . import peers
from .measure import microseconds, ratio, side_by_side
from .shapes import SHAPES, Row, Shape, columns_of

HERE = Path(__file__).parent
PACKAGE = "bench_generated"
BATCH = 256
Times = dict[str, list[float]]


def generate(root: Path) -> None:
    """Generate the records' code into a directory, and let it be imported."""
    shutil.copytree(HERE / "schemas", root / "schemas")
    (root / "pyproject.toml").write_text(f'[tool.schemagen]\noutput = "{PACKAGE}"\n')
    schemagen.generate(root)
    sys.path.insert(0, str(root))


def batches_of(rows: list[Row]) -> list[dict[str, Any]]:
    """Return rows as batches of columns."""
    return [columns_of(rows[at : at + BATCH]) for at in range(0, len(rows), BATCH)]


def in_memory(shape: Shape, rows: list[Row], rounds: int) -> Times:
    """Time rows to bytes: ours framed as TFRecord, the peers' serialized alone."""
    serializer = importlib.import_module(f"{PACKAGE}.{shape.record}.serializer")
    frame = importlib.import_module(f"{PACKAGE}._support.tfrecord").frame
    batches = batches_of(rows)

    def ours_batches() -> list[bytes]:
        return [
            b"".join(map(frame, serializer.serialize_batch(**batch)))
            for batch in batches
        ]

    def ours_rows() -> list[bytes]:
        return [frame(serializer.serialize(**row)) for row in rows]

    return side_by_side(
        {
            "ours, batches": ours_batches,
            "ours, rows": ours_rows,
            "(a) tf.train.Example": peers.protobuf(rows),
            "(b) tfx-bsl": peers.tfx_bsl(columns_of(rows)),
            "(c) TFDS": peers.tfds(rows),
        },
        rounds,
    )


def to_a_file(shape: Shape, rows: list[Row], rounds: int, root: Path) -> Times:
    """Time rows to a closed file, over the floor of one write and its checksum."""
    from google_crc32c import value as crc32c

    serializer = importlib.import_module(f"{PACKAGE}.{shape.record}.serializer")
    frame = importlib.import_module(f"{PACKAGE}._support.tfrecord").frame
    batches = batches_of(rows)
    data = b"".join(frame(serializer.serialize(**row)) for row in rows)

    def writer(write: Callable[[Any], None]) -> Callable[[], None]:
        def run() -> None:
            with serializer.Writer(root / "data", "train", overwrite=True) as target:
                write(target)

        return run

    def ours_batches(target: Any) -> None:
        for batch in batches:
            target.write_batch(**batch)

    def ours_rows(target: Any) -> None:
        for row in rows:
            target.write(**row)

    def peer(serialize: Callable[[], list[bytes]]) -> Callable[[], None]:
        return lambda: peers.write_file(serialize(), root / "peer.tfrecord")

    def floor() -> None:
        with (root / "floor").open("wb") as file:
            file.write(data)
        crc32c(data)

    return side_by_side(
        {
            "ours, batches": writer(ours_batches),
            "ours, rows": writer(ours_rows),
            "(a) tf.train.Example": peer(peers.protobuf(rows)),
            "(b) tfx-bsl": peer(peers.tfx_bsl(columns_of(rows))),
            "floor": floor,
        },
        rounds,
    )


def summary(times: Times, records: int) -> dict[str, Any]:
    """Return microseconds a record for each way, and how many times faster ours are."""
    taken = {name: round(microseconds(t, records), 2) for name, t in times.items()}
    ratios = {
        f"{ours} against {peer}": round(ratio(times[peer], times[ours]), 2)
        for ours in ("ours, batches", "ours, rows")
        for peer in times
        if peer.startswith("(")
    }
    if "floor" in times:
        over = ratio(times["ours, batches"], times["floor"])
        ratios["ours, batches: times the floor"] = round(over, 2)
    return {"microseconds a record": taken, "ratios": ratios}


def table(results: dict[str, Any], measurement: str) -> str:
    """Return the results of one measurement as a table in Markdown."""
    shapes = list(results)
    first = results[shapes[0]][measurement]
    lines = [f"| {measurement} | {' | '.join(shapes)} |"]
    lines.append("| --- |" + " --- |" * len(shapes))
    for part, unit in (("microseconds a record", " (µs)"), ("ratios", "")):
        for name in first[part]:
            cells = [str(results[shape][measurement][part][name]) for shape in shapes]
            lines.append(f"| {name}{unit} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, and print tables; with --json write the numbers to a file too."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--shapes", default=",".join(shape.name for shape in SHAPES))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        generate(root)
        for shape in SHAPES:
            if shape.name not in options.shapes.split(","):
                continue
            rows = shape.rows()
            memory = in_memory(shape, rows, options.rounds)
            file = to_a_file(shape, rows, options.rounds, root)
            results[shape.name] = {
                "in memory": summary(memory, len(rows)),
                "to a closed file": summary(file, len(rows)),
            }
    for measurement in ("in memory", "to a closed file"):
        print(table(results, measurement))
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
