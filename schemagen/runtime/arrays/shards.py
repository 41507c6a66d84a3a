"""Records of files by their numbers, decoded and checked, without the corrupt ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..cells.columns import Rows
from ..cells.decoded import RaggedRows
from ..cells.selection import SelectionError
from ..cells.serialized import Records
from ..native import Lengths
from ..records.decoder import Batch, CorruptError, DecodedRun, Decoder, Row
from ..shared.errors import DatasetError, warn
from ..sources.generation import check_all_same
from ..sources.records import with_command
from ..sources.shards import Shards
from .ahead import ReadSteps
from .arrow import table_of
from .cache import Cache
from .collation import flat_items
from .fetching import (
    Comparison,
    Fetched,
    Fetcher,
    NumberFetcher,
    SequentialFetcher,
    counts_of,
    file_errors,
    place_of,
    refuse_compressed,
)
from .lengths import KnownLengths
from .order import STORED, Epoch
from .positions import Positions, find_positions, sums
from .views import LoadedRecords, Result, View

# The random numbers that items are selected with are not those of functions.
_OF_SELECTIONS = (1 << 16) - 1


def decoded(
    view: View, records: Records, problems: dict[int, str], *, skip: bool
) -> DecodedRecords:
    """Decode records, and leave out corrupt ones.

    Args:
        view: whose records they are.
        records: the records.
        problems: what is wrong with some, by their rows.
        skip: leave out corrupt ones.

    Raises:
        DatasetError: one is corrupt, and none is left out.
    """
    run = _sound(view, records, problems, view.decoder.run, skip=skip)
    return DecodedRecords(view, run, skip=skip)


class DecodedRecords:
    """Records that were decoded together.

    Args:
        view: whose records they are.
        run: the records.
        skip: leave out those that turn out to be corrupt.

    Attributes:
        run: the records.
    """

    def __init__(self, view: View, run: DecodedRun, *, skip: bool) -> None:
        self.run = run
        self._view = view
        self._skip = skip

    @property
    def numbers(self) -> Rows:
        return self.run.numbers

    def batch(
        self, start: int, stop: int, fields: tuple[str, ...] | None = None
    ) -> Batch | None:
        run = self.run
        if fields is not None:
            for name in fields:
                self._check_known(name)
            run = run.only(fields)
        try:
            return run.batch(start, stop)
        except CorruptError as error:
            records = self.run.records.only(slice(start, stop))
            problems = _placed(self._view, records, error.problems)
            if self._skip and len(problems) == len(records):
                _without(records, problems)
                return None
            decode = run.decoder.batch
            return _sound(self._view, records, problems, decode, skip=self._skip)

    def rows(self) -> tuple[Rows, list[Row]]:
        try:
            return self.numbers, self.run.rows()
        except CorruptError as error:
            records = self.run.records
            problems = _placed(self._view, records, error.problems)

            def decode(records: Records) -> tuple[Rows, list[Row]]:
                return records.numbers, self._view.decoder.run(records).rows()

            return _sound(self._view, records, problems, decode, skip=self._skip)

    def _check_known(self, name: str) -> None:
        if name not in self.run.decoder.fields:  # in a mixture
            raise DatasetError(
                f"{self._view.where}: no field {name!r}: change all splits of a mixture "
                "with map, or none"
            )

    def lists(self, name: str) -> tuple[Any, Rows]:
        self._check_known(name)
        found, lengths = self.run.values(name), np.zeros(len(self.numbers), np.int64)
        decoder = self._view.decoder
        values = decoder.record[name].in_form(found.values(), decoder.form)
        if isinstance(values, RaggedRows):
            lengths[found.rows] = values.lengths
            return values.flat, lengths
        lengths[found.rows] = list(map(len, values))
        dtype = decoder.collators[decoder.record[name].label].dtype
        return flat_items([*values], dtype), lengths

    def table(self) -> Any:
        return table_of(self.run)


def _sound(
    view: View,
    records: Records,
    problems: dict[int, str],
    decode: Callable[[Records], Result],
    *,
    skip: bool,
) -> Result:
    """Return what becomes of records, or of those that are not corrupt."""
    while True:
        if problems:
            if not skip:
                row = min(problems)
                place = view.place(int(records.numbers[row]))
                problem = problems[row]
                if view.skips:
                    problem += (
                        "; on_corrupt='skip' leaves it out of batches and loops, but it "
                        "cannot be read by its number: select the others"
                    )
                raise DatasetError(with_command(place, problem))
            records, problems = _without(records, problems), {}
        try:
            return decode(records)
        except CorruptError as error:
            problems = _placed(view, records, error.problems)
        except SelectionError as error:
            place = view.place(int(records.numbers[error.row]))
            raise DatasetError(f"{place}: {error}") from error.__cause__


def _placed(view: View, records: Records, problems: dict[int, str]) -> dict[int, str]:
    """Return problems with the files and numbers of their records."""
    numbers = records.numbers.tolist()
    return {
        row: f"{view.place(numbers[row])}: {problem}"
        for row, problem in problems.items()
    }


def _without(records: Records, problems: dict[int, str]) -> Records:
    """Leave out corrupt records, with a warning."""
    count = len(problems)
    many = "1 record is" if count == 1 else f"{count} records are"
    warn(f"{many} left out, the first is {problems[min(problems)]}")
    good = np.ones(len(records), np.bool_)
    good[list(problems)] = False
    return records.only(good)


@dataclass(frozen=True, eq=False)
class ShardView(View):
    """The records of some files.

    Attributes:
        shards: the files.
        decoder: how their records are decoded.
        skips: whether corrupt records are left out, with a warning, in place of an error.
        known: lengths of lists that were read.
        cache: where blocks of remote files are kept; None for nowhere.
    """

    shards: Shards
    decoder: Decoder
    skips: bool = False
    known: KnownLengths = field(default_factory=KnownLengths)
    cache: Cache | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave out open files: another process opens its own."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @cached_property
    def _comparison(self) -> Comparison:
        return Comparison(self.shards)

    @cached_property
    def _positions(self) -> Positions:
        with file_errors(self.shards):
            return find_positions(self.shards, skip=self.skips)

    @cached_property
    def _by_number(self) -> Fetcher:
        """What reads records in any order."""
        refuse_compressed(self.shards)
        return NumberFetcher(self.shards, self._positions, self._comparison, self.cache)

    @cached_property
    def _first_records(self) -> Rows:
        """The number of the first record of each file, and of all: int64 [files + 1]."""
        listed = self.shards.records
        if self.shards.is_compressed:
            return sums(counts_of(self.shards) if listed is None else listed)
        if listed is None or self.skips:
            return self._positions.first_records
        return sums(listed)

    @cached_property
    def identity(self) -> str:
        """What is equal for equal data, wherever it is."""
        with file_errors(self.shards):
            found = self.shards.identity
            check_all_same(file for file in self.shards.files if not file.listed)
        return found

    def __len__(self) -> int:
        """Return how many records there are."""
        return int(self._first_records[-1])

    @property
    def size(self) -> int:
        return len(self)

    @property
    def where(self) -> str:
        return self.shards.where

    def place(self, number: int) -> str:
        return place_of(self.shards, self._first_records, number)

    def check_random(self) -> None:
        refuse_compressed(self.shards)

    @property
    def is_random(self) -> bool:
        return any(each.random for each in self.decoder.record.select.values())

    @cached_property
    def is_sequential(self) -> bool:
        return self.shards.is_compressed

    def numbers(self, positions: Rows, epoch: Epoch = STORED) -> Rows:
        return epoch.order(len(self)).at(positions)

    def window(self, epoch: Epoch) -> int:
        return epoch.order(len(self)).window

    def only(self, fields: tuple[str, ...]) -> ShardView:
        return replace(self, decoder=replace(self.decoder, fields=fields))

    def lengths(self, name: str, numbers: Rows, epoch: Epoch) -> Lengths:
        return self.known.of(self, name, numbers, epoch)

    def steps(
        self, epoch: Epoch = STORED, *, skip: bool | None = None
    ) -> ReadSteps[LoadedRecords]:
        skips = self.skips if skip is None else skip

        def decode(fetched: Fetched) -> LoadedRecords:
            records, problems = self._compared(fetched)
            if self.is_random:
                random = partial(epoch.generators, _OF_SELECTIONS)
                records = replace(records, random=random)
            return decoded(self, records, problems, skip=skips)

        is_apart = self.is_sequential or self.shards.has_remote
        return ReadSteps(self._fetcher().fetch, decode, self._compared, is_apart)

    def _fetcher(self) -> Fetcher:
        """Return what reads records in any order, or of compressed files in theirs."""
        if self.is_sequential:
            counts = np.diff(self._first_records).tolist()
            return SequentialFetcher(self.shards, counts, skip=self.skips)
        return self._by_number

    def _compared(self, fetched: Fetched) -> tuple[Records, dict[int, str]]:
        """Return records, and what is wrong with some, by their rows.

        Raises:
            DatasetError: the files are not what they were.
        """
        self._comparison.check(fetched.since)
        return fetched.records, fetched.problems

    def runs(self) -> Iterator[DecodedRun]:
        """Return all records in the order in which they are stored, some at a time."""

        def run(loaded: LoadedRecords) -> DecodedRun:
            assert isinstance(loaded, DecodedRecords)
            return loaded.run

        return self.in_order(run)
