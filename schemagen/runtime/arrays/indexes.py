"""Where records end, by the indexes of their splits, of which pieces are read when needed.

A piece has the entries of some consecutive shards. It is read when a record of them is asked
for, and compared with the checksums of the manifest.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Protocol

import numpy as np

from ..cells.columns import Rows
from ..shared.errors import DatasetError
from ..shared.tfrecord import FRAMING
from ..sources.shards import File, Shards
from ..storage.directory import reader_of
from ..storage.files import Result, in_threads
from ..storage.index import ENTRY_BYTES, ends_of, index_name, with_checksums
from ..storage.manifest import SplitEntry, checksum_of
from .open_files import OpenFile

KEPT_BYTES = 1 << 26
"""How many bytes of indexes a reader keeps in memory."""

# A piece has the entries of the shards whose first ones are in the same range of so many
# bytes.
_PIECE_BYTES = 1 << 18

# How many pieces are read at once where not all can be kept, if they are not large.
_AT_ONCE = 16


class DamagedError(Exception):
    """An index, which this names, is not the one that the manifest lists, or is gone."""


class Ends(Protocol):
    """Where the frames of records end. Records and bytes are counted through all files."""

    def around(self, numbers: Rows, files: Rows) -> tuple[Rows, Rows]:
        """Return where the frames before some records end, and their own.

        Args:
            numbers: int64 [N], of the records.
            files: int64 [N], the number of the file of each.

        Returns:
            int64 [N] and int64 [N]; the former is of no use for the first of a file.

        Raises:
            DamagedError: an index is not the one that the manifest lists, or is gone.
            OSError: an index cannot be read.
        """


@dataclass(frozen=True)
class KnownEnds:
    """The ends of all records, in memory.

    Attributes:
        ends: int64 [records].
    """

    ends: Rows

    def around(self, numbers: Rows, files: Rows) -> tuple[Rows, Rows]:
        return self.ends[numbers - 1], self.ends[numbers]


@dataclass(frozen=True)
class Index:
    """The index of a split.

    Attributes:
        file: where it is.
        checksums: of the entries of each shard.
        first_file: the number of the first shard.
        first_record: the number of the first record.
        first_byte: how many bytes are in the files before.
    """

    file: File
    checksums: Sequence[str | None]
    first_file: int
    first_record: int
    first_byte: int

    def read(self, first: int, stop: int) -> bytes:
        """Return the entries of some records, by their numbers.

        Raises:
            OSError: they cannot be read.
        """
        bounds = [ENTRY_BYTES * (each - self.first_record) for each in (first, stop)]
        return self.file.read(*bounds)

    def around(self, numbers: Rows) -> tuple[Rows, Rows]:
        """Read the entries of some records and of those before them, of a local file.

        Raises:
            DatasetError: it was changed after it was found.
            OSError: it cannot be read.
        """
        places = numbers - self.first_record
        is_first = np.diff(places, prepend=-2) != 1
        run = np.cumsum(is_first) - 1
        run_starts = places[is_first]
        # Nothing is before the first entry of all.
        lacks = run_starts == 0
        counts = np.bincount(run) + 1
        entries = np.zeros(len(places) + len(run_starts), "<i8")
        OpenFile(self.file).read_into(
            entries.view(np.uint8),
            ENTRY_BYTES * (run_starts - 1 + lacks),
            ENTRY_BYTES * (counts - lacks),
            ENTRY_BYTES * (np.cumsum(counts) - counts + lacks),
        )
        at = np.arange(len(places)) + run
        ends = entries.astype(np.int64) + self.first_byte
        return ends[at], ends[at + 1]


@dataclass(frozen=True)
class IndexPieces:
    """The pieces of the indexes of some splits.

    Attributes:
        indexes: of the splits, in order.
        first_records: int64 [files + 1], the number of the first record of each file.
        bases: int64 [files + 1], how many bytes are in the files before each.
    """

    indexes: Sequence[Index]
    first_records: Rows
    bases: Rows

    @cached_property
    def _starts(self) -> Rows:
        """The number of the first shard of each piece, and of all: int64 [pieces + 1]."""
        starts = []
        for index, stop in zip(
            self.indexes, [*self._first_files[1:], None], strict=True
        ):
            offsets = (
                self.first_records[:-1][index.first_file : stop] - index.first_record
            )
            _, at = np.unique(offsets * ENTRY_BYTES // _PIECE_BYTES, return_index=True)
            starts.append(at + index.first_file)
        return np.concatenate([*starts, [len(self.first_records) - 1]])

    @cached_property
    def _first_files(self) -> list[int]:
        return [index.first_file for index in self.indexes]

    def __len__(self) -> int:
        """Return how many pieces there are."""
        return len(self._starts) - 1

    @property
    def bytes(self) -> int:
        """How many bytes all have."""
        return int(self.first_records[-1]) * ENTRY_BYTES

    @cached_property
    def largest(self) -> int:
        """How many bytes the largest piece has, at least 1."""
        return max(
            1, int(np.diff(self.first_records[self._starts]).max()) * ENTRY_BYTES
        )

    def of(self, files: Rows) -> Rows:
        """Return the piece of each of some files: int64 [N]."""
        return np.searchsorted(self._starts, files, "right") - 1

    def indexes_of(self, files: Rows) -> Rows:
        """Return the number of the index of each of some files: int64 [N]."""
        return np.searchsorted(self._first_files, files, "right") - 1

    def records(self, piece: int) -> tuple[int, int]:
        """Return the number of the first record of a piece, and that behind its last."""
        first, stop = self.first_records[self._starts[piece : piece + 2]].tolist()
        return first, stop

    def each(
        self, function: Callable[[int], Result], pieces: Sequence[int]
    ) -> list[Result]:
        """Apply a function that reads a piece, in threads where it waits for requests."""
        if any(index.file.is_remote for index in self.indexes):
            return in_threads(function, pieces)
        return [*map(function, pieces)]

    def read(self, piece: int) -> Rows:
        """Return the ends of the records of a piece: int64 [N].

        Raises:
            DamagedError: they are not those that the manifest lists, or are gone.
            OSError: they cannot be read.
        """
        start, stop = self._starts[piece : piece + 2].tolist()
        index = self.indexes[int(self.indexes_of(np.array(start)))]
        first_records = self.first_records[start : stop + 1]
        try:
            contents = index.read(int(first_records[0]), int(first_records[-1]))
        except FileNotFoundError:
            raise DamagedError(index.file.path) from None
        checksums = index.checksums[start - index.first_file : stop - index.first_file]
        bounds = pairwise((ENTRY_BYTES * (first_records - first_records[0])).tolist())
        ends = ends_of(contents) + index.first_byte
        # Another program may have written an index of something else.
        has_records = np.diff(first_records) > 0
        lasts = ends[(first_records[1:] - first_records[0] - 1)[has_records]]
        if (
            any(
                checksum_of(contents[first:last]) != checksum
                for checksum, (first, last) in zip(checksums, bounds, strict=True)
            )
            or (np.diff(ends, prepend=self.bases[start]) < FRAMING).any()
            or (lasts != self.bases[start + 1 : stop + 1][has_records]).any()
        ):
            raise DamagedError(index.file.path)
        return ends


class KeptEnds:
    """The ends of records, of which all that was read is kept.

    Threads may share it: what two of them read is equal.

    Args:
        pieces: of the indexes.
    """

    def __init__(self, pieces: IndexPieces) -> None:
        self._pieces = pieces
        # Memory that nothing was written to is not taken.
        self._ends = np.empty(int(pieces.first_records[-1]), np.int64)
        self._is_read = np.zeros(len(pieces), np.bool_)
        self._has_all = False

    def around(self, numbers: Rows, files: Rows) -> tuple[Rows, Rows]:
        if not self._has_all:
            pieces = self._pieces.of(files)
            lacking = np.unique(pieces[~self._is_read[pieces]]).tolist()
            if lacking:
                self._pieces.each(self._read, lacking)
                self._has_all = bool(self._is_read.all())
        return self._ends[numbers - 1], self._ends[numbers]

    def _read(self, piece: int) -> None:
        first, stop = self._pieces.records(piece)
        self._ends[first:stop] = self._pieces.read(piece)
        self._is_read[piece] = True


class StoredEnds:
    """The ends of records in indexes of this machine that are too large to be kept.

    A piece is compared when the first of its records is asked for. From then on the entries
    of records are read one by one.

    Args:
        pieces: of the indexes.
    """

    def __init__(self, pieces: IndexPieces) -> None:
        self._pieces = pieces
        self._is_compared = np.zeros(len(pieces), np.bool_)

    def around(self, numbers: Rows, files: Rows) -> tuple[Rows, Rows]:
        pieces = self._pieces.of(files)
        for piece in np.unique(pieces[~self._is_compared[pieces]]).tolist():
            self._pieces.read(piece)
            self._is_compared[piece] = True
        before, ends = np.empty_like(numbers), np.empty_like(numbers)
        owners = self._pieces.indexes_of(files)
        for owner in np.unique(owners).tolist():
            rows = owners == owner
            index = self._pieces.indexes[owner]
            try:
                found = index.around(numbers[rows])
            except (FileNotFoundError, DatasetError):
                raise DamagedError(index.file.path) from None
            before[rows], ends[rows] = found
        return before, ends


class RecentEnds:
    """The ends of records in remote indexes that are too large to be kept.

    The pieces that were used last are kept.

    Args:
        pieces: of the indexes.
    """

    def __init__(self, pieces: IndexPieces) -> None:
        self._pieces = pieces
        self._recent: OrderedDict[int, Rows] = OrderedDict()

    def around(self, numbers: Rows, files: Rows) -> tuple[Rows, Rows]:
        before, ends = np.empty_like(numbers), np.empty_like(numbers)
        pieces = self._pieces.of(files)
        order = np.argsort(pieces, kind="stable")
        needed, group_starts = np.unique(pieces[order], return_index=True)
        groups = np.split(order, group_starts[1:])
        step = max(1, min(_AT_ONCE, KEPT_BYTES // self._pieces.largest))
        for at in range(0, len(needed), step):
            some = needed[at : at + step].tolist()
            found = self._pieces.each(self._piece, some)
            for piece, of_piece, rows in zip(some, found, groups[at:], strict=False):
                places = numbers[rows] - self._pieces.records(piece)[0]
                before[rows], ends[rows] = of_piece[places - 1], of_piece[places]
        return before, ends

    def _piece(self, piece: int) -> Rows:
        found = self._recent.pop(piece, None)
        if found is None:
            found = self._pieces.read(piece)
        self._recent[piece] = found
        while len(self._recent) > 1 and self._bytes() > KEPT_BYTES:
            self._recent.popitem(last=False)
        return found

    def _bytes(self) -> int:
        return sum(each.nbytes for each in [*self._recent.values()])


def ends_by_index(shards: Shards, first_records: Rows, bases: Rows) -> Ends | None:
    """Return where records end by the indexes of their splits.

    Args:
        shards: the files.
        first_records: int64 [files + 1], the number of the first record of each.
        bases: int64 [files + 1], how many bytes are in the files before each.

    Returns:
        None without an index of each split, or if not all shards of one are read.

    Raises:
        OSError: an index is there, but it cannot be read.
    """
    splits = [
        (opened.directory, name, split)
        for opened in shards.manifests
        for name, split in opened.splits.items()
    ]
    listed = [shard for *_, split in splits for shard in split.shards]
    settled = [
        replace(file.listed, hidden=None)
        if file.listed and not file.is_settled
        else file.listed
        for file in shards.files
    ]
    if not listed or settled != listed:
        return None
    indexes, at = [], 0
    for directory, name, split in splits:
        found = _index(directory, name, split)
        if found is None:
            return None
        indexes.append(Index(*found, at, int(first_records[at]), int(bases[at])))
        at += len(split.shards)
    pieces = IndexPieces(indexes, first_records, bases)
    if pieces.bytes <= KEPT_BYTES:
        return KeptEnds(pieces)
    is_remote = any(index.file.is_remote for index in indexes)
    return RecentEnds(pieces) if is_remote else StoredEnds(pieces)


def _index(
    directory: str, name: str, split: SplitEntry
) -> tuple[File, Sequence[str | None]] | None:
    """Return the index of a split, and the checksums of the entries of each shard.

    Returns:
        None without one of the size that it should have.
    """
    if split.index is None:
        return None
    path = os.path.join(directory, index_name(name, split))
    try:
        file = File(path, state=reader_of(path).state(path))
    except FileNotFoundError:  # such as where only the shards were copied
        return None
    if file.size != ENTRY_BYTES * split.records:
        return None
    checksums = [shard.index for shard in split.shards]
    if None in checksums:  # 0.4.0 has written one checksum for all of them
        contents = file.read(0, file.size)
        if checksum_of(contents) != split.index:
            return None
        checksums = [shard.index for shard in with_checksums(split, contents).shards]
    return file, checksums
