"""From columns to statistics, in memory that does not grow with the data.

What numpy does for a few values costs as much as for thousands. So the values of each
key are held until there are many of them, and then measured together.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..columns import Column, Columns, StepColumn
from ..message import BYTES, NOTHING
from .bytes_values import BytesCounter, BytesValues, merged_bytes
from .model import (
    MOST_KEYS,
    KeyStatistics,
    KindStatistics,
    RecordStatistics,
    StepsStatistics,
    first_counts,
    first_keys,
    first_reasons,
)
from .numbers import Numbers, merged_numbers, numbers
from .samples import MOST, Sample, kept, sampled

# So many values of one key are measured together, and so many bytes are held for all.
_MANY = 1 << 15
_MOST_HELD = 1 << 26

# Measured parts are merged when there are so many.
_PARTS = 16


class _Pending:
    """Numbers that are not measured yet.

    Attributes:
        held: how many bytes they take.
    """

    def __init__(self) -> None:
        self.held = 0
        self._arrays: list[NDArray[Any]] = []
        self._parts: list[Numbers] = []
        self._count = 0

    def add(self, values: NDArray[Any]) -> int:
        """Take some values, and return by how many bytes more are held."""
        before = self.held
        self._arrays.append(values)
        self._count += len(values)
        self.held += values.nbytes
        if self._count >= _MANY:
            self.measure()
        return self.held - before

    def measure(self) -> None:
        """Measure what is held."""
        if self._count:
            arrays = self._arrays
            values = arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
            self._parts.append(numbers(values))
            if len(self._parts) >= _PARTS:
                self._parts = [merged_numbers(self._parts)]
        self._arrays, self._count, self.held = [], 0, 0

    def found(self) -> Numbers:
        """Return what all values so far are like."""
        self.measure()
        self._parts = [merged_numbers(self._parts)]
        return self._parts[0]


class _PendingBytes:
    """Bytes values that are not measured yet."""

    def __init__(self) -> None:
        self._counter = BytesCounter()
        self._parts: list[BytesValues] = []

    def add(self, column: Column) -> int:
        """Take some values, and return by how many bytes more are held."""
        before = self._counter.held
        self._counter.add(column.data, column.values)
        if self._counter.count >= _MANY:
            self.measure()
        return self._counter.held - before

    def measure(self) -> None:
        """Measure what is held."""
        if self._counter.count:
            self._parts.append(self._counter.found())
            self._counter = BytesCounter()
            if len(self._parts) >= _PARTS:
                self._parts = [merged_bytes(self._parts)]

    def found(self) -> BytesValues:
        """Return what all values so far are like."""
        self.measure()
        self._parts = [merged_bytes(self._parts)]
        return self._parts[0]


class _Kind:
    """The features of one key and one kind so far."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.present = 0
        self.lengths = _Pending()
        self.numbers = None if kind in (BYTES, NOTHING) else _Pending()
        self.bytes = _PendingBytes() if kind == BYTES else None

    def add(self, column: Column) -> int:
        self.present += len(column)
        held = self.lengths.add(column.lengths)
        if self.numbers is not None:
            held += self.numbers.add(column.values)
        elif self.bytes is not None:
            held += self.bytes.add(column)
        return held

    def measure(self) -> None:
        for pending in (self.lengths, self.numbers, self.bytes):
            if pending is not None:
                pending.measure()

    def found(self) -> KindStatistics:
        return KindStatistics(
            self.present,
            self.lengths.found(),
            None if self.numbers is None else self.numbers.found(),
            None if self.bytes is None else self.bytes.found(),
        )


class _Key:
    """The features of one key so far."""

    def __init__(self) -> None:
        self.kinds: dict[str, _Kind] = {}

    def add(self, columns: Iterable[Column]) -> int:
        held = 0
        for column in columns:
            kind = self.kinds.get(column.kind)
            if kind is None:
                kind = self.kinds[column.kind] = _Kind(column.kind)
            held += kind.add(column)
        return held

    def measure(self) -> None:
        for kind in self.kinds.values():
            kind.measure()

    def found(self, key: str) -> KeyStatistics:
        kinds = sorted(self.kinds.items())
        return KeyStatistics(key, {name: kind.found() for name, kind in kinds})


