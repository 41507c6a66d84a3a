"""Decoded values: those of the records that have one, and how they are delivered."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..reading.columns import Rows
from ..shared.errors import Problem
from .faults import Fault

Shape = tuple[int | None, ...]
Values = NDArray[Any] | list[Any]
"""A value for each row: an array [rows, ...], or a list."""


@dataclass(frozen=True)
class Decoded:
    """The values of a field in some records.

    Attributes:
        rows: int64 [M], the records that have one, ascending.
        values: returns the values, M of them.
    """

    rows: Rows
    values: Callable[[], Values]


Decoding = Generator[Fault, None, Decoded]
"""Yields faults, and returns the values of the records without any."""


@dataclass(frozen=True)
class Form:
    """How decoded values are delivered.

    Attributes:
        images: decode encoded images and masks; otherwise they stay bytes.
        names: deliver labels by the names of their classes, in place of ids.
    """

    images: bool = True
    names: bool = False


class UndecodableError(ValueError):
    """A value whose bytes have passed all checks, and cannot be decoded.

    Attributes:
        at: its position among the values.
    """

    def __init__(self, at: int, reason: object) -> None:
        self.at = at
        super().__init__(str(reason))

    def in_rows(self, lengths: Rows) -> UndecodableError:
        """Return the same error of the row, of rows of these lengths, that has it."""
        row = np.searchsorted(np.cumsum(lengths), self.at, "right")
        return UndecodableError(int(row), self)


def of_each(
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
