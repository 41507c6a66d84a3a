"""A program that writes or reads a split on a server, and may be killed or stopped.

`write <url> <kill> <options>` writes, and is killed at the row of a number; -1 for none.
`stop <url> <request> <how>` replaces a split, and stops itself before a request of a number
until it is told to go on; how is "alone", or "shared" for a run of several processes.
`read <url> <how>` reads; how is "stop" for all, or else "break" or "kill" after a while.
`cached <url> <cache_dir> <cache_bytes>` reads by a cache, and compares what it has read.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
from collections.abc import Iterator
from typing import Any

ROWS = 400

LEASE_SECONDS = 2.5
"""How long leases last where processes are stopped."""


def row(number: int) -> dict[str, Any]:
    """A row that is known by its number."""
    return {"number": number, "tokens": [number] * 500, "kind": number % 5}


def _rows(kill: int) -> Iterator[dict[str, Any]]:
    for number in range(ROWS):
        if number == kill:
            os.kill(os.getpid(), signal.SIGKILL)
        yield row(number)


def _write(url: str, kill: str, options: str) -> None:
    serializer = importlib.import_module("generated_remote.pet.serializer")
    serializer.write_dataset(_rows(int(kill)), url, "train", **json.loads(options))


def stopped_rows() -> list[dict[str, Any]]:
    """The rows that a process writes which is stopped."""
    return [row(number) for number in range(100, 120)]


def shared_plan(url: str) -> Any:
    """The plan of a run of several processes, which write these rows."""
    serializer = importlib.import_module("generated_remote.pet.serializer")
    options = {"shards": 2, "overwrite": True, "rows": len(stopped_rows())}
    return serializer.plan_dataset(url, "train", run="job", **options)


def _stop(url: str, request: str, how: str) -> None:
    from aiobotocore.client import AioBaseClient
    from schemagen.runtime.storage import lock

    lock.LEASE_SECONDS = LEASE_SECONDS
    serializer = importlib.import_module("generated_remote.pet.serializer")
    called, left = AioBaseClient._make_api_call, [int(request)]

    async def call(self: Any, *arguments: Any) -> Any:
        if not left[0]:
            os.kill(os.getpid(), signal.SIGSTOP)
        left[0] -= 1
        return await called(self, *arguments)

    AioBaseClient._make_api_call = call
    if how == "shared":
        serializer.publish(shared_plan(url))
    else:
        more = {"shards": 2, "overwrite": True}
        serializer.write_dataset(stopped_rows(), url, "train", **more)


def _read(url: str, how: str) -> None:
    make_dataset = importlib.import_module("generated_remote.pet.pipeline").make_dataset
    for number, _ in enumerate(make_dataset(url, batch_size=2)):
        if number == 3 and how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if number == 3 and how == "break":
            break


def _cached(url: str, cache_dir: str, cache_bytes: str) -> None:
    open_split = importlib.import_module("generated_remote.pet.reader").open_split
    options = {"cache_dir": cache_dir, "cache_bytes": int(cache_bytes)}
    split = open_split(url, "train", **options)
    for epoch in range(6):
        found = []
        for batch in split.batches(32, shuffle_seed=os.getpid(), epoch=epoch):
            for number, tokens in zip(batch["number"], batch["tokens"], strict=True):
                assert tokens.tolist() == row(int(number))["tokens"]
                found.append(int(number))
        assert sorted(found) == [*range(ROWS)]


if __name__ == "__main__":
    programs = {"write": _write, "stop": _stop, "read": _read, "cached": _cached}
    programs[sys.argv[1]](*sys.argv[2:])
