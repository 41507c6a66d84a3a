"""Checks: a predicate for arrays and tensors, and its text, stated once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..reading.columns import Column
from ..shared.errors import Problem
from .faults import Passed, refused_values
from .graph import checked


@dataclass(frozen=True)
class Check:
    """What numbers have to be.

    Attributes:
        right: whether each number is: of arrays and of tensors, since both have the
            same operators. A range is tested by its ends, so that uint8 compares with
            256 as it should.
        expected: what they should be, in words.
        found: what a wrong one is called.
        rule: the rule that stored ones break.
        what: what is wrong with stored ones.
        cause: the likely cause, given a wrong number.
    """

    right: Callable[[Any], Any]
    expected: str
    found: str = ""
    rule: str = "SG527"
    what: str = "class id out of range"
    cause: Callable[[Any], str] = lambda value: ""

    def refuse(self, numbers: NDArray[Any]) -> None:
        """Check what a writer was given.

        Raises:
            Problem: with the first wrong number, and its position if there are several.
        """
        right = np.asarray(self.right(numbers))
        if right.all():
            return
        at = tuple(np.argwhere(~right)[0].tolist())
        place = f" at {list(at)}" if at else ""
        raise Problem(f"{self.found}{numbers[at]}{place}", self.expected)

    def rows(self, column: Column) -> Passed:
        """Check the numbers of a column."""
        return (
            yield from refused_values(
                column,
                ~np.asarray(self.right(column.values)),
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


def between(low: int, high: int, *others: int) -> Callable[[Any], Any]:
    """Return whether numbers are in a range, or are one of some others."""

    def right(numbers: Any) -> Any:
        found = (numbers >= low) & (numbers <= high)
        for other in others:
            found |= numbers == other
        return found

    return right
