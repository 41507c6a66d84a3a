"""Where each record of some files is."""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..reading.columns import Rows
from ..shared.errors import DatasetError, warn
from ..shared.tfrecord import FRAMING
from ..sources.contents import Contents, wrong_count
from ..sources.file_access import access_to
from ..sources.files import Files
from ..storage.files import in_threads
from ..storage.index import ends_of, index_name
from ..storage.manifest import checksum_of

_LENGTH = struct.Struct("<Q")

# How much of a remote file is requested at a time, to follow its lengths.
_PIECE_BYTES = 1 << 23

Read = Callable[[int], tuple[int, bytes | mmap.mmap]]
"""Returns some bytes of a file from a position on, or from before, and where they begin."""


@dataclass(frozen=True)
class Positions:
    """Where records are, numbered through all files.

    Attributes:
        ends: int64 [N], where the frame of each ends, counted through all files.
        firsts: int64 [files + 1], the number of the first record of each file.
        bases: int64 [files + 1], how many bytes are in the files before each.
    """

    ends: Rows
    firsts: Rows
    bases: Rows

    def __len__(self) -> int:
        """Return how many records there are."""
        return len(self.ends)

    def files_of(self, numbers: Rows) -> Rows:
        """Return the number of each record's file: int64 [N]."""
        return np.searchsorted(self.firsts, numbers, "right") - 1

    def of(self, numbers: Rows) -> tuple[Rows, Rows, Rows]:
        """Return each record's file, and where its frame begins and ends there."""
        files = self.files_of(numbers)
        bases = self.bases[files]
        first = numbers == self.firsts[files]
        starts = np.where(first, bases, self.ends[numbers - 1])
        return files, starts - bases, self.ends[numbers] - bases


def find_positions(files: Files, *, skip: bool = False) -> Positions:
    """Find the records of files that are not compressed: by their index, or their lengths.

    Args:
        files: which.
        skip: leave out what is behind damage, with a warning.

    Raises:
        DatasetError: a file is damaged, or has not the records that its manifest lists.
    """
    indexed = _indexed(files)
    if indexed is not None:
        return indexed
    pairs = list(zip(files.paths, files.sizes, strict=True))
    found = in_threads(partial(_ends_of, skip=skip), pairs)
    counts = [len(ends) for ends in found]
    if files.records is not None and not skip:
        for path, count, listed in zip(files.paths, counts, files.records, strict=True):
            if count != listed:
                raise DatasetError(wrong_count(path, count, listed))
    bases = _sums(files.sizes)
    shifted = [ends + base for ends, base in zip(found, bases, strict=False)]
    firsts = _sums(counts)
    return Positions(np.concatenate([*shifted, firsts[:0]]), firsts, bases)


def _indexed(files: Files) -> Positions | None:
    """Find the records of a split by its index; None without one that is whole."""
    splits = [
        (os.path.dirname(opened.path), name, split)
        for opened in files.manifests
        for name, split in opened.splits.items()
    ]
    if len(splits) != 1:
        return None
    [(directory, name, split)] = splits
    listed = [shard.file for shard in split.shards]
    if split.index is None or listed != [*map(os.path.basename, files.paths)]:
        return None
    path = os.path.join(directory, index_name(name, split.index))
    try:
        contents = access_to(path).read(path)
    except FileNotFoundError:  # such as where only the shards were copied
        return None
    if checksum_of(contents) != split.index or len(contents) != 8 * split.records:
        return None
    counts = [shard.records for shard in split.shards]
    return Positions(ends_of(contents), _sums(counts), _sums(files.sizes))


def _sums(values: Sequence[int]) -> Rows:
    """Return what comes before each value, and all of it."""
    return np.cumsum([0, *values], dtype=np.int64)


def _ends_of(listed: tuple[str, int], *, skip: bool) -> Rows:
    """Return where the frames of a file end: int64 [N]."""
    path, size = listed
    if not size:
        return np.empty(0, np.int64)
    if "://" in path:
        access = access_to(path)

        def read(at: int) -> tuple[int, bytes]:
            return at, access.read(path, at, min(size, at + _PIECE_BYTES))

        return _followed(path, size, read, skip=skip)
    with (
        open(path, "rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as memory,
    ):
        return _followed(path, size, lambda at: (0, memory), skip=skip)


def _followed(path: str, size: int, read: Read, *, skip: bool) -> Rows:
    """Follow the lengths of records to the end of a file.

    Raises:
        DatasetError: it does not end where a record does.
    """
    ends: list[int] = []
    at, unpack = 0, _LENGTH.unpack_from
    while at + FRAMING <= size:
        start, piece = read(at)
        last = start + len(piece) - FRAMING
        while at <= last:
            at += unpack(piece, at - start)[0] + FRAMING
            ends.append(at)
    found = np.array(ends, np.uint64).astype(np.int64)
    if at == size:
        return found
    good, problem = _damage(path)
    if not skip:
        raise DatasetError(f"{problem}; `schemagen verify` tells what can be read")
    warn(f"{problem}; it is left out, and what is behind it")
    return found[:good]


def _damage(path: str) -> tuple[int, str]:
    """Return how many records come before damage, and what the damage is."""
    good, problem = 0, ""
    for number, record in enumerate(Contents(path)):
        if isinstance(record, DatasetError):  # the last one ends the file
            good, problem = number, str(record)
    return good, problem
