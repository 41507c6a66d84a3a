"""Records of files by their numbers, decoded and checked, without the corrupt ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from ..codecs.decoder import Batch, CorruptError, Decoder, Row, Run
from ..reading.columns import Rows
from ..reading.records import Records
from ..shared.errors import DatasetError, warn
from ..sources.files import Files
from .ahead import Ahead, in_order
from .fetching import (
    Comparison,
    Fetched,
    Fetcher,
    NumberFetcher,
    check_states,
    file_errors,
    place_of,
)
from .positions import Positions, find_positions, sums
from .sequence import SequentialFetcher, counts_of, refuse_compressed

Result = TypeVar("Result")

# How many records are read at a time where all are wanted.
_RUN, _RUN_BYTES = 1 << 12, 1 << 24


@dataclass(frozen=True)
class RecordSource:
    """The records of some files.

    Attributes:
        files: which.
        decoder: how their records are decoded.
        skip: leave out corrupt records, with a warning, in place of an error.
    """

    files: Files
    decoder: Decoder
    skip: bool = False

    def __getstate__(self) -> dict[str, Any]:
        """Leave out open files: another process opens its own."""
        return {"files": self.files, "decoder": self.decoder, "skip": self.skip}

    @cached_property
    def _comparison(self) -> Comparison:
        return Comparison(self.files)

    @cached_property
    def _positions(self) -> Positions:
        with file_errors(self.files):
            return find_positions(self.files, skip=self.skip)

    @cached_property
    def _by_number(self) -> Fetcher:
        """What reads records in any order."""
        refuse_compressed(self.files)
        return NumberFetcher(self.files, self._positions)

    @cached_property
    def _firsts(self) -> Rows:
        """The number of the first record of each file, and of all: int64 [files + 1]."""
        listed = self.files.records
        if any(self.files.compressions):
            return sums(counts_of(self.files) if listed is None else listed)
        if listed is None or self.skip:
            return self._positions.firsts
        return sums(listed)

    @cached_property
    def identity(self) -> str:
        """What is equal for equal data, wherever it is."""
        with file_errors(self.files):
            found = self.files.identity
            check_states(self.files, range(len(self.files.paths)))
        return found

    def __len__(self) -> int:
        """Return how many records there are."""
        return int(self._firsts[-1])

    def fetcher(self) -> Fetcher:
        """Return what reads records in any order, or of compressed files in theirs."""
        if any(self.files.compressions):
            counts = np.diff(self._firsts).tolist()
            return SequentialFetcher(self.files, counts, skip=self.skip)
        return self._by_number

    def most(self, records: int, size: int) -> int:
        """Return how many records to read at once: as many, or of as many bytes."""
        usual = sum(self.files.sizes) // max(1, len(self))
        return max(1, min(records, size // max(1, usual)))

    def read(self, numbers: Rows, decode: Callable[[Records], Result]) -> Result:
        """Read records in any order.

        Args:
            numbers: int64 [N], of the records.
            decode: what becomes of their bytes.

        Raises:
            DatasetError: a record is corrupt, or a file cannot be read.
        """
        fetched = self._by_number.fetch(numbers)
        return self._decoded(fetched, decode, skip=self.skip)

    def row(self, number: int) -> Row:
        """Read one record, which is never left out; errors are those of `read`."""
        fetched = self._by_number.fetch(np.array([number]))
        return self._decoded(fetched, self.decoder.rows, skip=False)[0]

    def read_each(
        self,
        parts: Iterable[Rows],
        decode: Callable[[Records], Result],
        fetcher: Fetcher,
        threads: int = 1,
    ) -> Iterator[tuple[Rows, Result]]:
        """Read records part by part; those of remote files are fetched ahead.

        Yields the numbers of the records that were read, and what became of them.

        Args:
            parts: int64 [N], the numbers of the records of each part.
            decode: what becomes of their bytes.
            fetcher: what reads them, from `fetcher`.
            threads: how many decode them.

        Raises:
            DatasetError: a record is corrupt, or a file cannot be read.
        """

        def finished(fetched: Fetched) -> tuple[Rows, Result]:
            result = self._decoded(fetched, decode, skip=self.skip)
            return fetched.records.numbers, result

        each = map(fetcher.fetch, parts)
        if self.files.has_remote:
            return in_order(finished, Ahead(each, 1), threads)
        if any(self.files.compressions):
            return in_order(finished, each, threads)
        return in_order(lambda part: finished(fetcher.fetch(part)), parts, threads)

    def _decoded(
        self, fetched: Fetched, decode: Callable[[Records], Result], *, skip: bool
    ) -> Result:
        """Decode records that were compared, and leave out corrupt ones.

        Raises:
            DatasetError: a record is corrupt, or the files are not what they were.
        """
        self._comparison.check(fetched.since)
        return self._sound(fetched.records, fetched.problems, decode, skip=skip)

    def _sound(
        self,
        records: Records,
        problems: dict[int, str],
        decode: Callable[[Records], Result],
        *,
        skip: bool,
    ) -> Result:
        while True:
            if problems:
                if not skip:
                    raise DatasetError(problems[min(problems)])
                records, problems = _without(records, problems), {}
            try:
                return decode(records)
            except CorruptError as error:
                problems = self._placed(records, error.problems)

    def _placed(self, records: Records, problems: dict[int, str]) -> dict[int, str]:
        """Return problems with the files and numbers of their records."""
        numbers, firsts = records.numbers.tolist(), self._firsts
        return {
            row: f"{place_of(self.files, firsts, numbers[row])}: {problem}"
            for row, problem in problems.items()
        }

    def batch(self, run: Run, start: int, stop: int) -> Batch | None:
        """Return a batch of records that were read; None if there are none.

        Raises:
            DatasetError: a record is corrupt.
        """
        if start == stop:
            return None
        try:
            return run.batch(start, stop)
        except CorruptError as error:
            records = run.records.only(slice(start, stop))
            problems = self._placed(records, error.problems)
            if self.skip and len(problems) == len(records):
                _without(records, problems)
                return None
            return self._sound(records, problems, self.decoder.batch, skip=self.skip)

    def runs(self) -> Iterator[Run]:
        """Yield all records in the order in which they are stored, many at a time."""
        return self.in_order(self.most(_RUN, _RUN_BYTES), self.decoder.run)

    def in_order(
        self, size: int, decode: Callable[[Records], Result]
    ) -> Iterator[Result]:
        """Read all records in the order in which they are stored, so many at a time.

        Raises:
            DatasetError: a record is corrupt, or a file cannot be read.
        """
        total = len(self)
        parts = (
            np.arange(start, min(total, start + size))
            for start in range(0, max(1, total), size)
        )
        for _, result in self.read_each(parts, decode, self.fetcher()):
            yield result


def _without(records: Records, problems: dict[int, str]) -> Records:
    """Leave out corrupt records, with a warning."""
    count = len(problems)
    many = "1 record is" if count == 1 else f"{count} records are"
    warn(f"{many} left out, the first is {problems[min(problems)]}")
    good = np.ones(len(records), np.bool_)
    good[list(problems)] = False
    return records.only(good)
