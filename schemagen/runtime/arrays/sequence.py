"""The records of compressed files, which can only be read in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from io import FileIO
from itertools import islice
from time import monotonic

import numpy as np

from ..reading.columns import Rows
from ..reading.records import records_of
from ..shared.errors import DatasetError
from ..sources.generation import check_unlisted
from ..sources.records import FileRecords, with_command
from ..sources.shards import File, Shards
from ..storage.manifest import wrong_count
from .fetching import NEVER, Fetched, file_errors
from .open_files import OpenFile

_IN_SEQUENCE = (
    "{}: a compressed file, and random access and shuffling need files without "
    "compression: write the split again without it; or read it in order, by iterating "
    "over the split or by batches() without shuffle_seed"
)


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
        DatasetError: the file is not the one that was found.
        OSError: it cannot be opened.
    """
    opened: FileIO | None = None
    if file.is_remote:
        current.check = partial(check_unlisted, [file])
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
