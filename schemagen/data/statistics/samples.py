"""Samples of a split: a few whole records, and the rows of many more.

Both are spread over all records, whatever the order they are seen in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...runtime.cells.columns import Column, Columns, StepColumn
from ...runtime.cells.serialized import Records
from ...runtime.native import BYTES, NOTHING

MOST_RECORDS = 24
"""So many records are kept."""

MOST_BYTES = 1 << 25
"""Or fewer, as soon as they have so many bytes together."""


@dataclass(frozen=True, order=True)
class Sample:
    """One record as it is.

    Attributes:
        priority: a number by chance, but always the same for this place; of all records
            those with the least ones are kept.
        file: the file's path.
        number: which record of the file it is, counted from 0.
        offset: where its bytes begin, as in Records.
        data: its bytes.
    """

    priority: int
    file: str
    number: int
    offset: int
    data: bytes


def with_samples(
    found: tuple[Sample, ...], records: Records, priorities: NDArray[np.uint64]
) -> tuple[Sample, ...]:
    """Return the samples that stay of some and of further records.

    Args:
        found: the samples so far.
        records: some records of a file.
        priorities: of these.
    """
    chosen = np.argsort(priorities, kind="stable")[:MOST_RECORDS]
    if (
        len(found) == MOST_RECORDS
        or sum(len(each.data) for each in found) >= MOST_BYTES
    ):
        chosen = chosen[priorities[chosen] <= np.uint64(found[-1].priority)]
    if not len(chosen):
        return found
    new = tuple(
        Sample(
            int(priorities[row]),
            records.file,
            int(records.numbers[row]),
            int(records.offsets[row]),
            records[row],
        )
        for row in chosen.tolist()
    )
    return merged_samples([found, new])


def merged_samples(parts: Iterable[tuple[Sample, ...]]) -> tuple[Sample, ...]:
    """Return the samples that stay of all parts, in order.

    What stays of all of them stays of any part, so that parts may be chosen from first.
    """
    kept: list[Sample] = []
    size = 0
    for sample in sorted(chain(*parts)):
        if len(kept) == MOST_RECORDS or size >= MOST_BYTES:
            break
        kept.append(sample)
        size += len(sample.data)
    return tuple(kept)


def priorities_of(numbers: NDArray[np.int64], rank: int) -> NDArray[np.uint64]:
    """Mix the place of each record up: splitmix64.

    Args:
        numbers: [N], of records of a file.
        rank: which file of its split it is. Record 0 of file 0 comes first of all.
    """
    with np.errstate(over="ignore"):
        mixed = numbers.astype(np.uint64) + np.uint64(rank) * np.uint64(1 << 40)
        mixed = mixed * np.uint64(0x9E37_79B9_7F4A_7C15)
        mixed = (mixed ^ mixed >> np.uint64(30)) * np.uint64(0xBF58_476D_1CE4_E5B9)
        mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(0x94D0_49BB_1331_11EB)
    found: NDArray[np.uint64] = mixed ^ mixed >> np.uint64(31)
    return found


MOST_ROWS = 2_000
"""So many records are kept."""

MOST_TEXT = 64
"""Longer bytes values are no texts, in bytes."""

MISSING, NUMBER, TEXT, OTHER = range(4)
"""What a record has under a key: no value, a number, a short text, anything else."""

_NEVER = np.uint64(2**64 - 1)

Priorities = NDArray[np.uint64]


@dataclass(frozen=True)
class SampledValues:
    """What the records of a sample have under one key, of a feature or a feature list.

    Attributes:
        held: uint8 [N], MISSING, NUMBER, TEXT or OTHER.
        numbers: float64 [N], NaN where there is no number. Integers beyond 2**53 are
            rounded.
        texts: bytes [N], which need not be UTF-8; empty where there is no text. numpy
            has them without NUL at the end.
        counts: int64 [N], how many values there are, or steps of a feature list; -1
            where a record lacks it.
        means: float64 [N], of the numbers, of all steps; NaN where there are none.
    """

    held: NDArray[np.uint8]
    numbers: NDArray[np.float64]
    texts: NDArray[np.bytes_]
    counts: NDArray[np.int64]
    means: NDArray[np.float64]

    @classmethod
    def missing(cls, count: int) -> SampledValues:
        """Return the cells of so many records that have no value."""
        return cls(
            np.full(count, MISSING, np.uint8),
            np.full(count, np.nan),
            np.zeros(count, "S1"),
            np.full(count, -1, np.int64),
            np.full(count, np.nan),
        )

    @classmethod
    def of_numbers(cls, values: NDArray[Any]) -> SampledValues:
        """Return the cells of records that have a single number each."""
        count, numbers = len(values), values.astype(np.float64)
        held = np.full(count, NUMBER, np.uint8)
        ones = np.ones(count, np.int64)
        return cls(held, numbers, np.zeros(count, "S1"), ones, numbers)

    def only(self, rows: NDArray[np.intp]) -> SampledValues:
        """Return some of the cells."""
        return SampledValues(*(each[rows] for each in vars(self).values()))


@dataclass(frozen=True)
class RowSample:
    """A few records, spread over all, whatever the order they are seen in.

    Attributes:
        priorities: uint64 [N], ascending: a number by chance for each record, as of
            samples. Of all records those with the least ones are kept.
        cells: by key.
    """

    priorities: Priorities = field(default_factory=lambda: np.empty(0, np.uint64))
    cells: Mapping[str, SampledValues] = field(default_factory=dict)

    @classmethod
    def of(cls, keys: Iterable[str]) -> RowSample:
        """Return a sample of no record yet."""
        return cls(cells={key: SampledValues.missing(0) for key in keys})

    def __len__(self) -> int:
        """Return how many records there are."""
        return len(self.priorities)

    def with_columns(self, held: Sequence[tuple[Columns, Priorities]]) -> RowSample:
        """Return what stays of the sample and of further records.

        Args:
            held: records and their priorities.
        """
        some = [(columns, _readable(columns, found)) for columns, found in held]
        every = np.concatenate([self.priorities, *(found for _, found in some)])
        if len(self) == MOST_ROWS:
            every = every[every <= self.priorities[-1]]
        limit = _NEVER - np.uint64(1)
        if len(every) > MOST_ROWS:
            limit = min(limit, np.partition(every, MOST_ROWS - 1)[MOST_ROWS - 1])
        new = []
        for columns, found in some:
            rows = np.flatnonzero(found <= limit)
            if len(rows):
                cells = {key: _cells(columns, key, rows) for key in self.cells}
                new.append(RowSample(found[rows], cells))
        return self.merged(new)

    def merged(self, others: Sequence[RowSample]) -> RowSample:
        """Return what stays of this sample and of others of the same keys."""
        if not others:
            return self
        parts = [self, *others]
        priorities = np.concatenate([part.priorities for part in parts])
        order = np.argsort(priorities, kind="stable")[:MOST_ROWS]
        return RowSample(
            priorities[order],
            {
                key: _joined([part.cells[key] for part in parts]).only(order)
                for key in self.cells
            },
        )


def _readable(columns: Columns, priorities: Priorities) -> Priorities:
    """Return priorities with which no malformed record is kept."""
    if columns.malformed:
        priorities = priorities.copy()
        priorities[[bad.row for bad in columns.malformed]] = _NEVER
    return priorities


def _joined(parts: Sequence[SampledValues]) -> SampledValues:
    every = zip(*(vars(part).values() for part in parts), strict=True)
    return SampledValues(*map(np.concatenate, every))


def _cells(columns: Columns, key: str, rows: NDArray[np.intp]) -> SampledValues:
    """Return what some records, ascending, have under a key."""
    some, records = columns.by_key.get(key, ()), len(columns.records)
    if len(some) == 1 and len(some[0]) == records and _is_number(some[0]):
        return SampledValues.of_numbers(some[0].values[rows])
    cells = SampledValues.missing(len(rows))
    for column in some:
        if column.kind != NOTHING:
            cells = _with_column(cells, column, rows, records)
    if key in columns.steps:
        _set_steps(cells, columns.steps[key], rows, records)
    return cells


def _is_number(column: Column) -> bool:
    """Return whether each record that has the column has a single number."""
    single = len(column.values) == len(column) and column.lengths.max(initial=1) == 1
    return column.kind not in (NOTHING, BYTES) and single


def _places(
    own: NDArray[np.int64], rows: NDArray[np.intp], records: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return which of the rows, of so many records, are among others, and where there.

    Args:
        own: the others, ascending.
        rows: some rows, ascending.
        records: how many there are in all.
    """
    if len(own) == records:
        return np.arange(len(rows)), rows
    at = np.searchsorted(own, rows)
    at[at == len(own)] = 0
    found = np.flatnonzero(own[at] == rows) if len(own) else at[:0]
    return found, at[found]


