"""Readers that trust their files, each with a fault that the net has to find.

They get the paths of the shards in place of a split.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import ExitStack

from numbered_records import Item, Open, Way, facts_of

from generated.digit.reader import open_split


def _shard_by_shard(open_it: Open) -> Iterator[Item]:
    """Open each shard as if it were of the same generation as those before."""
    paths = open_it()
    yield sum(len(open_split([path])) for path in paths)
    for path in paths:
        yield facts_of(open_split([path])[:])


def _unprepared(open_it: Open) -> Iterator[Item]:
    """Read files with no thought of errors of the disk."""
    for path in open_it():
        path.read_bytes()
    yield from _shard_by_shard(open_it)


def _mapped(open_it: Open) -> Iterator[Item]:
    """Read memory of files that may shrink."""
    with ExitStack() as stack:
        for path in open_it():
            file = stack.enter_context(path.open("rb"))
            memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            path.stat()
            memory.read()
    yield from _shard_by_shard(open_it)


def _waiting(open_it: Open) -> Iterator[Item]:
    """Wait until a file is as large as it was."""
    sizes = {path: path.stat().st_size for path in open_it()}
    for path, size in sizes.items():
        while path.stat().st_size < size:
            pass
    yield from _shard_by_shard(open_it)


CARELESS = {
    "shard by shard": Way(_shard_by_shard, 48),
    "unprepared": Way(_unprepared, 48),
    "mapped": Way(_mapped, 48),
    "waiting": Way(_waiting, 48),
}
