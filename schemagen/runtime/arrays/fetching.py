"""The bytes of records: out of mapped memory, or by ranges of remote files."""

from __future__ import annotations

import mmap
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import Protocol

import numpy as np

from ..reading.columns import Rows
from ..reading.records import Records, records_of
from ..shared.errors import DatasetError
from ..shared.tfrecord import (
    FOOTER_SIZE,
    HEADER_SIZE,
    are_headers,
    are_whole,
)
from ..shared.wire import Buffer
from ..sources.contents import Contents
from ..sources.file_access import access_to
from ..sources.files import Files
from ..sources.replacement import replaced
from ..storage.files import in_threads
from .positions import Positions

# Records of a remote file that are as near to each other come with one request.
_GAP_BYTES = 1 << 16

_IN_SEQUENCE = (
    "{}: a compressed file, whose records can only be read in sequence; call batches() "
    "without shuffle_seed, or write the split without compression"
)

# In seconds: how often files that are opened are compared with the manifest.
_PAUSE = 1.0


class Fetcher(Protocol):
    """Gets records by their numbers, counted through all files."""

    def place(self, number: int) -> str:
        """Return a record's file and its number there, for messages."""

    def fetch(self, numbers: Rows) -> tuple[Records, Rows]:
        """Return records in the order of their numbers, and the rows of damaged ones.

        Raises:
            DatasetError: a file cannot be read, or is not what it was.
        """


class MappedFetcher:
    """Gets records by their numbers. Files are opened when they are needed first.

    Args:
        files: which.
        positions: where their records are.
    """

    def __init__(self, files: Files, positions: Positions) -> None:
        self._files = files
        self._positions = positions
        self._mapped: dict[int, memoryview] = {}
        self._compared = float("-inf")

    def place(self, number: int) -> str:
        """Return a record's file and its number there, for messages."""
        file = int(self._positions.files_of(np.array([number]))[0])
        first = int(self._positions.firsts[file])
        return f"{self._files.paths[file]}: record {number - first}"

    def fetch(self, numbers: Rows) -> tuple[Records, Rows]:
        """Return records in the order of their numbers, and the rows of damaged ones.

        Args:
            numbers: int64 [N], through all files.

        Raises:
            DatasetError: a file cannot be read, or is not what it was.
        """
        files, starts, stops = self._positions.of(numbers)
        wanted = list(zip(files.tolist(), starts.tolist(), stops.tolist(), strict=True))
        with file_errors(self._files):
            frames = self._frames(wanted)
        data = np.frombuffer(bytearray().join(frames), np.uint8)
        ends = np.cumsum(stops - starts)
        begins = ends - (stops - starts)
        records = Records(
            "", data, begins + HEADER_SIZE, ends - FOOTER_SIZE, numbers, starts
        )
        return records, _damaged(records)

    def _frames(self, wanted: Sequence[tuple[int, int, int]]) -> list[Buffer]:
        paths = self._files.paths
        if not any("://" in paths[file] for file, _, _ in wanted):
            return [self._memory(file)[start:stop] for file, start, stop in wanted]
        ranges = _ranges(wanted)
        pieces = in_threads(
            lambda each: access_to(paths[each[0]]).read(paths[each[0]], *each[1:]),
            ranges,
        )
        known = {file: ([], []) for file, _, _ in ranges}  # type: ignore[var-annotated]
        for (file, start, _), piece in zip(ranges, pieces, strict=True):
            known[file][0].append(start)
            known[file][1].append(piece)
        self._compare()
        found = []
        for file, start, stop in wanted:
            begins, parts = known[file]
            at = int(np.searchsorted(begins, start, "right")) - 1
            found.append(parts[at][start - begins[at] : stop - begins[at]])
        return found

    def _memory(self, number: int) -> memoryview:
        """Return the memory of a file, which stays that of the file as it was opened."""
        known = self._mapped.get(number)
        if known is None:
            path = self._files.paths[number]
            with open(path, "rb") as file:
                memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
                known = memoryview(memory)
            if len(known) != self._files.sizes[number]:
                raise DatasetError(
                    f"{path}: found {len(known)} bytes, expected the "
                    f"{self._files.sizes[number]} that it had when the split was opened"
                )
            self._mapped[number] = known
            self._compare()
        return known

    def _compare(self) -> None:
        """Refuse to read a split that was written again meanwhile."""
        now = time.monotonic()
        if now - self._compared > _PAUSE:
            self._compared = now
            refuse_replaced(self._files)