def _set_steps(
    cells: SampledValues, lists: StepColumn, rows: NDArray[np.intp], records: int
) -> None:
    """Set the cells of the rows, of so many records, that have a feature list."""
    found, at = _places(lists.rows, rows, records)
    cells.held[found] = OTHER
    cells.counts[found] = lists.steps[at]
    ends = np.cumsum(lists.steps)[at]
    for column in lists.columns:
        if column.kind not in (NOTHING, BYTES):
            bounds = np.concatenate([[0], np.cumsum(column.lengths)])
            first, last = (
                bounds[np.searchsorted(column.rows, step)]
                for step in (ends - lists.steps[at], ends)
            )
            has = last > first
            means = _means(column.values, first[has], last[has])
            cells.means[found[has]] = means


def _means(
    values: NDArray[Any], starts: NDArray[np.int64], stops: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the means of ranges of values, which are not empty."""
    pairs = zip(starts.tolist(), stops.tolist(), strict=True)
    with np.errstate(invalid="ignore"):  # Infinities of both signs have no mean.
        means = [values[start:stop].mean(dtype=np.float64) for start, stop in pairs]
    return np.array(means, np.float64)


def _with_column(
    cells: SampledValues, column: Column, rows: NDArray[np.intp], records: int
) -> SampledValues:
    """Set the cells of the rows, of so many records, that have the column."""
    found, at = _places(column.rows, rows, records)
    cells.counts[found] = column.lengths[at]
    if len(column.values) != len(column) or column.lengths.max(initial=1) > 1:
        lengths, starts = column.lengths[at], column.starts[at]
        several = lengths > 1
        cells.held[found[several]] = OTHER
        if column.kind != BYTES:
            some = starts[several]
            means = _means(column.values, some, some + lengths[several])
            cells.means[found[several]] = means
        single = lengths == 1
        found, at = found[single], starts[single]
    if column.kind != BYTES:
        cells.held[found] = NUMBER
        cells.numbers[found] = cells.means[found] = column.values[at]
        return cells
    starts, stops = column.values[at].T
    short = stops - starts <= MOST_TEXT
    cells.held[found] = np.where(short, TEXT, OTHER)
    texts = _texts(column.data, starts[short], stops[short])
    every = np.zeros(len(rows), texts.dtype)
    every[found[short]] = texts
    return replace(cells, texts=every)


def _texts(
    data: NDArray[np.uint8], starts: NDArray[np.int64], stops: NDArray[np.int64]
) -> NDArray[np.bytes_]:
    """Return short texts: [N], as wide as the longest."""
    sizes = stops - starts
    width = max(1, int(sizes.max(initial=0)))
    places = np.arange(width)
    found = data[np.minimum(starts[:, None] + places, len(data) - 1)]
    found[places >= sizes[:, None]] = 0
    texts: NDArray[np.bytes_] = found.view(f"S{width}").ravel()
    return texts
