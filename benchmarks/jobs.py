"""Jobs in a new process, which report the peak of its memory.

    python -m benchmarks.jobs write|read|verify|open ARGUMENT...

A job imports only the generated code and what that needs, as a user's program does.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

_VALUES = 4096
_BATCH = 256

WRITING: dict[str, dict[str, Any]] = {
    "batches": {},
    "rows": {},
    "GZIP": {"compression": "GZIP", "compression_level": 1},
    "two workers": {"workers": 2},
    "shuffled": {"shuffle_seed": 1},
}
"""Options of `write_dataset`, by mode; batches go through a `Writer`."""

READING: dict[str, dict[str, Any]] = {
    "in order": {},
    "shuffled": {"training": True, "shuffle_buffer": 2_000},
}
"""Options of `make_dataset`, by mode."""


def run_job(path: Path, *arguments: str) -> dict[str, float]:
    """Run a job, with generated code imported from `path`, and return its report.

    Raises:
        RuntimeError: the process failed, with its stderr.
    """
    root = str(Path(__file__).parent.parent)
    paths = [root, str(path), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.jobs", *arguments],
        env=environment() | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"job {' '.join(arguments)} failed:\n{done.stderr}")
    report: dict[str, float] = json.loads(done.stdout)
    return report


def environment() -> dict[str, str]:
    """Return the environment of processes that keep bytecode, as those of users do."""
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def peak() -> float:
    """Return the most bytes that were resident since this program started.

    On Linux, getrusage also counts the memory of the parent before it started this
    program; /proc/self/status does not.
    """
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return _in_bytes(resource.getrusage(resource.RUSAGE_SELF))
    return next(float(line.split()[1]) * 1024 for line in lines if "VmHWM" in line)


def _in_bytes(usage: resource.struct_rusage) -> float:
    return usage.ru_maxrss * (1.0 if sys.platform == "darwin" else 1024.0)


class Vectors:
    """A sequence of rows with one vector each, out of 64 different ones."""

    def __init__(self, count: int) -> None:
        self._count = count
        random = np.random.default_rng(0)
        # Half precision, as many models return it, compresses.
        numbers = random.normal(size=(64, _VALUES)).astype(np.float16)
        self._vectors = numbers.astype(np.float32)

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._count

    def __getitem__(self, index: int) -> dict[str, Any]:
        """Return a row."""
        return {"vector": self._vectors[index % 64], "label": index % 10}

    def batches(self) -> Iterator[dict[str, Any]]:
        """Yield all rows as batches of columns."""
        for start in range(0, self._count, _BATCH):
            index = np.arange(start, min(start + _BATCH, self._count))
            yield {"vector": self._vectors[index % 64], "label": index % 10}


def write(package: str, mode: str, size: str, directory: str) -> dict[str, float]:
    """Write about `size` bytes in a mode of `WRITING`."""
    serializer: Any = importlib.import_module(f"{package}.embedding.serializer")
    rows = Vectors(max(1, int(size) // (_VALUES * 4)))
    start = time.perf_counter()
    if mode == "batches":
        with serializer.Writer(directory, "train") as writer:
            for batch in rows.batches():
                writer.write_batch(**batch)
    else:
        source = (rows[at] for at in range(len(rows))) if mode == "rows" else rows
        serializer.write_dataset(source, directory, "train", **WRITING[mode])
    seconds = time.perf_counter() - start
    workers = _in_bytes(resource.getrusage(resource.RUSAGE_CHILDREN))
    return {"records": len(rows), "seconds": seconds, "largest worker": workers}


def read(package: str, mode: str, directory: str) -> dict[str, float]:
    """Read one epoch of the shape mix in a mode of `READING`."""
    pipeline: Any = importlib.import_module(f"{package}.mix.pipeline")
    before = peak()
    start = time.perf_counter()
    dataset = pipeline.make_dataset(directory, batch_size=128, **READING[mode])
    batches = sum(1 for _ in dataset)
    seconds = time.perf_counter() - start
    return {"batches": batches, "seconds": seconds, "before": before}


def verify(directory: str) -> dict[str, float]:
    """Verify a data directory."""
    verify: Any = importlib.import_module("schemagen.data.verify")
    before = peak()
    start = time.perf_counter()
    records = verify.verify(directory, workers=1).records
    seconds = time.perf_counter() - start
    return {"records": records, "seconds": seconds, "before": before}


def open_split(
    package: str, directory: str, records: str, options: str
) -> dict[str, float]:
    """Open a split of the shape tabular and read some records; options are those of `batches`."""
    reader: Any = importlib.import_module(f"{package}.tabular.reader")
    before = peak()
    start = time.perf_counter()
    split = reader.open_split(directory, "train", fields=["f0"])
    len(split)
    opening = time.perf_counter() - start
    batches = split.batches(1_024, **json.loads(options))
    count = len(next(batches)["f0"])
    first = time.perf_counter() - start - opening
    while count < int(records):
        count += len(next(batches)["f0"])
    return {
        "records": count,
        "opening": opening,
        "first batch": first,
        "before": before,
    }


JOBS: dict[str, Callable[..., dict[str, float]]] = {
    "write": write,
    "read": read,
    "verify": verify,
    "open": open_split,
}

if __name__ == "__main__":
    print(json.dumps(JOBS[sys.argv[1]](*sys.argv[2:]) | {"process": peak()}))
