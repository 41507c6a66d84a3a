"""Records in the order of their keys, by way of a local disk, whatever their number.

Records go to buckets by the first bits of their keys. All keys of a bucket stand before
those of the next, so that sorting one bucket after the other, in memory, sorts all. A
bucket that is too large for memory is divided by the next bits of the keys when its
turn comes. The order is that of the keys and, where they are equal, of the positions:
it depends neither on the number of buckets nor on how the records were handed over.

A bucket is two files in a folder, which go when they have been read: an array of `ENTRY`
with one item for each record, and the framed records one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..native import crc32c
from ..shared.errors import DatasetError
from ..shared.tfrecord import Framed
from ..shared.wire import Buffer
from ..storage.files import named

ENTRY = np.dtype(
    [("high", "<u8"), ("low", "<u8"), ("part", "<i8"), ("row", "<i8"), ("size", "<i8")]
)
"""A record's key (two words), its position, and how many bytes it has when framed."""

Entries = NDArray[np.void]

# The first word of a key decides its bucket. Only equal keys share the whole word
# in any number, and those of a key field are found at once.
_WORD_BITS = 64

# Buckets are so many that each gets about this much whenever memory is full: enough
# for a disk to write in one go.
_WRITE_BYTES = 1 << 17
_MOST_BITS = 8

_LEAST_MEMORY = 1 << 10

# About how much of a bucket is read at a time.
_READ_BYTES = 1 << 17

# How much is delivered at a time. Small records are limited by their number: while
# they are put together, each takes some hundred bytes more.
_PIECE_BYTES = 1 << 20
_PIECE_RECORDS = 1 << 13

Position = tuple[int, int]
"""The part of a source and the row in it."""


class DuplicateKeyError(DatasetError):
    """Two records have the same value in the key field.

    Attributes:
        key_field: the field's name.
        first: part and row of one of them, the one that comes first in the source.
        second: part and row of another.
    """

    def __init__(self, key_field: str, first: Position, second: Position) -> None:
        super().__init__(key_field, first, second)
        self.key_field = key_field
        self.first = first
        self.second = second

    def __str__(self) -> str:
        (part, row), (other_part, other_row) = self.first, self.second
        if part or other_part:
            where = f"row {row} of part {part} and row {other_row} of part {other_part}"
        else:
            where = f"rows {row} and {other_row}"
        return (
            f"key field {self.key_field!r}: {where} have the same value, expected one of "
            "its own in every row; remove one of them, or take another key field"
        )


@dataclass(frozen=True, slots=True)
class Portion:
    """Some records of a bucket.

    Attributes:
        entries: ENTRY [records].
        data: the framed records, one after the other.
    """

    entries: Entries
    data: Buffer


