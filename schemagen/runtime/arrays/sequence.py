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
from ..sources.contents import Contents, wrong_count
from ..sources.files import Files
from .fetching import NEVER, Fetched, check_states, file_errors
from .open_files import OpenFile

_IN_SEQUENCE = (
    "{}: a compressed file, whose records can only be read in sequence; call batches() "
    "without shuffle_seed, or write the split without compression"
)


class SequentialFetcher:
    """Gets the records of compressed files, which can only be read in order.

    Args:
        files: which.
        counts: how many records each has.
        skip: pass over damage behind the last record of a file.
    """

    def __init__(
        self, files: Files, counts: Sequence[int], *, skip: bool = False
    ) -> None:
        self._files = files
        self._current = _Current()
        self._records = _records(files, counts, self._current, skip=skip)
        self._at = 0

    def fetch(self, numbers: Rows) -> Fetched:
        """Return the next records that have some numbers, before a comparison.

        Raises:
            DatasetError: they are not in order, or a file cannot be read.
        """
        if (np.diff(numbers, prepend=self._at - 1) < 1).any():
            raise DatasetError(_IN_SEQUENCE.format(self._files.paths[0]))
        found = []
        with file_errors(self._files):
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
        since = monotonic() if self._files.has_remote else self._current.opened
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
    files: Files, counts: Sequence[int], current: _Current, *, skip: bool
) -> Iterator[bytes | DatasetError]:
    """Yield all records, for each file as many as it should have.

    In place of a bad one there is its error, and for all behind the end of a file that of
    the last one.

    Raises:
        DatasetError: there is more in a file.
    """
    for number, count in enumerate(counts):
        path, found = files.paths[number], _records_of(files, number, current)
        problem: DatasetError | None = None
        for at in range(count):
            each = next(found, None)
            if each is None:
                each = problem or DatasetError(wrong_count(path, at, count))
            if isinstance(each, DatasetError):
                problem = each
            if at == count - 1:
                _check_end(path, found, count, skip=skip)
            yield each


def _check_end(
    path: str, behind: Iterator[bytes | DatasetError], count: int, *, skip: bool
) -> None:
    for more in behind:
        if isinstance(more, bytes):
            found = count + 1 + sum(1 for _ in behind)
            raise DatasetError(wrong_count(path, found, count))
        if not skip:
            raise more


def _records_of(
    files: Files, number: int, current: _Current
) -> Iterator[bytes | DatasetError]:
    """Yield the records of a file, and in place of a bad one its error.

    Raises:
        DatasetError: the file is not the one that was found.
        OSError: it cannot be opened.
    """
    file: FileIO | None = None
    if files.is_remote(number):
        current.check = partial(check_states, files, {number})
        current.opened = monotonic()
    else:
        opened = OpenFile(files, number)
        file = FileIO(opened.handle, closefd=False)
        current.check, current.opened = opened.check, opened.opened
    yield from Contents(files, number, file)
    current.check()


def counts_of(files: Files) -> tuple[int, ...]:
    """Read compressed files to their ends, and return how many records each has.

    Raises:
        DatasetError: a file cannot be read, or is not what it was.
    """
    with file_errors(files):
        return tuple(
            sum(1 for _ in _records_of(files, number, _Current()))
            for number in range(len(files.paths))
        )


def refuse_compressed(files: Files) -> None:
    """Refuse to read compressed files in another order than their own.

    Raises:
        DatasetError: one is compressed.
    """
    for path, compression in zip(files.paths, files.compressions, strict=True):
        if compression:
            raise DatasetError(_IN_SEQUENCE.format(path))
