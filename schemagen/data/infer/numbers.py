"""What is seen of the numbers of one key, record by record and over all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..columns import Column
from ..message import INT64

MOST_DISTINCT = 1000
"""More different values than this are no classes of anything that a list names."""

_LONGEST_SHAPE = 8

Rows = NDArray[np.int64]


class NumberLook:
    """Looks at the numbers of one key, a column at a time.

    Attributes:
        low: the least finite number; None if there is none.
        high: the greatest.
        unusual: how many are NaN or infinite.
        whole: whether all finite ones are integers.
        distinct: how often each value occurs; None if there are too many.
        repeats: whether a record has an integer twice.
        solid: whether no record has a zero before a number that is not zero.
    """

    def __init__(self) -> None:
        self.low: int | float | None = None
        self.high: int | float | None = None
        self.unusual = 0
        self.whole = True
        self.distinct: dict[int | float, int] | None = {}
        self.repeats = False
        self.solid = True
        self._rows: list[Rows] = []
        self._sums: list[Rows] = []
        self._firsts: list[Rows] = []
        self._filled: list[Rows] = []
        self._shapes: list[Rows] = []
        self._even: int | None = -1

    def add(self, column: Column, rows: Rows) -> None:
        """Look at a column; `rows` are its records, counted over all columns."""
        values: NDArray[Any] = column.values
        lengths, starts = column.lengths, column.starts
        self._see_values(values)
        self._rows.append(rows)
        filled = _last_filled(values, lengths, starts)
        self._filled.append(filled)
        owners = np.repeat(np.arange(len(lengths)), lengths)
        before = np.arange(len(values)) - starts[owners] < filled[owners]
        self.solid = self.solid and not (before & (values == 0)).any()
        if column.kind != INT64:
            return
        totals = np.concatenate([[0], np.cumsum(values)])
        self._sums.append(totals[starts + lengths] - totals[starts])
        firsts = np.zeros(len(lengths), np.int64)
        firsts[lengths > 0] = values[starts[lengths > 0]]
        self._firsts.append(firsts)
        order = np.lexsort((values, owners))
        again = (np.diff(values[order]) == 0) & (np.diff(owners[order]) == 0)
        self.repeats = self.repeats or bool(again.any())
        self._see_shapes(values, lengths)

    def _see_values(self, values: NDArray[Any]) -> None:
        finite = values
        if values.dtype.kind == "f":
            finite = values[np.isfinite(values)]
            self.unusual += len(values) - len(finite)
            self.whole = self.whole and bool((finite == np.trunc(finite)).all())
        if len(finite):
            low, high = finite.min().item(), finite.max().item()
            self.low = low if self.low is None else min(low, self.low)
            self.high = high if self.high is None else max(high, self.high)
        if self.distinct is None:
            return
        found, counts = np.unique(finite, return_counts=True)
        if len(found) > MOST_DISTINCT:
            self.distinct = None
            return
        for value, count in zip(found.tolist(), counts.tolist(), strict=True):
            self.distinct[value] = self.distinct.get(value, 0) + count
        if len(self.distinct) > MOST_DISTINCT:
            self.distinct = None

    def _see_shapes(self, values: Rows, lengths: Rows) -> None:
        """Keep what may be sizes: short lists of one length."""
        if self._even is None or not len(lengths):
            return
        length = int(lengths[0])
        known = length if self._even == -1 else self._even
        if (lengths != known).any() or not 1 <= known <= _LONGEST_SHAPE:
            self._even, self._shapes = None, []
            return
        self._even = known
        self._shapes.append(values.reshape(-1, known))

    def singles(self, records: int) -> Rows:
        """int64 [records]: the first value of each, 0 where there is none."""
        return self._spread(self._firsts, records)

    def sums(self, records: int) -> Rows:
        """int64 [records]: the sum of each record's integers."""
        return self._spread(self._sums, records)

    def filled(self, records: int) -> Rows:
        """int64 [records]: how many values each has without the zeros at its end."""
        return self._spread(self._filled, records)

    def shapes(self, records: int) -> Rows | None:
        """int64 [records, rank], if all have one length and it is short."""
        if self._even is None or not self._shapes:
            return None
        spread = np.zeros((records, self._even), np.int64)
        spread[np.concatenate(self._rows)] = np.concatenate(self._shapes)
        return spread

    def _spread(self, pieces: list[Rows], records: int) -> Rows:
        spread = np.zeros(records, np.int64)
        if pieces:
            spread[np.concatenate(self._rows)] = np.concatenate(pieces)
        return spread


def _last_filled(values: NDArray[Any], lengths: Rows, starts: Rows) -> Rows:
    """Return how many values each row has up to its last one that is not zero."""
    places = np.flatnonzero(values != 0)
    # The last place before each row's end that is not zero, if it is in the row.
    found = np.searchsorted(places, starts + lengths) - 1
    filled = np.zeros(len(lengths), np.int64)
    some = np.flatnonzero(found >= 0)
    last = places[found[some]]
    inside = last >= starts[some]
    filled[some[inside]] = (last - starts[some] + 1)[inside]
    return filled
