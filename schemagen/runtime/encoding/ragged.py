"""Lists of lists of any lengths: their values, and how many each inner list has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import Problem
from ..shared.values import described
from .base import Compound, of_each
from .sequence import Limit, Strings, VarLen


@dataclass(frozen=True)
class Lists:
    """The values of inner lists.

    Attributes:
        items: the values of all lists, one after the other.
        lengths: int64 [T], how many of them each list has.
        text: whether the items are text, as UTF-8.
    """

    items: NDArray[Any] | list[bytes]
    lengths: NDArray[np.int64]
    text: bool = False

    def tolist(self) -> list[list[Any]]:
        """Return the lists as Python's own."""
        flat = self.items if isinstance(self.items, list) else self.items.tolist()
        if self.text:
            flat = [item.decode() for item in flat]
        ends = np.cumsum(self.lengths).tolist()
        return [flat[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=False)]


@dataclass(eq=False, kw_only=True)
class Ragged(Compound):
    """A list of lists of numbers or strings, each of any length from 0.

    Attributes:
        row_lengths_key: the key of the inner lists' lengths.
        dtype: of the values; "string" is text, "bytes" opaque.
        max_length: the most inner lists a row may have, or None.
        exact: refuse floats that `dtype` cannot hold exactly.
        finite: refuse NaN and infinities.
    """

    row_lengths_key: str
    dtype: str
    max_length: int | None = None
    exact: bool = False
    finite: bool = True

    def __post_init__(self) -> None:
        self._limit = Limit(self.max_length)
        self._inner: Strings | VarLen
        stored: Strings | VarLen
        if self.dtype in ("string", "bytes"):
            self._inner = Strings(self.name, key=self.key, dtype=self.dtype)
            stored = Strings(self.name, key=self.key, dtype="bytes")
        else:
            self._inner = stored = VarLen(
                self.name,
                key=self.key,
                dtype=self.dtype,
                exact=self.exact,
                finite=self.finite,
            )
        lengths = VarLen(self.name, key=self.row_lengths_key, dtype="int64")
        self.parts = (stored, lengths)

    def convert(self, value: Any) -> Lists:
        expected = f"a list of lists of {self.dtype}"
        if isinstance(value, np.ndarray) and value.ndim:
            value = list(value)
        if not isinstance(value, (list, tuple)):
            raise Problem(described(value), expected)
        self._limit.check(len(value))
        for at, inner in enumerate(value):
            if not isinstance(inner, (list, tuple)) and np.ndim(inner) != 1:
                raise Problem(f"{described(inner)} at [{at}]", expected)
        lengths = np.fromiter(map(len, value), np.int64, len(value))
        if isinstance(self._inner, VarLen):
            return Lists(self._numbers(self._inner, value), lengths)
        strings = [*chain.from_iterable(self._each(value))]
        return Lists(strings, lengths, text=self.dtype == "string")

    def _numbers(self, inner: VarLen, value: Sequence[Any]) -> NDArray[Any]:
        """Convert all lists at once; one by one if something is wrong with one."""
        try:
            return inner.joined(value)[0]
        except (Problem, TypeError, ValueError):
            return np.concatenate(self._each(value))

    def _each(self, value: Sequence[Any]) -> list[Any]:
        return of_each(self._inner.convert, value, "in list [{1}] {0}")

    def split(self, value: Lists) -> tuple[Any, Any]:
        return value.items, value.lengths