class Buckets:
    """Records on their way into the order of their keys.

    Args:
        path: a folder, which is made when it is needed and must be empty.
        memory: about how many bytes to hold at a time, at least 1 KiB; a chunk that
            is handed over comes on top.
        key_field: the field whose values the keys are digests of, if they are: then
            equal keys are an error.
        shift: how many first bits all keys have in common.
        buckets: how many buckets to make, about; None for as many as go with the memory.
    """

    def __init__(
        self,
        path: Path,
        *,
        memory: int = 64 << 20,
        key_field: str | None = None,
        shift: int = 0,
        buckets: int | None = None,
    ) -> None:
        self._path = path
        self._memory = max(memory, _LEAST_MEMORY)
        self._key_field = key_field
        self._shift = shift
        wanted = max(buckets or self._memory // 5 // _WRITE_BYTES, 4)
        self._bits = min(wanted.bit_length() - 1, _MOST_BITS, _WORD_BITS - shift)
        self._records: NDArray[np.int64] = np.zeros(1 << self._bits, np.int64)
        self._bytes: NDArray[np.int64] = np.zeros(1 << self._bits, np.int64)
        self._sums = [[0, 0] for _ in range(1 << self._bits)]
        # What has not gone to the buckets yet. The system gives the arena its memory
        # as it fills, and one that is reused costs less than many small ones. Most of what
        # is allowed is for sorting, which for small records takes more than the records.
        self._arena: NDArray[np.uint8] = np.empty(self._memory // 5, np.uint8)
        self._entries: list[Entries] = []
        self._data_bytes = 0
        self._entry_bytes = 0

    def add(
        self,
        keys: NDArray[np.uint64],
        positions: NDArray[np.int64],
        part: int,
        framed: Framed,
    ) -> None:
        """Add records of one part of the source, in any order.

        Args:
            keys: uint64 [records, 2], as `order_of` and `digest_of` give them.
            positions: int64 [records], the row of each.
            part: which part of the source the rows are in; 0 where there is one.
            framed: the records.

        Raises:
            DuplicateKeyError: two keys of a key field are equal. Some are found here,
                the others when reading.
            OSError: the disk refuses, with the file's name. The run cannot go on.
        """
        entries = np.empty(len(positions), ENTRY)
        entries["high"], entries["low"] = keys[:, 0], keys[:, 1]
        entries["part"], entries["row"] = part, positions
        entries["size"] = np.diff(framed.ends, prepend=0)
        self._take(entries, memoryview(framed.data))

    def _take(self, entries: Entries, data: memoryview) -> None:
        size = entries.nbytes + len(data)
        if self._data_bytes + self._entry_bytes + size > len(self._arena):
            self._flush()
        if size > len(self._arena):
            self._distribute(entries, data)
            return
        start, end = self._data_bytes, self._data_bytes + len(data)
        self._arena.data[start:end] = data
        self._data_bytes = end
        self._entries.append(entries)
        self._entry_bytes += entries.nbytes

    def _flush(self) -> None:
        """Distribute what the arena holds."""
        if self._entries:
            waiting = self._waiting()
            self._entries.clear()
            self._distribute(waiting.entries, memoryview(waiting.data))
        self._data_bytes = self._entry_bytes = 0

    def _waiting(self) -> Portion:
        entries = np.concatenate([np.empty(0, ENTRY), *self._entries])
        return Portion(entries, self._arena.data[: self._data_bytes])

    def _distribute(self, entries: Entries, data: memoryview) -> None:
        """Append records to the files of their buckets, a portion to each."""
        self._path.mkdir(parents=True, exist_ok=True)
        order = _sorting(entries, self._key_field)
        ends = np.cumsum(entries["size"])
        starts = ends - entries["size"]
        unused = np.uint64(_WORD_BITS - self._shift - self._bits)
        mask = np.uint64((1 << self._bits) - 1)
        buckets = entries["high"][order] >> unused & mask
        bounds = np.searchsorted(buckets, np.arange((1 << self._bits) + 1, dtype="u8"))
        for bucket, (first, last) in enumerate(pairwise(bounds.tolist())):
            if first < last:
                mine = order[first:last]
                places = zip(starts[mine].tolist(), ends[mine].tolist(), strict=True)
                joined = b"".join([data[start:end] for start, end in places])
                self._append(bucket, (entries[mine].tobytes(), joined))
                self._records[bucket] += last - first

    def _append(self, bucket: int, pieces: tuple[bytes, bytes]) -> None:
        """Append entries and records to the files of a bucket.

        Raises:
            OSError: the disk refuses, naming the file, which is torn then.
        """
        for at, (path, piece) in enumerate(
            zip(self._files(bucket), pieces, strict=True)
        ):
            with named(path), path.open("ab") as file:
                file.write(piece)
            self._sums[bucket][at] = crc32c(piece, self._sums[bucket][at])
            self._bytes[bucket] += len(piece)

    def ordered(self) -> Iterator[tuple[NDArray[np.uint64], Framed]]:
        """Yield keys and records in order, about 1 MiB at a time. It can be done once.

        Raises:
            DuplicateKeyError: two keys of a key field are equal.
            DatasetError: a bucket is damaged.
            OSError: the disk refuses.
        """
        if not self._records.any():  # everything fits into memory
            yield from _sorted_records([self._waiting()], self._key_field)
            return
        self._flush()
        self._arena = np.empty(0, np.uint8)
        for bucket in np.flatnonzero(self._records).tolist():
            if self._bytes[bucket] > self._memory // 4 and self._bits_are_left:
                yield from self._divided(bucket).ordered()
            else:
                portions = self._portions(bucket)
                yield from _sorted_records(portions, self._key_field)
                self._remove(bucket)

    @property
    def _bits_are_left(self) -> bool:
        return self._shift + self._bits < _WORD_BITS

    def _divided(self, bucket: int) -> Buckets:
        """Return the buckets that a large one is divided into, in its place."""
        found = Buckets(
            self._path / f"{bucket:02x}",
            memory=self._memory,
            key_field=self._key_field,
            shift=self._shift + self._bits,
            buckets=8 * int(self._bytes[bucket]) // self._memory,
        )
        for portion in self._portions(bucket):
            found._take(portion.entries, memoryview(portion.data))
        self._remove(bucket)
        return found

    def _portions(self, bucket: int) -> Iterator[Portion]:
        """Yield the records of a bucket, and see that they are what was written."""
        paths, sums = self._files(bucket), [0, 0]
        step = 1 + _READ_BYTES * int(self._records[bucket]) // int(self._bytes[bucket])
        with paths[0].open("rb") as first, paths[1].open("rb") as second:
            while listed := first.read(step * ENTRY.itemsize):
                if len(listed) % ENTRY.itemsize:
                    raise _damaged(paths[0])
                entries = np.frombuffer(listed, ENTRY)
                size = int(entries["size"].sum())
                whole = paths[1].stat().st_size
                if (entries["size"] < 0).any() or not 0 <= size <= whole:
                    raise _damaged(paths[0])
                data = second.read(size)
                if len(data) != size:
                    raise _damaged(paths[1])
                sums = [*map(crc32c, (listed, data), sums)]
                yield Portion(entries, data)
        for path, found, expected in zip(paths, sums, self._sums[bucket], strict=True):
            if found != expected:
                raise _damaged(path)

    def _files(self, bucket: int) -> tuple[Path, Path]:
        """Return where the entries and the records of a bucket are."""
        return (
            self._path / f"{bucket:02x}.entries",
            self._path / f"{bucket:02x}.records",
        )

    def _remove(self, bucket: int) -> None:
        for path in self._files(bucket):
            path.unlink()


def _damaged(path: Path) -> DatasetError:
    return DatasetError(
        f"{path}: this file of a shuffle is not what was written; the disk has a fault, "
        "or another program has changed it: write the split again"
    )


def _sorting(entries: Entries, key_field: str | None) -> NDArray[np.intp]:
    """Return what sorts entries by key and position.

    Args:
        entries: ENTRY [records].
        key_field: the field that the keys are digests of; None without one.

    Returns:
        The places of the entries in sorted order.

    Raises:
        DuplicateKeyError: two keys of a key field are equal.
    """
    high = entries["high"]
    order = np.argsort(high)
    high = high[order]
    if not (high[1:] == high[:-1]).any():
        return order
    order = np.lexsort([entries[name] for name in ("row", "part", "low", "high")])
    if key_field is not None:
        found = entries[order]
        same = found["high"][1:] == found["high"][:-1]
        same &= found["low"][1:] == found["low"][:-1]
        if same.any():
            at = int(same.argmax())
            pair = found[["part", "row"]][at : at + 2].tolist()
            raise DuplicateKeyError(key_field, pair[0], pair[1])
    return order


def _sorted_records(
    portions: Iterable[Portion], key_field: str | None
) -> Iterator[tuple[NDArray[np.uint64], Framed]]:
    """Yield the keys and records of some portions in order, about 1 MiB at a time.

    Args:
        portions: all are held in memory.
        key_field: as for `_sorting`.

    Raises:
        DuplicateKeyError: two keys of a key field are equal.
    """
    listed: list[Entries] = []
    sources: list[memoryview] = []
    starts: list[NDArray[np.int64]] = []
    for portion in portions:
        listed.append(portion.entries)
        sources.append(memoryview(portion.data))
        starts.append(np.cumsum(portion.entries["size"]) - portion.entries["size"])
    numbers = np.repeat(np.arange(len(sources)), [len(some) for some in listed])
    entries = np.concatenate(listed)
    listed.clear()
    order = _sorting(entries, key_field)
    sizes = entries["size"][order]
    keys = np.stack([entries[word][order] for word in ("high", "low")], axis=1)
    del entries
    numbers = numbers[order]
    begins = np.concatenate(starts)[order]
    ends = begins + sizes
    total = np.cumsum(sizes)
    first = 0
    while first < len(order):
        before = int(total[first] - sizes[first])
        last = int(np.searchsorted(total, before + _PIECE_BYTES, "right"))
        some = slice(first, min(max(last, first + 1), first + _PIECE_RECORDS))
        places = zip(
            numbers[some].tolist(),
            begins[some].tolist(),
            ends[some].tolist(),
            strict=True,
        )
        data = b"".join([sources[at][start:end] for at, start, end in places])
        yield keys[some], Framed(data, total[some] - before)
        first = some.stop
