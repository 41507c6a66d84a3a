"""A dataset in the order of its keys, on disk, whatever its size.

Records go to buckets by the first bits of their keys. All keys of a bucket stand before
those of the next, so that sorting one bucket after the other, in memory, sorts all. A
bucket that is too large for memory is divided by the next bits of the keys when its
turn comes. The order is that of the keys and, where they are equal, of the positions:
it depends neither on the number of buckets nor on how the records were handed over.

The buckets are a folder of files on a local disk. They are scratch: nothing is synced,
and what a crash leaves of them is recognised by sizes and checksums.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import DatasetError
from ..shared.tfrecord import Framed
from .encoding import Refused
from .external_sort import (
    ENTRY,
    Block,
    DuplicateKeyError,
    Entries,
    Index,
    add_block,
    load_index,
    read_blocks,
    save_index,
    sorted_records,
    sorting,
)

__all__ = ["Buckets", "DuplicateKeyError"]

# Buckets are told apart by the first word of the keys. Only equal keys share all of it
# in any number, and those of a key field are found at once.
_WORD_BITS = 64

# Buckets are so many that each gets about this much whenever memory is full: enough
# for a disk to write in one go.
_WRITE_BYTES = 1 << 17
_MOST_BITS = 8

# With less, the header of a block alone would make a bucket too large to be read.
_LEAST_MEMORY = 1 << 10


class Buckets:
    """Records on their way into the order of their keys.

    Args:
        path: a folder of its own, which is made and must not be there yet.
        memory: about how many bytes to hold at a time, at least 1 KiB; a chunk that
            is handed over comes on top.
        key_field: the field whose values the keys are digests of, if they are: then
            equal keys are an error.

    Attributes:
        refused: the rows that were left out while records were added.

    Raises:
        FileExistsError: there is something at `path`.
    """

    def __init__(
        self, path: Path, *, memory: int = 64 << 20, key_field: str | None = None
    ) -> None:
        path.mkdir(parents=True)
        self._path = path
        self._memory = max(memory, _LEAST_MEMORY)
        self._key_field = key_field
        self._set_up(shift=0, bits=_bits_for(memory // 5 // _WRITE_BYTES, 0))

    def _set_up(self, shift: int, bits: int) -> None:
        # How many first bits all keys have in common, and how many tell buckets apart.
        self._shift = shift
        self._bits = bits
        self._records: NDArray[np.int64] = np.zeros(1 << bits, np.int64)
        self._bytes: NDArray[np.int64] = np.zeros(1 << bits, np.int64)
        self._parts = False
        self._sealed = False
        self.refused: list[Refused] = []
        # What has not gone to the buckets yet. The system gives the arena its memory
        # only as it is filled, and it is filled again and again. The rest of what is
        # allowed is for sorting, which for small records takes more than the records.
        self._arena: NDArray[np.uint8] = np.empty(self._memory // 5, np.uint8)
        self._entries: list[Entries] = []
        self._data_bytes = 0
        self._entry_bytes = 0

    @classmethod
    def reopen(cls, path: Path, *, memory: int = 64 << 20) -> Buckets | None:
        """Return the buckets that were sealed in a folder, or None if there are none.

        None also stands for buckets that are torn: the caller then begins again.

        Args:
            path: the folder.
            memory: as for the class; it may be another than before.
        """
        return cls._reopened(path, memory, shift=0)

    @classmethod
    def _reopened(cls, path: Path, memory: int, shift: int) -> Buckets | None:
        index = load_index(path)
        if index is None:
            return None
        found = cls.__new__(cls)
        found._path = path
        found._memory = max(memory, _LEAST_MEMORY)
        found._key_field = index.key_field
        found._set_up(shift, index.bits)
        found._records = np.array(index.records, np.int64)
        found._bytes = np.array(index.bytes, np.int64)
        found._parts = index.parts
        found.refused = [Refused(**row) for row in index.refused]
        found._close()
        sizes = {entry.name: entry.stat().st_size for entry in path.iterdir()}
        for bucket, size in enumerate(index.bytes):
            # A file that is not there has been forgotten, or divided.
            if sizes.get(found._file(bucket).name, size) != size:
                return None
        return found

    @property
    def records(self) -> int:
        """How many records have been added."""
        return int(self._records.sum()) + sum(map(len, self._entries))

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
            OSError: the disk refuses, naming the file; there is no going on then.
        """
        if not len(keys) == len(positions) == len(framed):
            raise ValueError("keys, positions and records of different numbers")
        entries = np.empty(len(positions), ENTRY)
        entries["high"], entries["low"] = keys[:, 0], keys[:, 1]
        entries["part"], entries["row"] = part, positions
        entries["size"] = np.diff(framed.ends, prepend=0)
        self._parts = self._parts or part != 0
        self._take(entries, memoryview(framed.data))

    def _take(self, entries: Entries, data: memoryview) -> None:
        if self._sealed:
            raise ValueError(f"{self._path}: the buckets are sealed")
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
            entries = np.concatenate(self._entries)
            self._entries.clear()
            self._distribute(entries, self._arena.data[: self._data_bytes])
        self._data_bytes = self._entry_bytes = 0

    def _distribute(self, entries: Entries, data: memoryview) -> None:
        """Append records to the files of their buckets, a block to each."""
        order = sorting(entries, self._key_field, self._parts)
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
                size = add_block(self._file(bucket), entries[mine], joined)
                self._bytes[bucket] += size
                self._records[bucket] += last - first

    def seal(self) -> None:
        """Say that all has been added: from now on `reopen` finds the buckets.

        Raises:
            DuplicateKeyError: as for `add`.
            OSError: the disk refuses.
        """
        if self._sealed:
            return
        if not self._records.any():
            # All of it fits into memory: one bucket is enough.
            self._bits = 0
            self._records, self._bytes = self._records[:1], self._bytes[:1]
        self._flush()
        self._close()
        index = Index(
            self._bits,
            self._records.tolist(),
            self._bytes.tolist(),
            self._parts,
            self._key_field,
            [asdict(row) for row in self.refused],
        )
        save_index(self._path, index)

    def _close(self) -> None:
        self._sealed = True
        self._arena = np.empty(0, np.uint8)

    def ordered(self, skip: int = 0) -> Iterator[tuple[NDArray[np.uint64], Framed]]:
        """Seal the buckets and yield keys and records in order, about 1 MiB at a time.

        It can be called again, as long as nothing that it reads was forgotten.

        Args:
            skip: how many records to leave out at the beginning; buckets that hold
                only such records are not read.

        Raises:
            DuplicateKeyError: two keys of a key field are equal.
            DatasetError: a bucket is damaged, or has been forgotten.
            OSError: the disk refuses.
        """
        self.seal()
        for bucket, records in enumerate(self._records.tolist()):
            if skip >= records:
                skip -= records
                continue
            divided = self._divided(bucket)
            if divided is None:
                blocks = self._blocks(bucket)
                yield from sorted_records(blocks, self._key_field, self._parts, skip)
            else:
                yield from divided.ordered(skip)
            skip = 0

    def _divided(self, bucket: int) -> Buckets | None:
        """Return the buckets that a large one was divided into; None if it fits."""
        shift = self._shift + self._bits
        folder, file = self._folder(bucket), self._file(bucket)
        found = self._reopened(folder, self._memory, shift)
        allowed = self._memory // 4
        size = int(self._bytes[bucket])
        if found is None and size > allowed and shift < _WORD_BITS:
            # Left by a division that did not come to its end.
            shutil.rmtree(folder, ignore_errors=True)
            found = Buckets(folder, memory=self._memory, key_field=self._key_field)
            found._set_up(shift, _bits_for(2 * size // allowed, shift))
            found._parts = self._parts
            for block in self._blocks(bucket):
                found._take(block.entries, memoryview(block.data))
            found.seal()
        if found is not None:
            file.unlink(missing_ok=True)
        return found

    def _blocks(self, bucket: int) -> Iterator[Block]:
        """Yield the blocks of a bucket, and see that they are all that was written."""
        path = self._file(bucket)
        records = 0
        try:
            for block in read_blocks(path):
                records += len(block.entries)
                yield block
        except FileNotFoundError:
            raise DatasetError(
                f"{path}: this bucket of a shuffle is gone, and the records from it are "
                "asked for; write the split from the start"
            ) from None
        if records != self._records[bucket]:
            raise DatasetError(
                f"{path}: this bucket of a shuffle has {records} records, expected "
                f"{self._records[bucket]}; delete the folder {self._path} and write the "
                "split from the start"
            )

    def forget(self, records: int) -> None:
        """Delete the buckets that lie wholly within the first `records` records.

        To be called once they are safely stored elsewhere; `ordered` can then begin
        behind them only.
        """
        for bucket, held in enumerate(self._records.tolist()):
            folder = self._folder(bucket)
            if held > records:
                divided = self._reopened(folder, self._memory, self._shift + self._bits)
                if divided is not None:
                    divided.forget(records)
                return
            self._file(bucket).unlink(missing_ok=True)
            if folder.exists():
                shutil.rmtree(folder)
            records -= held

    def _file(self, bucket: int) -> Path:
        return self._path / f"{bucket:02x}.bucket"

    def _folder(self, bucket: int) -> Path:
        return self._path / f"{bucket:02x}"


def _bits_for(buckets: int, shift: int) -> int:
    """Return how many bits tell about so many buckets apart, behind `shift` others."""
    bits = max(buckets, 4).bit_length() - 1
    return min(bits, _MOST_BITS, _WORD_BITS - shift)