class _Steps:
    """The feature lists of one key so far."""

    def __init__(self) -> None:
        self.present = 0
        self.steps = _Pending()
        self.values = _Key()

    def add(self, column: StepColumn) -> int:
        self.present += len(column.rows)
        return self.steps.add(column.steps) + self.values.add(column.columns)

    def measure(self) -> None:
        self.steps.measure()
        self.values.measure()

    def found(self, key: str) -> StepsStatistics:
        return StepsStatistics(
            key, self.present, self.steps.found(), self.values.found(key)
        )


class Measuring:
    """Takes the records of a split, or of a part of it, and tells what they are like.

    Whatever is taken first, `found` is the same, and merges with what others have found.
    """

    def __init__(self) -> None:
        self._records = self._sequences = self._malformed = 0
        self._sizes = _Pending()
        self._keys: dict[str, _Key] = {}
        self._steps: dict[str, _Steps] = {}
        self._more_keys = False
        self._reasons: dict[tuple[str, int], str] = {}
        self._unknown: dict[str, int] = {}
        self._repeated: dict[str, int] = {}
        self._samples: tuple[Sample, ...] = ()
        self._held = 0

    def add(self, columns: Columns, rank: int = 0) -> None:
        """Take some records.

        Args:
            columns: the records.
            rank: which file of its split they are of, counted from 0.
        """
        records = columns.records
        self._records += len(records)
        self._sequences += int(np.count_nonzero(columns.sequences))
        self._held += self._sizes.add(records.stops - records.starts)
        self._add_facts(columns)
        enough = len(self._samples) == MOST
        below = self._samples[-1].priority if enough else None
        new = sampled(records, rank, below)
        if new:
            self._samples = kept((*self._samples, *new))
        for key, some in columns.by_key.items():
            found = self._keys.get(key)
            if found is None:
                found = self._keys[key] = _Key()
            self._held += found.add(some)
        for key, column in columns.steps.items():
            lists = self._steps.get(key)
            if lists is None:
                lists = self._steps[key] = _Steps()
            self._held += lists.add(column)
        if max(len(self._keys), len(self._steps)) > MOST_KEYS:
            self._forget_keys()
        if self._held > _MOST_HELD:
            self._measure()

    def _add_facts(self, columns: Columns) -> None:
        if columns.malformed:
            self._malformed += len(columns.malformed)
            file = columns.records.file
            for bad in columns.malformed:
                place = file, int(columns.records.numbers[bad.row])
                self._reasons[place] = bad.reason
            self._reasons = first_reasons(self._reasons)
        if columns.unknown:
            new = {fact: len(rows) for fact, rows in columns.unknown.items()}
            self._unknown = first_counts([self._unknown, new])
        if columns.repeated:
            new = {key: len(rows) for key, rows in columns.repeated.items()}
            self._repeated = first_counts([self._repeated, new])

    def _forget_keys(self) -> None:
        self._more_keys = True
        stay = set(first_keys(self._keys)[0])
        self._keys = {key: held for key, held in self._keys.items() if key in stay}
        stay = set(first_keys(self._steps)[0])
        self._steps = {key: held for key, held in self._steps.items() if key in stay}

    def _measure(self) -> None:
        self._sizes.measure()
        for key in self._keys.values():
            key.measure()
        for lists in self._steps.values():
            lists.measure()
        self._held = 0

    def found(self) -> RecordStatistics:
        """Return what all records so far are like."""
        keys, more = first_keys(self._keys)
        steps, more_steps = first_keys(self._steps)
        return RecordStatistics(
            records=self._records,
            sizes=self._sizes.found(),
            sequences=self._sequences,
            malformed=self._malformed,
            malformed_reasons=self._reasons,
            keys={key: self._keys[key].found(key) for key in keys},
            steps={key: self._steps[key].found(key) for key in steps},
            more_keys=self._more_keys or more or more_steps,
            unknown=self._unknown,
            repeated=self._repeated,
            samples=self._samples,
        )
