"""Which items of a list are read: their positions, which follow from its length."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..shared.errors import DatasetError
from ..shared.values import shortened
from .columns import Rows

if TYPE_CHECKING:
    from numpy.random import Generator

Choose = Callable[[Rows, Rows], tuple[Rows, Rows]]
"""From rows and the lengths of their lists to the positions that are read of each list, one
list after the other, and their number."""


class SelectionError(DatasetError):
    """A function that returns positions which a list does not have.

    Attributes:
        row: the row of the list.
    """

    def __init__(self, row: int, message: str) -> None:
        self.row = row
        super().__init__(message)


@dataclass(frozen=True)
class Selection:
    """The items that are read of lists of any length.

    Attributes:
        named: the field that the `select` option names, for errors.
        every: leave out all but each n-th item, from the first on.
        first: the most of these that are read, from the first on; None for all.
        random: the most of these that are read, chosen by chance; None for all.
        function: returns positions, given a length, in place of all this.
    """

    named: str
    every: int = 1
    first: int | None = None
    random: int | None = None
    function: Callable[[int], Iterable[int]] | None = None
    _known: dict[int, Rows] = field(default_factory=dict, compare=False, repr=False)

    def most(self, length: int | None) -> int | None:
        """Return how many items are read of a list of a length, and at most of shorter ones.

        Args:
            length: None for any.

        Returns:
            None for any number.
        """
        if self.function is not None:
            return None if length is None else len(self._positions(length, 0))
        limits = [n for n in (self.first, self.random) if n is not None]
        if length is not None:
            limits.append(-(-length // self.every))
        return min(limits, default=None)

    def of(
        self, lengths: Rows, random: Callable[[int], Generator] | None = None
    ) -> tuple[Rows, Rows]:
        """Return the positions of the items that are read.

        Args:
            lengths: int64 [N], of the lists.
            random: returns the random numbers of a list.

        Returns:
            int64 [sum of counts], in the order in which they are delivered, and how many
            are read of each list, int64 [N].

        Raises:
            SelectionError: the function fails, or returns other values.
        """
        if self.function is not None:
            each = [self._positions(n, row) for row, n in enumerate(lengths.tolist())]
        elif self.random is not None and random is not None:
            each = [
                self._drawn(n, row, random) for row, n in enumerate(lengths.tolist())
            ]
        else:
            counts = -(-lengths // self.every)
            counts = counts if self.first is None else np.minimum(counts, self.first)
            within = np.arange(counts.sum()) - np.repeat(
                np.cumsum(counts) - counts, counts
            )
            return within * self.every, counts
        nothing = np.empty(0, np.int64)
        return np.concatenate([nothing, *each]), np.array([*map(len, each)], np.int64)

    def _drawn(self, length: int, row: int, random: Callable[[int], Generator]) -> Rows:
        count = -(-length // self.every)
        some = min(count, self.random or 0)
        if some == count:
            return np.arange(count) * self.every
        found = random(row).choice(count, some, replace=False, shuffle=False)
        return np.sort(found).astype(np.int64) * self.every

    def _positions(self, length: int, row: int) -> Rows:
        """Return what the function returns for a length, for which it is called once."""
        if not length:
            return np.empty(0, np.int64)
        if length not in self._known:
            self._known[length] = self._called(length, row)
        return self._known[length]

    def _called(self, length: int, row: int) -> Rows:
        assert self.function is not None
        words = f"field {self.named!r}: select: the function"
        try:
            given: Any = self.function(length)
        except Exception as error:
            raise SelectionError(
                row,
                f"{words} failed for {length} items: {type(error).__name__}: {error}",
            ) from error
        expected = (
            f"for {length} items, expected positions, integers from 0 to {length - 1}"
        )
        try:
            found = np.asarray(given if isinstance(given, np.ndarray) else [*given])
        except (TypeError, ValueError):
            found = np.empty((1, 1))
        if not found.size:
            return np.empty(0, np.int64)
        if found.ndim != 1 or found.dtype.kind not in "iu":
            raise SelectionError(row, f"{words} returned {shortened(given)} {expected}")
        outside = found[(found < 0) | (found >= length)]
        if outside.size:
            raise SelectionError(row, f"{words} returned {outside[0]} {expected}")
        return found.astype(np.int64)
