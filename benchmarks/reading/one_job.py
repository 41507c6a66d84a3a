"""One process that reads a dataset once and says how much memory that took.

    python -m benchmarks.reading.one_job PACKAGE MODE DIRECTORY

It imports nothing but the generated code and what that needs, as a program that trains
would.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from typing import Any

from ..jobs import peak

MODES: dict[str, dict[str, Any]] = {
    "in order": {},
    "shuffled": {"training": True, "shuffle_buffer": 2_000},
}
"""What `make_dataset` is given besides the batch's size."""


def read(package: str, mode: str, directory: str) -> dict[str, float]:
    """Read one epoch of records of the shape mix.

    Returns:
        The batches and seconds it took; and the most memory that was resident before
        and after, in bytes.
    """
    pipeline: Any = importlib.import_module(f"{package}.mix.pipeline")
    before = peak()
    start = time.perf_counter()
    dataset = pipeline.make_dataset(directory, batch_size=128, **MODES[mode])
    batches = sum(1 for _ in dataset)
    return {
        "batches": batches,
        "seconds": time.perf_counter() - start,
        "before": before,
        "process": peak(),
    }


def main() -> None:
    """Read, and print what it took as JSON."""
    print(json.dumps(read(*sys.argv[1:])))


if __name__ == "__main__":
    main()
