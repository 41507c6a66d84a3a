"""Shards: the one that a record goes to, and its file while it is written."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..native import crc32c
from ..shared.tfrecord import Framed
from ..shared.wire import Buffer
from ..storage.directory import OutputFile
from ..storage.index import pack_lengths
from ..storage.manifest import TAIL_BYTES
from .keys import runs_of
from .plan import Packing

# A shard goes to the disk in pieces of 256 KiB, or smaller ones if many are open.
_BUFFER = 1 << 18
_BUFFERS = 32 << 20

# zlib's `wbits`: the header and trailer of a stream.
_WINDOWS = {"GZIP": zlib.MAX_WBITS + 16, "ZLIB": zlib.MAX_WBITS}


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
    for shard, first, stop in runs_of(numbers):
        yield shard, framed[first:stop]


@dataclass(frozen=True, kw_only=True)
class Contents:
    """What a durable shard holds.

    Attributes:
        records: how many.
        bytes: its size on disk.
        crc32c: the CRC-32C of its bytes on disk, eight hex digits.
        last: the last four bytes, before compression: its last record's checksum.
        tail: its last bytes on disk, in hex, as manifests list them.
        lengths: those of its frames, as `storage.index` packs them; None if it is
            compressed.
    """

    records: int
    bytes: int
    crc32c: str
    last: str
    tail: str
    lengths: str | None


class ShardFile:
    """A file that counts what goes into it.

    Args:
        file: where the bytes go.
        packing: how the records are stored.
    """

    def __init__(self, file: OutputFile, packing: Packing) -> None:
        self.records = 0
        self._file = file
        self._buffer = min(_BUFFER, _BUFFERS // packing.open_shards)
        self._bytes = 0
        self._checksum = 0
        self._last = b""
        self._tail = b""
        self._pending = bytearray()
        self._lengths = bytearray()
        self._stream = None
        if packing.compression:
            # Without a name and a time inside: equal records make equal files.
            window = _WINDOWS[packing.compression]
            self._stream = zlib.compressobj(packing.level, zlib.DEFLATED, window)

    def add(self, framed: Framed) -> None:
        """Take some records.

        Raises:
            OSError: the disk refuses.
        """
        if not len(framed):
            return
        self.records += len(framed)
        self._last = bytes(framed.data[-4:])
        if self._stream is None:
            self._lengths += np.diff(framed.ends, prepend=0).tobytes()
            self._take(framed.data)
        else:
            self._take(self._stream.compress(framed.data))

    def _take(self, data: Buffer) -> None:
        """Take bytes as they are on disk."""
        if len(data) >= self._buffer:
            self._flush()
            self._put(data)
            return
        self._pending += data
        if len(self._pending) >= self._buffer:
            self._flush()

    def _flush(self) -> None:
        if self._pending:
            pending, self._pending = self._pending, bytearray()
            self._put(pending)

    def _put(self, data: Buffer) -> None:
        self._checksum = crc32c(data, self._checksum)
        self._file.write(data)
        self._bytes += len(data)
        self._tail = (self._tail + bytes(data[-TAIL_BYTES:]))[-TAIL_BYTES:]

    def fill(self) -> None:
        """Hand all bytes to the system; nothing may be added afterwards."""
        if self._stream is not None:
            self._take(self._stream.flush())
        self._flush()

    def finish(self) -> Contents:
        """Make the file durable, after `fill`.

        Raises:
            OSError: the disk refuses.
        """
        self._file.finish()
        return Contents(
            records=self.records,
            bytes=self._bytes,
            crc32c=f"{self._checksum:08x}",
            last=self._last.hex(),
            tail=self._tail.hex(),
            lengths=pack_lengths(self._lengths) if self._stream is None else None,
        )

    def discard(self) -> None:
        """Close the file and remove it."""
        self._file.discard()