def _damaged(records: Records) -> Rows:
    """Return the rows whose lengths or checksums are wrong."""
    starts, stops, data = records.starts, records.stops, records.data
    headers = data[starts[:, np.newaxis] + np.arange(-HEADER_SIZE, 0)]
    lengths = headers[:, :8].copy().view("<u8")[:, 0]
    right = are_headers(headers) & (lengths == (stops - starts).astype(np.uint64))
    return np.flatnonzero(~(right & are_whole(data, starts, stops)))


def _ranges(wanted: Sequence[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Join places of one file that are near each other: file, start and stop."""
    found: list[tuple[int, int, int]] = []
    for file, start, stop in sorted(wanted):
        if found and found[-1][0] == file and start - found[-1][2] <= _GAP_BYTES:
            found[-1] = (file, found[-1][1], max(stop, found[-1][2]))
        else:
            found.append((file, start, stop))
    return found


class SequentialFetcher:
    """Gets the records of compressed files, which can only be read in order.

    Args:
        files: which.
    """

    def __init__(self, files: Files) -> None:
        self._files = files
        self._records = self._all()
        self._at = 0
        self._places: list[str] = []
        self._first = 0

    def place(self, number: int) -> str:
        """Return the file of a record of the last ones, and its number there."""
        return self._places[number - self._first]

    def fetch(self, numbers: Rows) -> tuple[Records, Rows]:
        """Return the next records that have some numbers, and the rows of damaged ones.

        Raises:
            DatasetError: they are not in order, or a file cannot be read.
        """
        first, count = int(numbers[0]), len(numbers)
        if first < self._at or not (np.diff(numbers) == 1).all():
            raise DatasetError(_IN_SEQUENCE.format(self._files.paths[0]))
        with file_errors(self._files):
            for _ in range(first - self._at):
                next(self._records)
            taken = list(islice(self._records, count))
        self._at, self._first = first + count, first
        self._places = [place for place, _ in taken]
        messages = [each if isinstance(each, bytes) else b"" for _, each in taken]
        bad = [at for at, (_, each) in enumerate(taken) if not isinstance(each, bytes)]
        found = replace(records_of(messages), numbers=numbers)
        return found, np.array(bad, np.int64)

    def count(self) -> int:
        """Read all records that follow, and return how many there are."""
        return sum(1 for _ in self._records)

    def _all(self) -> Iterator[tuple[str, bytes | DatasetError]]:
        refuse_replaced(self._files)
        for path in self._files.paths:
            for number, record in enumerate(Contents(path)):
                yield f"{path}: record {number}", record


def refuse_compressed(files: Files) -> None:
    """Refuse to read compressed files in another order than their own.

    Raises:
        DatasetError: one is compressed.
    """
    for path, compression in zip(files.paths, files.compressions, strict=True):
        if compression:
            raise DatasetError(_IN_SEQUENCE.format(path))


def refuse_replaced(files: Files) -> None:
    """Refuse to read files that are not what they were when they were opened.

    Raises:
        DatasetError: they are not.
    """
    if problem := replaced([files]):
        raise DatasetError(problem)


@contextmanager
def file_errors(files: Files) -> Iterator[None]:
    """Raise errors of the disk or the network as those of data, with the cause.

    Raises:
        DatasetError: a file cannot be read, or was replaced.
    """
    try:
        yield
    except OSError as error:
        refuse_replaced(files)
        reason = error.strerror or error
        raise DatasetError(f"{error.filename}: it cannot be read: {reason}") from None
