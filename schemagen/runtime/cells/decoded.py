"""Decoded values: those of the records that have one, and how they are delivered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import Problem
from .columns import Rows

Shape = tuple[int | None, ...]


class RaggedRows(Sequence[NDArray[Any]]):
    """Arrays of any length, one behind the other in the memory of one.

    Args:
        flat: [sum of lengths, ...], the items of all rows.
        lengths: int64 [rows], how many each row has.
    """

    def __init__(self, flat: NDArray[Any], lengths: Rows) -> None:
        self.flat = flat
        self.lengths = lengths

    def __len__(self) -> int:
        return len(self.lengths)

    @overload
    def __getitem__(self, rows: int) -> NDArray[Any]: ...

    @overload
    def __getitem__(self, rows: slice) -> RaggedRows: ...

    def __getitem__(self, rows: Any) -> Any:
        """Return one row, or those from one to another one."""
        if not isinstance(rows, slice):
            return list(self)[rows]
        first, last, _ = rows.indices(len(self))
        start = int(self._ends[first - 1]) if first else 0
        stop = int(self._ends[last - 1]) if last > first else start
        return RaggedRows(self.flat[start:stop], self.lengths[first:last])

    def __iter__(self) -> Iterator[NDArray[Any]]:
        bounds = [0, *self._ends.tolist()]
        return (self.flat[start:stop] for start, stop in pairwise(bounds))

    @cached_property
    def _ends(self) -> Rows:
        return np.cumsum(self.lengths)


class SizedRows(Sequence[Any]):
    """The numbers of rows, and the stored size of the image of each.

    Args:
        numbers: arrays of a shape, [rows, ...], or of any length.
        sizes: int64 [rows, 2], height and width.
    """

    def __init__(self, numbers: Any, sizes: NDArray[np.int64]) -> None:
        self.numbers = numbers
        self.sizes = sizes

    def __len__(self) -> int:
        return len(self.sizes)

    def __getitem__(self, rows: Any) -> Any:
        """Return the numbers of one row, or some rows with their sizes."""
        found = self.numbers[rows]
        return SizedRows(found, self.sizes[rows]) if isinstance(rows, slice) else found

    def __iter__(self) -> Iterator[Any]:
        return iter(self.numbers)

    def with_numbers(self, change: Callable[[NDArray[Any], Rows], NDArray[Any]]) -> Any:
        """Return other numbers of the same rows.

        Args:
            change: from an array of all numbers, and the row of each item, to others.
        """
        if isinstance(self.numbers, RaggedRows):
            owners = np.repeat(np.arange(len(self)), self.numbers.lengths)
            flat = change(self.numbers.flat, owners)
            return RaggedRows(flat, self.numbers.lengths)
        return change(self.numbers, np.arange(len(self)))


Values = NDArray[Any] | Sequence[Any]
"""A value for each row: an array [rows, ...], a list, or ragged rows."""


@dataclass(frozen=True)
class Decoded:
    """The values of a field in some records.

    Attributes:
        rows: int64 [M], the records that have one, ascending.
        values: returns the values, M of them.
    """

    rows: Rows
    values: Callable[[], Values]


@dataclass(frozen=True)
class Form:
    """How decoded values are delivered.

    Attributes:
        images: decode encoded images, masks and sound; otherwise they stay bytes.
        names: deliver labels by the names of their classes, in place of ids.
    """

    images: bool = True
    names: bool = False


def convert_each(
    function: Callable[[Any], Any], items: Iterable[Any], place: str = "{} at [{}]"
) -> list[Any]:
    """Return a function's results for items.

    Args:
        function: raises a Problem with an item.
        items: in their order.
        place: the text of what the Problem found, from its own text and the position.

    Raises:
        Problem: that of the first item that has one, with its position.
    """
    found = []
    for at, item in enumerate(items):
        try:
            found.append(function(item))
        except Problem as problem:
            where = place.format(problem.found, at)
            raise Problem(where, problem.expected, problem.advice) from None
    return found


def split_rows(values: Any, lengths: Rows) -> list[Any]:
    """Return the values of each row, given all of them and the length of each row."""
    bounds = [0, *np.cumsum(lengths).tolist()]
    return [values[start:stop] for start, stop in pairwise(bounds)]
