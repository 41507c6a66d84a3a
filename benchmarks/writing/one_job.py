"""One process that writes a dataset and says how much memory that took.

    python -m benchmarks.writing.one_job PACKAGE MODE BYTES DIRECTORY

It imports nothing but the generated code and what that needs, as a program that
writes data would.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..jobs import peak, peak_of_children

_VALUES = 4096
_RECORD_BYTES = _VALUES * 4
_BATCH = 256

MODES: dict[str, dict[str, Any]] = {
    "batches": {},
    "rows": {},
    "GZIP": {"compression": "GZIP", "compression_level": 1},
    "two workers": {"workers": 2},
    "shuffled": {"shuffle_seed": 1},
}
"""What `write_dataset` is given besides rows; batches go through a `Writer`."""


class Vectors:
    """Rows with an index: one vector each, out of a few."""

    def __init__(self, count: int) -> None:
        self._count = count
        chance = np.random.default_rng(0)
        # Of half precision, as they come out of many models, so that they compress.
        numbers = chance.normal(size=(64, _VALUES)).astype(np.float16)
        self._vectors = numbers.astype(np.float32)

    def __len__(self) -> int:
        """Return how many rows there are."""
        return self._count

    def __getitem__(self, index: int) -> dict[str, Any]:
        """Return a row."""
        return {"vector": self._vectors[index % 64], "label": index % 10}

    def batches(self) -> Iterator[dict[str, Any]]:
        """Yield all rows as columns, a batch at a time."""
        for start in range(0, self._count, _BATCH):
            index = np.arange(start, min(start + _BATCH, self._count))
            yield {"vector": self._vectors[index % 64], "label": index % 10}


def write(package: str, mode: str, size: int, directory: Path) -> dict[str, float]:
    """Write about `size` bytes.

    Returns:
        The records and seconds it took; and the most memory that was resident in this
        process and in the largest of its workers, in bytes.
    """
    serializer: Any = importlib.import_module(f"{package}.embedding.serializer")
    rows = Vectors(max(1, size // _RECORD_BYTES))
    start = time.perf_counter()
    if mode == "batches":
        with serializer.Writer(directory, "train") as writer:
            for batch in rows.batches():
                writer.write_batch(**batch)
    else:
        source = (rows[at] for at in range(len(rows))) if mode == "rows" else rows
        serializer.write_dataset(source, directory, "train", **MODES[mode])
    return {
        "records": len(rows),
        "seconds": time.perf_counter() - start,
        "process": peak(),
        "largest worker": peak_of_children(),
    }


def main() -> None:
    """Write, and print what it took as JSON."""
    package, mode, size, directory = sys.argv[1:]
    print(json.dumps(write(package, mode, int(size), Path(directory))))


if __name__ == "__main__":
    main()
