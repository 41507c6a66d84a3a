"""Records, and values that identify them, that are there more than once."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...documents import WithProperties
from ..formatting import listed, one_line
from ..statistics.digests import Digested
from ..statistics.model import FileStatistics
from .columns import ColumnProfile, SplitProfile

# A key identifies records if so many of its values are different.
_DIFFERENT = 0.8

# Of fewer records none does.
_FEWEST = 30

# The different digests of each split, and where each of them occurs first.
_FirstRows = Mapping[str, tuple[Digested, NDArray[np.intp]]]

# Pairs of records in two splits may have equal values so many times as often as pairs in one.
_AS_OFTEN = 2

# So many standard deviations from what random integers have in common are by chance.
_DEVIATIONS = 3

# Random integers that are expected to have less than this in common have nothing.
_LEAST_EXPECTED = 0.01

SHOWN = 3
"""So many places of duplicates, and values of groups, are named."""


@dataclass(frozen=True, order=True)
class Position:
    """A record.

    Attributes:
        file: its path.
        record: its number in the file, counted from 0; -1 in a damaged file, in which
            records cannot be counted.
    """

    file: str
    record: int

    @property
    def text(self) -> str:
        """The place in words, with the name of the file."""
        name = one_line(os.path.basename(self.file), 60)
        return (
            f"record {self.record:,} of {name}"
            if self.record >= 0
            else f"a record of {name}"
        )


class SharedValue(NamedTuple):
    """A value that is in two splits, and in how many records of the last one."""

    name: str
    records: int


@dataclass(frozen=True)
class Duplicate:
    """Equal records, or equal values of a column, in one split or in two.

    Attributes:
        column: whose values are equal; None for whole records.
        splits: the split, or both of them.
        count: in one split, how many records are there again; in two, how many different
            ones are in both.
        share: these of the records of the smaller split; of groups, `records` of those of
            the last split.
        places: some of them: the record, and the one that it is equal to.
        files: how many files of the last split have some.
        natural: True for values in two splits that repeat there by nature, as captions
            do, or by chance, as times do: see `_is_natural`.
        records: of groups, how many records of the last split have one of the values.
        values: of groups, the values of the most records.
    """

    column: ColumnProfile | None
    splits: tuple[SplitProfile, ...]
    count: int
    share: float
    places: tuple[tuple[Position, Position], ...] = ()
    files: int = 0
    natural: bool = False
    records: int = 0
    values: tuple[SharedValue, ...] = ()
    __get_pydantic_core_schema__ = WithProperties("mark")

    @property
    def example(self) -> str:
        """The place of the first one, and of what it repeats; "" if unknown."""
        verb = "has the value of" if self.values else "is"
        some = (f"{again.text} {verb} {first.text}" for again, first in self.places[:1])
        return "".join(some)

    @property
    def named(self) -> str:
        """The first values of groups by name; "" without groups."""
        more = self.count - len(self.values)
        names = [each.name for each in self.values]
        return listed([*names, f"{more:,} more"] if names and more else names)

    @property
    def mark(self) -> str:
        """What is wrong: "leakage" between splits, "duplicates" of records in one, or "".

        Values may be in one split several times for good reasons, such as captions.
        """
        if len(self.splits) == 2:
            return "" if self.natural else "leakage"
        return "" if self.column else "duplicates"


@dataclass(frozen=True)
class Duplicates:
    """What is repeated, and the columns whose values were compared.

    Attributes:
        found: of records first.
        compared: columns whose values identify records or groups of them.
    """

    found: tuple[Duplicate, ...] = ()
    compared: tuple[ColumnProfile, ...] = ()

    def __add__(self, other: Duplicates) -> Duplicates:
        return Duplicates(self.found + other.found, self.compared + other.compared)

    @property
    def marked(self) -> tuple[Duplicate, ...]:
        """Those that should not be."""
        return tuple(each for each in self.found if each.mark)

    def of_pairs(self, pairs: Sequence[tuple[str | None, str | None]]) -> Duplicates:
        """Return those that concern two datasets: in the second one, or leaked across.

        What both versions of a split have is not repeated.

        Args:
            pairs: the names of each split in the first and in the second dataset.
        """
        places = {
            name: (at, side)
            for at, pair in enumerate(pairs)
            for side, name in enumerate(pair)
        }

        def concerns(found: Duplicate) -> bool:
            (at, side), *others = (places[split.name] for split in found.splits)
            return (
                all(at != b and side != s for b, s in others) if others else side == 1
            )

        found = tuple(each for each in self.found if concerns(each))
        return Duplicates(found, self.compared)


def duplicates_of(
    columns: Sequence[ColumnProfile],
    splits: Sequence[SplitProfile],
    files: Sequence[FileStatistics],
) -> Duplicates:
    """Find repeated records and values by the digests of splits."""
    places = {each.name: SplitPositions.of(each, files) for each in splits}
    records = {each.name: each.found.digests.records for each in splits}
    found = [*_repeated(None, records, _first_rows_of(records), splits, places)]
    compared = []
    for column in columns:
        values = {
            each.name: each.found.digests.values[column.key]
            for each in splits
            if column.key in each.found.digests.values
        }
        first_rows = _first_rows_of(values)
        if _identify(values, first_rows):
            compared.append(column)
            some = [each for each in splits if each.name in values]
            own = [
                each
                for each in _repeated(column, values, first_rows, some, places)
                if not any(_implies(whole, each) for whole in found)
            ]
            found += [replace(each, natural=_is_natural(each, own)) for each in own]
    return Duplicates(tuple(found), tuple(compared))


def _first_rows_of(found: Mapping[str, Digested]) -> _FirstRows:
    return {name: np.unique(each, return_index=True) for name, each in found.items()}


def _implies(records: Duplicate, values: Duplicate) -> bool:
    """Return whether values are repeated because whole records are."""
    same = records.splits == values.splits and records.column is None
    return same and records.count >= values.count


def _is_natural(found: Duplicate, every: Sequence[Duplicate]) -> bool:
    """Return whether values that are in two splits are expected to be.

    They are if pairs of records in both splits have equal values about as often as pairs
    in one of them, where captions repeat too; or as often as pairs of random integers of
    the range, of which some are equal in one split as well. None are where identifiers
    were assigned.
    """
    if len(found.splits) == 1:
        return False
    one, other = (split.found.read for split in found.splits)
    across, within = one * other, (one * (one - 1) + other * (other - 1)) / 2
    repeats = sum(
        each.count
        for each in every
        if len(each.splits) == 1 and each.splits[0] in found.splits
    )
    if found.count <= _AS_OFTEN * across * repeats / within:
        return True
    numbers = found.column.whole.numbers if found.column else None
    if numbers is None or numbers.minimum is None or numbers.maximum is None:
        return False
    values = numbers.maximum - numbers.minimum + 1
    expected, inside = across / values, within / values
    return (
        expected >= _LEAST_EXPECTED
        and found.count <= expected + _DEVIATIONS * math.sqrt(expected) + 1
        and repeats >= inside - _DEVIATIONS * math.sqrt(inside)
    )


def _identify(values: Mapping[str, Digested], first_rows: _FirstRows) -> bool:
    """Return whether values of a key differ from record to record, in each split."""
    total = sum(map(len, values.values()))
    different = sum(len(unique) for unique, _ in first_rows.values())
    return (
        total >= _FEWEST
        and all(map(len, values.values()))
        and different >= _DIFFERENT * total
    )


def _repeated(
    column: ColumnProfile | None,
    found: Mapping[str, Digested],
    first_rows: _FirstRows,
    splits: Sequence[SplitProfile],
    places: Mapping[str, SplitPositions],
) -> Iterator[Duplicate]:
    """Yield what is there more than once in a split, and what is in two."""
    for split in splits:
        values, (unique, first) = found[split.name], first_rows[split.name]
        count = len(values) - len(unique)
        if count:
            again = np.ones(len(values), np.bool_)
            again[first] = False
            repeats = np.flatnonzero(again)
            others = first[np.searchsorted(unique, values[repeats])]
            where = places[split.name]
            yield Duplicate(
                column,
                (split,),
                count,
                count / len(values),
                where.pairs(repeats, where, others, len(values)),
                where.files_of(repeats, len(values)),
            )
    for one, other in combinations(splits, 2):
        (a, a_rows), (b, b_rows) = first_rows[one.name], first_rows[other.name]
        both, in_one, in_other = np.intersect1d(
            a, b, assume_unique=True, return_indices=True
        )
        if len(both):
            order = np.argsort(b_rows[in_other])
            earlier_rows = a_rows[in_one][order]
            other_rows = b_rows[in_other][order]
            sizes = len(found[one.name]), len(found[other.name])
            where = places[other.name]
            yield Duplicate(
                column,
                (one, other),
                len(both),
                len(both) / min(sizes),
                where.pairs(other_rows, places[one.name], earlier_rows, *sizes[::-1]),
                where.files_of(other_rows, sizes[1]),
            )


@dataclass(frozen=True)
class SplitPositions:
    """Where the records of a split are: they were read file by file.

    Attributes:
        files: of the split.
        ends: how many records are in the files up to each.
    """

    files: Sequence[FileStatistics]
    ends: NDArray[np.int64] = field(compare=False)

    @classmethod
    def of(cls, split: SplitProfile, files: Sequence[FileStatistics]) -> SplitPositions:
        """Return the places of a split's records, by the files of all splits."""
        own = [file for file in files if file.split == split.name]
        return cls(own, np.cumsum([file.records for file in own], dtype=np.int64))

    def knows(self, records: int) -> bool:
        """Whether so many digests are those of all records, one each."""
        return len(self.ends) > 0 and records == self.ends[-1]

    def place(self, row: int) -> Position:
        """Return the place of a record."""
        at = int(np.searchsorted(self.ends, row, "right"))
        file = self.files[at]
        number = row - int(self.ends[at]) + file.records
        return Position(file.path, -1 if file.damaged else number)

    def pairs(
        self,
        rows: NDArray[np.int64],
        other: SplitPositions,
        others: NDArray[np.int64],
        records: int,
        other_records: int | None = None,
    ) -> tuple[tuple[Position, Position], ...]:
        """Return the first places of rows, each with that of an equal record."""
        same = records if other_records is None else other_records
        if not (self.knows(records) and other.knows(same)):
            return ()
        some = zip(rows[:SHOWN].tolist(), others[:SHOWN].tolist(), strict=True)
        return tuple((self.place(row), other.place(first)) for row, first in some)

    def files_of(self, rows: NDArray[np.int64], records: int) -> int:
        """Return how many files have some of the rows; 0 if that is unknown."""
        if not self.knows(records):
            return 0
        return len(np.unique(np.searchsorted(self.ends, rows, "right")))
