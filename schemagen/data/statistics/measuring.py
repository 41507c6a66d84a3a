"""From columns to statistics, in memory that does not grow with the data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...runtime.cells.columns import Column, Columns, StepColumn
from ...runtime.native import BYTES, NOTHING
from .bytes_values import bytes_values
from .declared import Declared, RawNumbers, numbers_of, with_numbered, with_numbers
from .digests import digests_of, merged_digests
from .model import (
    KeyStatistics,
    KindStatistics,
    RecordStatistics,
    StepsStatistics,
    by_name,
    first_counts,
    first_names,
    first_reasons,
    merged_records,
)
from .numbers import NumericStatistics, numbers
from .samples import Sample, priorities_of, with_samples
from .sounds import Sound

if TYPE_CHECKING:
    from .samples import RowSample

    Held = tuple[Columns, NDArray[np.uint64]]

_Found = TypeVar("_Found")

# numpy takes as long for a few values as for thousands, so that columns are held until
# there are so many records, or bytes, of them.
_MOST_RECORDS = 1 << 15
_MOST_BYTES = 1 << 26

# Measured parts are merged when there are so many.
_PARTS = 16

# Memory that Python needs for a bytes value in addition to its bytes, and for a key.
_OBJECT_BYTES = 100
_KEY_BYTES = 300


class Measuring:
    """Takes the records of a split, or of a part of it, and measures them.

    Args:
        declared: what a schema says of them.
        digests: also take digests of them, which need 8 bytes for each record and key.
        groups: keys of which the digests of all values are kept; none without digests.
        rows: also take a sample of rows, of these keys; none for no sample.
    """

    def __init__(
        self,
        declared: Declared,
        *,
        digests: bool = False,
        groups: Sequence[str] = (),
        rows: Sequence[str] = (),
    ) -> None:
        self._digests, self._groups = digests, groups
        self._declared = declared
        self._rows: RowSample | None = None
        if rows:
            from .samples import RowSample

            self._rows = RowSample.of(rows)
        self._held: list[Held] = []
        self._held_records = self._held_bytes = 0
        self._parts: list[RecordStatistics] = []

    def add(self, columns: Columns, rank: int = 0) -> None:
        """Take some records.

        Args:
            columns: the records.
            rank: which file of its split they are of, counted from 0.
        """
        columns = with_numbered(columns, self._declared.numbered)
        priorities = priorities_of(columns.records.numbers, rank)
        self._held.append((columns, priorities))
        self._held_records += len(columns.records)
        self._held_bytes += _memory(columns)
        if self._held_records >= _MOST_RECORDS or self._held_bytes >= _MOST_BYTES:
            self._measure()

    def _measure(self) -> None:
        if self._held:
            found = _measured(self._held, self._declared)
            numbers = self._declared.numbers
            held = [(with_numbers(each, numbers), some) for each, some in self._held]
            if self._digests:
                parts = [digests_of(each, found.keys, self._groups) for each, _ in held]
                digests = merged_digests(parts, found.keys)
                found = replace(found, digests=digests)
            if self._rows is not None:
                self._rows = self._rows.with_columns(held)
            self._parts.append(found)
        self._held, self._held_records, self._held_bytes = [], 0, 0
        if len(self._parts) >= _PARTS:
            self._parts = [merged_records(self._parts)]

    def found(self) -> RecordStatistics:
        """Return the statistics of all records so far."""
        self._measure()
        self._parts = [merged_records(self._parts)]
        numbered = self._declared.numbered
        return replace(self._parts[0], rows=self._rows, numbered=numbered)


def _memory(columns: Columns) -> int:
    """Return about how many bytes it takes to hold and to measure columns."""
    size = columns.records.data.nbytes + 32 * len(columns.records)
    size += _KEY_BYTES * (len(columns.by_key) + len(columns.steps))
    lists = (each.columns for each in columns.steps.values())
    every = chain(columns.by_key.values(), lists)
    for column in chain.from_iterable(every):
        size += 16 * len(column) + column.values.nbytes
        if column.kind == BYTES:
            size += _OBJECT_BYTES * len(column.values)
    return size


def _measured(held: Sequence[Held], declared: Declared) -> RecordStatistics:
    raw, sounds = declared.numbers, declared.sounds
    samples: tuple[Sample, ...] = ()
    for columns, priorities in held:
        samples = with_samples(samples, columns.records, priorities)
    every = [columns for columns, _ in held]
    by_key, by_list = [each.by_key for each in every], [each.steps for each in every]
    keys, more_keys = first_names(set[str]().union(*by_key))
    lists, more_lists = first_names(set[str]().union(*by_list))
    return RecordStatistics(
        records=sum(len(each.records) for each in every),
        sizes=_numbers([each.records.stops - each.records.starts for each in every]),
        sequences=sum(int(np.count_nonzero(each.sequences)) for each in every),
        malformed=sum(len(each.malformed) for each in every),
        malformed_reasons=first_reasons(map(_reasons, every)),
        keys={
            key: _key(key, chain(*_of(key, by_key)), raw.get(key), sounds.get(key))
            for key in keys
        },
        steps={key: _steps(key, _of(key, by_list), raw.get(key)) for key in lists},
        more_keys=more_keys or more_lists,
        unknown=first_counts(_row_counts(each.unknown) for each in every),
        repeated=first_counts(_row_counts(each.repeated) for each in every),
        samples=samples,
    )


def _of(key: str, parts: Iterable[Mapping[str, _Found]]) -> list[_Found]:
    """Return what some parts have under a key."""
    return [part[key] for part in parts if key in part]


def _reasons(columns: Columns) -> dict[tuple[str, int], str]:
    """Return why records are malformed, by their places."""
    file, numbers = columns.records.file, columns.records.numbers
    return {(file, int(numbers[bad.row])): bad.reason for bad in columns.malformed}


def _row_counts(rows: Mapping[str, Sequence[int]]) -> dict[str, int]:
    return {name: len(some) for name, some in rows.items()}


def _numbers(arrays: Sequence[NDArray[Any]]) -> NumericStatistics:
    return numbers(arrays[0] if len(arrays) == 1 else np.concatenate(arrays))


def _key(
    key: str,
    columns: Iterable[Column],
    raw: RawNumbers | None,
    sound: Sound | None = None,
) -> KeyStatistics:
    kinds = sorted(by_name({each.kind: each} for each in columns).items())
    return KeyStatistics(
        key, {kind: _kind(kind, some, raw, sound) for kind, some in kinds}
    )


def _kind(
    kind: str, columns: Sequence[Column], raw: RawNumbers | None, sound: Sound | None
) -> KindStatistics:
    counted = [*columns] if kind not in (BYTES, NOTHING) else []
    if kind == BYTES and raw is not None:
        counted = [numbers for each in columns if len(numbers := numbers_of(each, raw))]
    return KindStatistics(
        kind=kind,
        present=sum(map(len, columns)),
        lengths=_numbers([column.lengths for column in columns]),
        numbers=_numbers([each.values for each in counted]) if counted else None,
        bytes=bytes_values(columns, sound) if kind == BYTES else None,
    )


def _steps(
    key: str, lists: Sequence[StepColumn], raw: RawNumbers | None
) -> StepsStatistics:
    return StepsStatistics(
        key=key,
        present=sum(len(each.rows) for each in lists),
        steps=_numbers([each.steps for each in lists]),
        values=_key(key, chain(*(each.columns for each in lists)), raw),
    )
