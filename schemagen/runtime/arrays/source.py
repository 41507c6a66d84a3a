"""Records of files by their numbers, decoded and checked, without the corrupt ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from ..codecs.decoder import Batch, CorruptError, Decoder, Run
from ..reading.columns import Rows
from ..reading.records import Records
from ..shared.errors import DatasetError, warn
from ..sources.files import Files
from .fetching import (
    Fetcher,
    MappedFetcher,
    SequentialFetcher,
    file_errors,
    refuse_compressed,
)
from .positions import Positions, find_positions

Result = TypeVar("Result")

# How many records are read at a time where all are wanted.
_RUN, _RUN_BYTES = 1 << 12, 1 << 24

_DAMAGED = "the checksum of the record, or of its length, does not match"


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
    def _positions(self) -> Positions:
        with file_errors(self.files):
            return find_positions(self.files, skip=self.skip)

    @cached_property
    def _mapped(self) -> MappedFetcher:
        refuse_compressed(self.files)
        return MappedFetcher(self.files, self._positions)

    @cached_property
    def _count(self) -> int:
        if self.files.records is not None and not self.skip:
            return sum(self.files.records)
        if not any(self.files.compressions):
            return len(self._positions)
        return SequentialFetcher(self.files).count()

    def __len__(self) -> int:
        """Return how many records there are."""
        return self._count

    def fetcher(self) -> Fetcher:
        """Return what reads records in any order, or of compressed files in theirs."""
        if any(self.files.compressions):
            return SequentialFetcher(self.files)
        return self._mapped

    def most(self, records: int, size: int) -> int:
        """Return how many records to read at once: as many, or of as many bytes."""
        usual = sum(self.files.sizes) // max(1, len(self))
        return max(1, min(records, size // max(1, usual)))

    def read(
        self,
        numbers: Rows,
        decode: Callable[[Records], Result],
        fetcher: Fetcher | None = None,
    ) -> Result:
        """Read records.

        Args:
            numbers: int64 [N], of the records.
            decode: what becomes of their bytes.
            fetcher: what reads them; None for any order.

        Raises:
            DatasetError: a record is corrupt, or a file cannot be read.
        """
        fetcher = fetcher or self._mapped
        records, damaged = fetcher.fetch(numbers)
        problems = dict.fromkeys(damaged.tolist(), _DAMAGED)
        while True:
            if not problems:
                try:
                    return decode(records)
                except CorruptError as error:
                    problems = error.problems
            row = min(problems)
            problem = f"{fetcher.place(int(records.numbers[row]))}: {problems[row]}"
            if not self.skip:
                raise DatasetError(problem)
            count = len(problems)
            many = (
                "1 corrupt record is" if count == 1 else f"{count} corrupt records are"
            )
            warn(f"{many} left out, the first is {problem}")
            good = np.ones(len(records), np.bool_)
            good[list(problems)] = False
            records, problems = records.only(good), {}

    def batch(self, run: Run, start: int, stop: int) -> Batch | None:
        """Return a batch of records that were read; None if there are none.

        Raises:
            DatasetError: a record is corrupt.
        """
        if start == stop:
            return None
        try:
            return run.batch(start, stop)
        except CorruptError:  # reported, or skipped, when it is read again
            return self.read(run.numbers[start:stop], self.decoder.batch)

    def runs(self) -> Iterator[Run]:
        """Yield all records in the order in which they are stored, many at a time."""
        fetcher, size = self.fetcher(), self.most(_RUN, _RUN_BYTES)
        for start in range(0, len(self), size):
            numbers = np.arange(start, min(len(self), start + size))
            yield self.read(numbers, self.decoder.run, fetcher)
