"""Where each record of some files is."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..cells.columns import Rows
from ..shared.errors import DatasetError, warn
from ..shared.tfrecord import FRAMING
from ..sources.records import FileRecords, with_command
from ..sources.shards import File, Shards
from ..storage.files import in_threads
from ..storage.manifest import wrong_count
from .indexes import DamagedError, Ends, KnownEnds, ends_by_index
from .open_files import OpenFile

_LENGTH = struct.Struct("<Q")

# How much of a local and of a remote file is read at a time, to follow its lengths.
_LOCAL_BYTES, _REMOTE_BYTES = 1 << 16, 1 << 23


@dataclass
class Positions:
    """Where records are. Records and bytes are counted through all files.

    Attributes:
        shards: the files.
        first_records: int64 [files + 1], the number of the first record of each file.
        bases: int64 [files + 1], how many bytes are in the files before each.
        ends: where the frames of records end.
    """

    shards: Shards
    first_records: Rows
    bases: Rows
    ends: Ends

    def of(self, numbers: Rows) -> tuple[Rows, Rows, Rows]:
        """Return each record's file, and where its frame begins and ends.

        Raises:
            DatasetError: a file is damaged, or has not the records that its manifest lists.
            OSError: a file, or an index, cannot be read.
        """
        files = np.searchsorted(self.first_records, numbers, "right") - 1
        try:
            before, stops = self.ends.around(numbers, files)
        except DamagedError as error:
            # Records have their numbers by now: what is behind damage is no more left out.
            followed = _followed(self.shards, skip=False)
            warn(
                f"{error}: damaged or gone; the lengths of records were followed in its "
                "place, which reads all files: copy it again, or write the split again"
            )
            self.ends = KnownEnds(_through_all(followed, self.bases))
            before, stops = self.ends.around(numbers, files)
        first = numbers == self.first_records[files]
        return files, np.where(first, self.bases[files], before), stops


def find_positions(shards: Shards, *, skip: bool = False) -> Positions:
    """Find the records of files that are not compressed: by their index, or their lengths.

    Args:
        shards: the files.
        skip: leave out what is behind damage, with a warning.

    Raises:
        DatasetError: a file is damaged, or has not the records that its manifest lists.
    """
    bases = sums(shards.sizes)
    if shards.records is not None:
        first_records = sums(shards.records)
        ends = ends_by_index(shards, first_records, bases)
        if ends is not None:
            return Positions(shards, first_records, bases, ends)
    followed = _followed(shards, skip=skip)
    first_records = sums([*map(len, followed)])
    return Positions(
        shards, first_records, bases, KnownEnds(_through_all(followed, bases))
    )


def _followed(shards: Shards, *, skip: bool) -> list[Rows]:
    """Follow the lengths of all files: where the records of each end, int64 [N]."""
    found = in_threads(partial(_ends_of, skip=skip), shards.files)
    for file, ends in zip(shards.files, found, strict=True):
        if not skip and file.records is not None and file.records != len(ends):
            problem = wrong_count(file.path, len(ends), file.records)
            raise DatasetError(with_command(file.path, problem))
    return found


def _through_all(found: Sequence[Rows], bases: Rows) -> Rows:
    """Return where records end, counted through all files: int64 [records]."""
    shifted = [ends + base for ends, base in zip(found, bases, strict=False)]
    return np.concatenate([*shifted, bases[:0]])


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
