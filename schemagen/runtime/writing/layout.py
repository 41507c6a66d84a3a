"""Layouts: which shard a record goes to, where its row's position does not say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..shared.tfrecord import Framed
from .keys import groups_of


class Layout(Protocol):
    """Deals records out to shards, in the order in which they come.

    Attributes:
        in_order: whether a shard is full as soon as a later one gets a record.
    """

    in_order: bool

    def deal(self, framed: Framed) -> Iterator[tuple[int, Framed]]:
        """Yield the numbers of shards, each with the records that it gets next."""
        ...


class InTurn:
    """To a fixed number of shards in turn, as when cards are dealt.

    Args:
        shards: how many.
    """

    def __init__(self, shards: int) -> None:
        self.in_order = shards == 1
        self._shards = shards
        self._next = 0

    def deal(self, framed: Framed) -> Iterator[tuple[int, Framed]]:
        """See `Layout`."""
        if self._shards == 1 and len(framed):
            yield 0, framed
            return
        first, total = self._next, self._shards
        self._next = (first + len(framed)) % total
        memory = memoryview(framed.data)
        ends = framed.ends.tolist()
        starts = [0, *ends[:-1]]
        for at in range(min(total, len(framed))):
            mine = slice(at, None, total)
            pieces = [
                memory[a:b] for a, b in zip(starts[mine], ends[mine], strict=True)
            ]
            sizes = np.fromiter(map(len, pieces), np.int64, len(pieces))
            yield (first + at) % total, Framed(b"".join(pieces), np.cumsum(sizes))


class BySize:
    """To one shard until the next record would make it larger than asked.

    Args:
        shard_bytes: of framed records, before compression.
        first: the number of the first shard.
    """

    in_order = True

    def __init__(self, shard_bytes: int, first: int = 0) -> None:
        self._limit = shard_bytes
        self._shard = first
        self._filled = 0

    def deal(self, framed: Framed) -> Iterator[tuple[int, Framed]]:
        """See `Layout`."""
        at, start = 0, 0
        while at < len(framed):
            room = start + self._limit - self._filled
            stop = int(np.searchsorted(framed.ends, room, "right"))
            if stop <= at and not self._filled:
                stop = at + 1  # larger than any shard: it gets one of its own
            if stop > at:
                yield self._shard, framed[at:stop]
                self._filled += int(framed.ends[stop - 1]) - start
                at, start = stop, int(framed.ends[stop - 1])
            if at < len(framed):
                self._shard += 1
                self._filled = 0


def by_number(
    numbers: NDArray[np.int64], framed: Framed
) -> Iterator[tuple[int, Framed]]:
    """Yield the numbers of shards, each with its records, which follow on one another.

    Args:
        numbers: int64 [records], the shard of each; they never fall.
        framed: the records.
    """
    for shard, first, stop in groups_of(numbers):
        yield shard, framed[first:stop]
