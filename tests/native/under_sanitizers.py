"""Calls of the core with hostile bytes, run by a test with a core that sanitizers watch.

    python under_sanitizers.py CORE SECONDS SEED

Each array is memory of its own, so that reading a byte behind it is found. The seed of a
batch is printed before the batch, and is the last line when a sanitizer ends the program.
"""

from __future__ import annotations

import ctypes
import random
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]


def load(core: str) -> None:
    """Import the binding with another core."""
    own = ctypes.CDLL
    ctypes.CDLL = lambda path: own(core)  # type: ignore[assignment, misc]
    import schemagen.runtime.native
    from schemagen.runtime.native import memory

    ctypes.CDLL = own  # type: ignore[misc]
    assert schemagen.runtime.native.core._name == core
    memory._SMALLEST = 1 << 62


def own(data: bytes) -> Any:
    """Return bytes in memory that is no longer than they are."""
    return np.array(bytearray(data), np.uint8)


def run(seed: int) -> None:
    """Decode, frame, follow, and encode a batch."""
    from native.cases import Cases, framed_by_chance
    from schemagen.runtime import native
    from schemagen.runtime.cells.decoding import CheckPlan, Expected, decode
    from schemagen.runtime.cells.part import BYTES, FLOAT, INT, Part
    from schemagen.runtime.cells.serialized import Records
    from schemagen.runtime.cells.written import (
        EXAMPLE,
        SEQUENCE_EXAMPLE,
        Written,
        WrittenRecords,
    )
    from schemagen.runtime.native import pictures

    chance = random.Random(seed)
    records = next(iter(Cases(seed)))
    stops = np.cumsum([len(record) for record in records])
    starts = stops - [len(record) for record in records]
    numbers = np.arange(len(records))
    data = own(b"".join(records))
    plan = CheckPlan(
        [
            Expected("label", "int64", length=1, bounds=(0, 9)),
            Expected("a", "float", optional=True, finite=True),
            Expected("name", "bytes", text=True, size=chance.randrange(9)),
        ]
    )
    found = decode(Records("", data, starts, stops, numbers, starts), plan)
    for some in found.by_key.values():
        for column in some:
            if column.kind == "bytes":
                values = list(column.bytes_values())
                assert native.joined(column.data, column.values).tobytes() == b"".join(
                    values
                )
                held = Written(values, column.lengths)
            elif column.kind:
                native.padded(
                    column.values, column.lengths, int(column.lengths.max(initial=0)), 1
                )
                held = Written(column.values, column.lengths)
            else:
                continue
            stored = {"bytes": BYTES, "float": FLOAT, "int64": INT}[column.kind]
            part = Part(column.key, stored, None)
            steps = None
            if chance.random() < 0.5:  # the same features as steps of few rows
                steps = np.array([-1, len(column), 0])
                held = replace(held, steps=steps)
            rows = len(column) if steps is None else len(steps)
            message = EXAMPLE if steps is None else SEQUENCE_EXAMPLE
            records_again = WrittenRecords([(part, held)], rows, message)
            for framed in records_again.framed():
                ends, wrong = native.followed(own(bytes(framed.data)))
                assert ends.tolist() == framed.ends.tolist()
                assert not wrong.any()
    file = own(framed_by_chance(records, chance))
    ends, _ = native.followed(file)
    begins = np.concatenate([[0], ends[:-1]]) if len(ends) else ends
    native.damaged(file, begins, ends)
    native.follow_lengths(file, 0, chance.randrange(file.size + 1))
    native.headers_in(file)
    top = chance.choice((3, 70, 5000, 1 << 20))
    lengths = np.array([chance.randrange(top) for _ in range(chance.randrange(99))])
    window, size = chance.randrange(1, 120), chance.randrange(1, 2 * top)
    lengths = lengths.astype(np.int32) if size * 99 > top else lengths[:0]
    for drop in (False, True):
        counts = native.row_counts(lengths, window, size, drop=drop)
        pieces = native.pieces_of(lengths, window, size, drop=drop)
        assert counts.sum() == len({*pieces[:, 3].tolist()})
    shape = tuple(chance.randrange(1, 9) for _ in range(3))
    image = own(chance.randbytes(int(np.prod(shape)))).reshape(shape)
    size = chance.randrange(1, 12), chance.randrange(1, 12)
    pictures.picked(image, size)
    for antialias in (False, True):
        pictures.rounded(pictures.scaled_to(image, size, antialias=antialias))


def main() -> None:
    """Run batches for some seconds."""
    core, seconds, first = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    load(core)
    until, seed = time.monotonic() + seconds, first
    while time.monotonic() < until:
        print(seed, flush=True)
        run(seed)
        seed += 1


if __name__ == "__main__":
    main()
