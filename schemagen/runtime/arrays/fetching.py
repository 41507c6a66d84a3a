"""The bytes of records by their numbers: of local files by pread, of others by ranges.

The records of compressed files come in order only.

What is fetched is delivered, or kept in a cache, only after the manifest was compared with
what it was when the split was opened. An overwrite replaces the manifest before any file. So
the comparison has to begin after a local file was opened, which then stays the same file, and
after each read of a remote one. What a cache has kept is of one generation already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from io import FileIO
from itertools import islice
from time import monotonic
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..cells.columns import Rows
from ..cells.serialized import Records, records_of
from ..native import damaged
from ..native.memory import empty
from ..shared.errors import DatasetError
from ..shared.tfrecord import FOOTER_SIZE, HEADER_SIZE
from ..sources.generation import (
    Generation,
    check_all_same,
    replaced,
    unreadable_problem,
)
from ..sources.records import FileRecords, with_command
from ..sources.shards import File, Shards
from ..storage.files import in_threads
from ..storage.manifest import wrong_count
from .cache import Cache, CachedFiles, Request
from .open_files import NEVER, OpenFile, OpenFiles
from .positions import Positions
from .ranges import FileRanges

# Records of a remote file that are as near to each other come with one request.
_GAP_BYTES = 1 << 17

_DAMAGED = "the checksum of the record, or of its length, does not match"

_IN_SEQUENCE = (
    "{}: a compressed file, and random access and shuffling need files without "
    "compression: write the split again without it; or read it in order, by iterating "
    "over the split or by batches() without shuffle_seed"
)


@dataclass(frozen=True)
class Fetched:
    """Records as they were read.

    Attributes:
        records: the records; what those with problems hold is of no use.
        problems: what is wrong with a record, by its row.
        since: when a file was opened, or a remote one read; on the clock of
            `time.monotonic`. A comparison that began before does not count.
    """

    records: Records
    problems: dict[int, str]
    since: float = NEVER

    @property
    def nbytes(self) -> int:
        """How many bytes they have."""
        return int((self.records.stops - self.records.starts).sum())

    def only(self, rows: Rows) -> Fetched:
        """Return some of them, by their rows: int64 [N]."""
        problems = {
            at: self.problems[row]
            for at, row in enumerate(rows.tolist() if self.problems else ())
            if row in self.problems
        }
        return Fetched(self.records.only(rows), problems, self.since)


class Fetcher(Protocol):
    """Gets records by their numbers, counted through all files."""

    def fetch(self, numbers: Rows) -> Fetched:
        """Return records in the order of their numbers, before a comparison.

        Raises:
            DatasetError: a file cannot be read, or is not what it was.
        """


class Comparison:
    """Compares the generation of files, unless that was done late enough.

    Args:
        shards: the files.
    """

    def __init__(self, shards: Shards) -> None:
        self._generation = Generation(shards)
        self._began = NEVER

    def check(self, since: float) -> None:
        """Compare, unless a comparison has begun later than a time.

        Raises:
            DatasetError: the files are not what they were.
        """
        if since >= self._began:
            began = monotonic()
            self._generation.check()
            self._began = began


class NumberFetcher:
    """Gets records in any order: of local files by pread, of others by requests.

    Args:
        shards: the files.
        positions: where their records are.
        comparison: compares the files before what was fetched is kept.
        cache: where it is kept; None for nowhere.
    """

    def __init__(
        self,
        shards: Shards,
        positions: Positions,
        comparison: Comparison,
        cache: Cache | None = None,
    ) -> None:
        self._shards = shards
        self._positions = positions
        self._comparison = comparison
        self._open = OpenFiles(shards.files)
        self._is_remote = np.array([file.is_remote for file in shards.files], np.bool_)
        self._cached = cache and CachedFiles(cache, shards.files, self._fetched)

    def fetch(self, numbers: Rows) -> Fetched:
        """Return records in the order of their numbers, before a comparison."""
        since = NEVER
        with file_errors(self._shards):
            ranges = _ranges_of(self._positions, numbers)
            memory = empty(int(ranges.sizes.sum()), np.uint8)
            is_remote = self._is_remote[ranges.files]
            if not is_remote.all():
                since = self._open.read_into(memory, ranges.at(~is_remote))
            if is_remote.any():
                since = max(since, self._read(memory, ranges.at(is_remote)))
            wrong = damaged(memory, ranges.begins, ranges.ends)
            if self._cached and wrong.size:
                # Not by the cache again: its disk may be what damages them.
                kept = self._cached.forget(ranges.of_records(wrong, self._positions))
                since = max(since, self._request(memory, kept))
                wrong = damaged(memory, ranges.begins, ranges.ends)
        return ranges.fetched(memory, wrong, self._shards, self._positions, since)

    def _read(self, memory: NDArray[np.uint8], ranges: FileRanges) -> float:
        """Read ranges of remote files into memory.

        Returns:
            When the last of those that still have to be compared was read.
        """
        if self._cached:
            ranges = self._cached.read_into(memory, ranges)
        return self._request(memory, ranges)

    def _request(self, memory: NDArray[np.uint8], ranges: FileRanges) -> float:
        """Do the same without a cache."""
        parts = [*ranges.by_gap(_GAP_BYTES)]
        if not parts:
            return NEVER
        answers = self._answers(
            [(int(p.files[0]), int(p.starts[0]), int(p.stops[-1])) for p in parts]
        )
        for part, answer in zip(parts, answers, strict=True):
            data = np.frombuffer(answer, np.uint8)
            offsets = part.starts - part.starts[0]
            columns = offsets.tolist(), part.sizes.tolist(), part.places.tolist()
            for start, size, place in zip(*columns, strict=True):
                memory[place : place + size] = data[start : start + size]
        return monotonic()

    def _fetched(self, requests: Sequence[Request]) -> list[bytes]:
        """Return ranges of remote files, after a comparison."""
        answers = self._answers(requests)
        self._comparison.check(monotonic())
        return answers

    def _answers(self, requests: Sequence[Request]) -> list[bytes]:
        """Return ranges of remote files, before the manifest is compared."""
        files = self._shards.files
        answers = in_threads(lambda each: files[each[0]].read(*each[1:]), requests)
        check_all_same(files[number] for number in {number for number, *_ in requests})
        return answers


@dataclass(frozen=True)
class _RecordRanges(FileRanges):
    """Ranges that hold some records, of which those without bytes between are read together.

    They are in memory in the order of their first records, as what is decoded one after
    the other should be.

    Attributes:
        numbers: int64 [N], of the records.
        begins: int64 [N], where the frame of each record begins in memory.
        ends: int64 [N], where it ends.
    """

    numbers: Rows
    begins: Rows
    ends: Rows

    def of_records(self, rows: Rows, positions: Positions) -> FileRanges:
        """Return a range for each of some records."""
        _, first_rows = np.unique(self.numbers[rows], return_index=True)
        some = rows[first_rows]
        files, starts, stops = positions.of(self.numbers[some])
        return FileRanges(
            files, starts - positions.bases[files], stops - starts, self.begins[some]
        )

    def fetched(
        self,
        memory: NDArray[np.uint8],
        wrong: Rows,
        shards: Shards,
        positions: Positions,
        since: float,
    ) -> Fetched:
        """Return the records, given the bytes of all ranges in memory.

        Args:
            memory: the bytes.
            wrong: the rows of damaged records.
            shards: the files.
            positions: of all records.
            since: when they were read.
        """
        starts, stops = self.begins + HEADER_SIZE, self.ends - FOOTER_SIZE
        records = Records("", memory, starts, stops, self.numbers, starts)
        problems = {
            row: f"{place_of(shards, positions.first_records, int(self.numbers[row]))}: {_DAMAGED}"
            for row in wrong.tolist()
        }
        return Fetched(records, problems, since)


def _ranges_of(positions: Positions, numbers: Rows) -> _RecordRanges:
    """Return the ranges of some records.

    Args:
        positions: of all records.
        numbers: int64 [N], of those that are wanted.
    """
    files, starts, stops = positions.of(numbers)
    order = np.argsort(starts)
    file, start = files[order], starts[order]
    stop = np.maximum.accumulate(stops[order])
    begins_range = np.ones(len(order), np.bool_)
    begins_range[1:] = (file[1:] != file[:-1]) | (start[1:] > stop[:-1])
    first_of_ranges = np.flatnonzero(begins_range)
    last_of_ranges = np.append(first_of_ranges, len(order))[1:] - 1
    sizes = stop[last_of_ranges] - start[first_of_ranges]
    # The ranges in the order of their first records.
    by_row = np.full(len(order), -1)
    by_row[order[first_of_ranges]] = np.arange(len(first_of_ranges))
    together = by_row[by_row >= 0]
    offsets = np.empty_like(sizes)
    offsets[together] = np.cumsum(sizes[together]) - sizes[together]
    begins = np.empty_like(starts)
    begins[order] = (
        start + (offsets - start[first_of_ranges])[np.cumsum(begins_range) - 1]
    )
    return _RecordRanges(
        files=file[first_of_ranges],
        starts=start[first_of_ranges] - positions.bases[file[first_of_ranges]],
        sizes=sizes,
        places=offsets,
        numbers=numbers,
        begins=begins,
        ends=begins + (stops - starts),
    )


@contextmanager
def file_errors(shards: Shards) -> Iterator[None]:
    """Raise errors of files as those of data, or say that the files were replaced.

    Raises:
        DatasetError: a file cannot be read, is another one, or was replaced.
    """
    try:
        yield
    except (OSError, DatasetError) as error:
        if problem := replaced([shards]):
            raise DatasetError(problem) from None
        if isinstance(error, DatasetError):
            raise
        files = {file.path: file for file in shards.files}
        path = str(error.filename)
        problem = unreadable_problem(files.get(path, File(path)), error)
        raise DatasetError(problem) from None


def place_of(shards: Shards, first_records: Rows, number: int) -> str:
    """Return a record's file and its number there, for messages.

    Args:
        shards: all files.
        first_records: int64 [files + 1], the number of the first record of each file.
        number: of the record, counted through all files.
    """
    file = int(np.searchsorted(first_records, number, "right")) - 1
    return f"{shards.paths[file]}: record {number - int(first_records[file])}"


class SequentialFetcher:
    """Gets the records of compressed files, which can only be read in order.

    Args:
        shards: the files.
        counts: how many records each has.
        skip: pass over damage behind the last record of a file.
    """

    def __init__(
        self, shards: Shards, counts: Sequence[int], *, skip: bool = False
    ) -> None:
        self._shards = shards
        self._current = _Current()
        self._records = _records(shards.files, counts, self._current, skip=skip)
        self._at = 0

    def fetch(self, numbers: Rows) -> Fetched:
        """Return the next records that have some numbers, before a comparison.

        Raises:
            DatasetError: they are not in order, or a file cannot be read.
        """
        if (np.diff(numbers, prepend=self._at - 1) < 1).any():
            raise DatasetError(_IN_SEQUENCE.format(self._shards.paths[0]))
        found = []
        with file_errors(self._shards):
            for number in numbers.tolist():
                found.append(next(islice(self._records, number - self._at, None)))
                self._at = number + 1
            self._current.check()
        messages = [each if isinstance(each, bytes) else b"" for each in found]
        problems = {
            row: str(each)
            for row, each in enumerate(found)
            if isinstance(each, DatasetError)
        }
        records = replace(records_of(messages), numbers=numbers)
        since = monotonic() if self._shards.has_remote else self._current.opened
        return Fetched(records, problems, since)


@dataclass
class _Current:
    """The file that is read.

    Attributes:
        opened: when it was opened, on the clock of `time.monotonic`.
        check: compares it with what it was, and raises a DatasetError if it was changed.
    """

    opened: float = NEVER
    check: Callable[[], None] = lambda: None


def _records(
    files: Sequence[File], counts: Sequence[int], current: _Current, *, skip: bool
) -> Iterator[bytes | DatasetError]:
    """Yield all records, for each file as many as it should have.

    In place of a bad one there is its error, and for all behind the end of a file that of
    the last one.

    Raises:
        DatasetError: there is more in a file.
    """
    for file, count in zip(files, counts, strict=True):
        found = _records_of(file, current)
        problem: DatasetError | None = None
        for at in range(count):
            each = next(found, None)
            if each is None:
                each = problem or DatasetError(wrong_count(file.path, at, count))
            if isinstance(each, DatasetError):
                problem = each
            if at == count - 1:
                _check_end(file.path, found, count, skip=skip)
            yield each


def _check_end(
    path: str, behind: Iterator[bytes | DatasetError], count: int, *, skip: bool
) -> None:
    for more in behind:
        if isinstance(more, bytes):
            found = count + 1 + sum(1 for _ in behind)
            raise DatasetError(with_command(path, wrong_count(path, found, count)))
        if not skip:
            raise DatasetError(with_command(path, str(more)))


def _records_of(file: File, current: _Current) -> Iterator[bytes | DatasetError]:
    """Yield the records of a file, and in place of a bad one its error.

    Raises:
        DatasetError: the file is not the one that was opened.
        OSError: it cannot be opened.
    """
    opened: FileIO | None = None
    if file.is_remote:
        current.check = partial(check_all_same, [file])
        current.opened = monotonic()
    else:
        held = OpenFile(file)
        opened = FileIO(held.handle, closefd=False)
        current.check, current.opened = held.check, held.opened
    yield from FileRecords(file, opened)
    current.check()


def counts_of(shards: Shards) -> tuple[int, ...]:
    """Read compressed files to their ends, and return how many records each has.

    Raises:
        DatasetError: a file cannot be read, or is not what it was.
    """
    with file_errors(shards):
        return tuple(
            sum(1 for _ in _records_of(file, _Current())) for file in shards.files
        )


def refuse_compressed(shards: Shards) -> None:
    """Refuse to read compressed files in another order than their own.

    Raises:
        DatasetError: one is compressed.
    """
    for file in shards.files:
        if file.compression:
            raise DatasetError(_IN_SEQUENCE.format(file.path))
