"""Layouts: which shard a record goes to, where its row's position does not say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .. import native
from ..shared.tfrecord import Framed, joined
from .keys import groups_of

# In own each shard gets one record after the other, which would take longer than to make
# them. So they wait until there are so many for each shard, or so many bytes in all.
_TOGETHER = 32
_WAITING_BYTES = 8 << 20


class Layout(Protocol):
    """Assigns records to shards, in the order in which they come.

    Attributes:
        in_order: whether a shard is full as soon as a later one gets a record. Then no record
            waits.
    """

    in_order: bool

    def assign(self, framed: Framed) -> Iterator[tuple[int, Framed]]:
        """Yield the numbers of shards, each with the records that it gets next.

        Records may wait for those of later calls, or for `flush`.
        """
        ...

    def flush(self) -> Iterator[tuple[int, Framed]]:
        """Yield the records that wait, as `assign`."""
        ...


class RoundRobinLayout:
    """To a fixed number of shards in own, as when cards are assigned.

    Args:
        shards: how many.
    """

    def __init__(self, shards: int) -> None:
        self.in_order = shards == 1
        self._shards = shards
        self._next = 0
        self._waiting: list[Framed] = []
        self._records = self._bytes = 0

    def assign(self, framed: Framed) -> Iterator[tuple[int, Framed]]:
        """See `Layout`."""
        if not len(framed):
            return
        if self.in_order:
            yield 0, framed
            return
        self._waiting.append(framed)
        self._records += len(framed)
        self._bytes += len(framed.data)
        enough = self._records >= _TOGETHER * self._shards
        if enough or self._bytes >= _WAITING_BYTES:
            yield from self.flush()

    def flush(self) -> Iterator[tuple[int, Framed]]:
        """See `Layout`."""
        if not self._records:
            return
        framed, first, total = joined(self._waiting), self._next, self._shards
        self._waiting, self._records, self._bytes = [], 0, 0
        count = len(framed)
        self._next = (first + count) % total
        extents = np.stack([np.append(0, framed.ends[:-1]), framed.ends], axis=1)
        by_shard = [np.arange(at, count, total) for at in range(min(total, count))]
        extents = extents[np.concatenate(by_shard)]
        data = native.joined(np.frombuffer(framed.data, np.uint8), extents)
        assigned = Framed(data.data, np.cumsum(extents[:, 1] - extents[:, 0]))
        begin = 0
        for at, own in enumerate(by_shard):
            stop = begin + len(own)
            yield (first + at) % total, assigned[begin:stop]
            begin = stop


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

    def assign(self, framed: Framed) -> Iterator[tuple[int, Framed]]:
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

    def flush(self) -> Iterator[tuple[int, Framed]]:
        """See `Layout`."""
        yield from ()


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
