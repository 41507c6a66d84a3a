"""Where each record of some files is."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..cells.columns import Rows
from ..shared.errors import DatasetError, warn
from ..shared.tfrecord import FRAMING
from ..sources.records import FileRecords, with_command
from ..sources.shards import File, Shards
from ..storage.directory import reader_of
from ..storage.files import in_threads
from ..storage.index import ends_of, index_name
from ..storage.manifest import Split, checksum_of, wrong_count
from .open_files import OpenFile

_LENGTH = struct.Struct("<Q")

# How much of a local and of a remote file is read at a time, to follow its lengths.
_LOCAL_BYTES, _REMOTE_BYTES = 1 << 16, 1 << 23


@dataclass(frozen=True)
class Positions:
    """Where records are. Records and bytes are counted through all files.

    Attributes:
        ends: int64 [N], where the frame of each ends.
        firsts: int64 [files + 1], the number of the first record of each file.
        bases: int64 [files + 1], how many bytes are in the files before each.
    """

    ends: Rows
    firsts: Rows
    bases: Rows

    def __len__(self) -> int:
        """Return how many records there are."""
        return len(self.ends)

    def of(self, numbers: Rows) -> tuple[Rows, Rows, Rows]:
        """Return each record's file, and where its frame begins and ends."""
        files = np.searchsorted(self.firsts, numbers, "right") - 1
        first = numbers == self.firsts[files]
        starts = np.where(first, self.bases[files], self.ends[numbers - 1])
        return files, starts, self.ends[numbers]


def find_positions(shards: Shards, *, skip: bool = False) -> Positions:
    """Find the records of files that are not compressed: by their index, or their lengths.

    Args:
        shards: the files.
        skip: leave out what is behind damage, with a warning.

    Raises:
        DatasetError: a file is damaged, or has not the records that its manifest lists.
    """
    indexed = _indexed(shards)
    if indexed is not None:
        return indexed
    found = in_threads(partial(_ends_of, skip=skip), shards.files)
    counts = [len(ends) for ends in found]
    for file, count in zip(shards.files, counts, strict=True):
        if not skip and file.records is not None and file.records != count:
            problem = wrong_count(file.path, count, file.records)
            raise DatasetError(with_command(file.path, problem))
    bases = sums(shards.sizes)
    shifted = [ends + base for ends, base in zip(found, bases, strict=False)]
    firsts = sums(counts)
    return Positions(np.concatenate([*shifted, firsts[:0]]), firsts, bases)


def _indexed(shards: Shards) -> Positions | None:
    """Find the records of splits by their indexes; None without one that is whole."""
    splits = [
        (opened.directory, name, split)
        for opened in shards.manifests
        for name, split in opened.splits.items()
    ]
    settled = [
        file.listed and replace(file.listed, hidden=None) for file in shards.files
    ]
    listed = [shard for _, _, split in splits for shard in split.shards]
    if not listed or settled != listed:
        return None
    ends, first = [], 0
    for directory, name, split in splits:
        found = _index_of(directory, name, split)
        if found is None:
            return None
        ends.append(found + first)
        first += sum(shard.bytes for shard in split.shards)
    counts = [shard.records for shard in listed]
    return Positions(np.concatenate(ends), sums(counts), sums(shards.sizes))


def _index_of(directory: str, name: str, split: Split) -> Rows | None:
    """Return where the frames of a split end; None without an index that is whole."""
    if split.index is None:
        return None
    path = os.path.join(directory, index_name(name, split.index, split.run))
    try:
        contents = reader_of(path).read(path)
    except FileNotFoundError:  # such as where only the shards were copied
        return None
    if checksum_of(contents) != split.index or len(contents) != 8 * split.records:
        return None
    ends, size = ends_of(contents), sum(shard.bytes for shard in split.shards)
    if (np.diff(ends, prepend=0) < FRAMING).any() or ends[-1:].sum() != size:
        return None  # another program has written it
    return ends


def sums(values: Sequence[int]) -> Rows:
    """Return what comes before each value, and all of it."""
    return np.cumsum([0, *values], dtype=np.int64)


def _ends_of(file: File, *, skip: bool) -> Rows:
    """Follow the lengths of the records of a file: where they end, int64 [N].

    Raises:
        DatasetError: it does not end where a record does, or is not what it was.
    """
    size, most = file.size, _REMOTE_BYTES
    read: Callable[[int, int], bytes] = file.read
    if not file.is_remote:
        read, most = OpenFile(file).read, _LOCAL_BYTES
    ends: list[int] = []
    at, unpack = 0, _LENGTH.unpack_from
    while at + FRAMING <= size:
        start, piece = at, read(at, min(size, at + most))
        last = start + len(piece) - FRAMING
        while at <= last:
            at += unpack(piece, at - start)[0] + FRAMING
            ends.append(at)
    if at == size:
        return np.array(ends, np.int64)
    good, problem = _damage(file)
    if not skip:
        raise DatasetError(with_command(file.path, problem))
    warn(f"{problem}; it is left out, and everything after it")
    return np.array(ends[:good], np.int64)


def _damage(file: File) -> tuple[int, str]:
    """Return how many records come before damage, and what the damage is."""
    good, problem = 0, ""
    for at, record in enumerate(FileRecords(file)):
        if isinstance(record, DatasetError):  # the last one ends the file
            good, problem = at, str(record)
    return good, problem
