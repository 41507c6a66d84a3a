"""Checks of numbers: a range and its text, stated once for arrays and tensors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..reading.columns import Column
from ..shared.errors import Problem
from .faults import Passed, outside, refused_values
from .graph import checked


@dataclass(frozen=True)
class Check:
    """The range of numbers, both ends included.

    Attributes:
        low: the least number.
        high: the greatest number.
        expected: what the numbers should be, in words.
        others: further numbers that are allowed.
        found: what a wrong number is called.
        rule: the rule that a wrong stored number breaks.
        what: what is wrong with stored numbers.
        cause: the likely cause, given a wrong number.
    """

    low: int
    high: int
    expected: str
    others: tuple[int, ...] = ()
    found: str = ""
    rule: str = "SG527"
    what: str = "class id out of range"
    cause: Callable[[Any], str] = lambda value: ""

    @property
    def bounds(self) -> tuple[int, int] | None:
        """The least and the greatest number, if all between them are allowed."""
        if not self.others:
            return self.low, self.high
        below = self.low - 1
        return (below, self.high) if self.others == (below,) else None

    def wrong(self, numbers: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which numbers are out of the range."""
        found = outside(numbers, self.low, self.high)
        for other in self.others:
            found &= numbers != other
        return found

    def right(self, numbers: Any) -> Any:
        """Return which numbers of a tensor are in the range."""
        found = (numbers >= self.low) & (numbers <= self.high)
        for other in self.others:
            found |= numbers == other
        return found

    def refuse(self, numbers: NDArray[Any]) -> None:
        """Check what a writer was given.

        Raises:
            Problem: with the first wrong number, and its position if there are several.
        """
        if numbers.min() >= self.low and numbers.max() <= self.high:
            return
        wrong = self.wrong(numbers)
        if wrong.any():
            at = tuple(np.argwhere(wrong)[0].tolist())
            place = f" at {list(at)}" if at else ""
            raise Problem(f"{self.found}{numbers[at]}{place}", self.expected)

    def rows(self, column: Column) -> Passed:
        """Check the numbers of a column."""
        return (
            yield from refused_values(
                column,
                self.wrong(column.values),
                self.rule,
                self.what,
                self.expected,
                self.cause,
                (lambda value: f"{self.found}{value}") if self.found else None,
            )
        )

    def tensor(self, numbers: Any, name: str) -> Any:
        """Return a tensor that is there once it is checked."""
        message = f"field {name!r}: expected {self.expected}, found"
        return checked(numbers, self.right(numbers), message)
