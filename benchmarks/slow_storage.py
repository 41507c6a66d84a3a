"""Benchmark of `open_split` where single reads are slow: a cold disk, an object store.

    python -m benchmarks.slow_storage [--quick] [--rounds 7] [--json FILE]
        [--document FILE]

The object store is the S3 server of the tests, on this machine: it has the cost of
requests, but not the delays of a network.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from .measure import empty, library, side_by_side
from .program import Part, Program, Setting
from .records import Shape, mix, write_shards
from .report import Target, targets_table, times_table

SINGLE = "shuffle_seed=1"
BLOCKS = "shuffle_seed=1, block=256"
IN_ORDER = "in the order of the files"

WAYS: dict[str, dict[str, Any]] = {
    SINGLE: {"shuffle_seed": 1},
    BLOCKS: {"shuffle_seed": 1, "block": 256},
    IN_ORDER: {},
}

# A local split, next to the same one of the S3 server by way of a cache that has all of it.
CACHED = "S3 server, cached"
_LOCAL_OF = {f"{way}, cached": f"{way}, local" for way in WAYS}

MIX = Shape("mix", "mix", 16_384, 128, mix)
_BUCKET = "bucket"
_SECONDS = 30.0


def dropped(files: Sequence[str]) -> None:
    """Drop files from the page cache."""
    for file in files:
        handle = os.open(file, os.O_RDONLY)
        os.fsync(handle)
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(handle)


@contextmanager
def object_store() -> Iterator[str]:
    """Run an S3 server with an empty bucket; return the bucket's URL."""
    library("moto", "moto[server]")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    os.environ |= {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    command = str(Path(sys.executable).parent / "moto_server")
    server = subprocess.Popen(
        [command, "-H", "127.0.0.1", "-p", port],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + _SECONDS
        while socket.socket().connect_ex(("127.0.0.1", int(port))):
            if time.monotonic() > deadline:
                raise RuntimeError("the S3 server does not answer")
            time.sleep(0.2)
        library("s3fs", "s3fs").S3FileSystem().mkdir(_BUCKET)
        yield f"s3://{_BUCKET}"
    finally:
        server.kill()
        server.wait()


def measure(setting: Setting) -> dict[str, Any]:
    """Read all records of both places, in each order."""
    count = setting.count(MIX.count)
    local = setting.scratch / "data"
    files = write_shards(setting.generated, MIX, MIX.rows(count), local)
    open_split = setting.generated.module("mix.reader").open_split

    def epoch(split: Any, options: dict[str, Any]) -> None:
        found = sum(len(each["label"]) for each in split.batches(MIX.batch, **options))
        assert found == count

    def read(directory: str, cold: Sequence[str], options: dict[str, Any]) -> None:
        dropped(cold)
        epoch(open_split(directory, "train"), options)

    def result(ways: dict[str, Any]) -> dict[str, Any]:
        return {
            "records": count,
            "facts": {"records": f"{count:,}"},
            "seconds": side_by_side(ways, setting.rounds),
        }

    def times(name: str, directory: str, cold: Sequence[str]) -> dict[str, Any]:
        setting.say(name)
        return result({way: partial(read, directory, cold, WAYS[way]) for way in WAYS})

    found = {"disk, caches dropped": times("cold disk", str(local), files)}
    with object_store() as url:
        library("s3fs", "s3fs").S3FileSystem().put(
            f"{local}/", f"{url}/", recursive=True
        )
        found["S3 server"] = times("S3 server", url, ())
        setting.say(CACHED)
        cached = open_split(url, "train", cache_dir=setting.scratch / "cache")
        splits = {"cached": cached, "local": open_split(local, "train")}
        ways = {
            f"{way}, {name}": partial(epoch, split, options)
            for way, options in WAYS.items()
            for name, split in splits.items()
        }
        found[CACHED] = result(ways)
    empty(setting.scratch)
    return found


def markdown(found: dict[str, Any]) -> str:
    """Return tables of the times and of the ratios."""
    targets = (
        *(Target(SINGLE, BLOCKS, {}), Target(IN_ORDER, BLOCKS, {})),
        *(
            Target(cached, local, {CACHED: 1.3}, at_most=True)
            for cached, local in _LOCAL_OF.items()
        ),
    )
    times = times_table("microseconds a record", found, "seconds")
    ratios = targets_table("how many times", found, "seconds", targets)
    return f"{times}\n{ratios}"


PROGRAM = Program(
    "slow_storage",
    "Measure reading from a cold disk and an object store.",
    {"speed": Part(measure, markdown)},
    ("mix",),
    libraries=("numpy", "s3fs", "moto"),
)

if __name__ == "__main__":
    PROGRAM.run()
