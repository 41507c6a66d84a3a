"""Lists of lists of any lengths: their values, and how many each inner list has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import Problem
from ..shared.values import described
from .base import Compound
from .limit import Limit
from .sequence import Strings, VarLen


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


class Ragged(Compound):
    """A list of lists of numbers or strings, each of any length from 0.

    Args:
        name: the field's name.
        key: the key of the values.
        row_lengths_key: the key of the inner lists' lengths.
        dtype: of the values; "string" is text, "bytes" opaque.
        max_length: the most inner lists a row may have, or None.
        optional: whether None is allowed; an empty list always is.
        exact: refuse floats that `dtype` cannot hold exactly.
        finite: refuse NaN and infinities.
    """

    def __init__(
        self,
        name: str,
        *,
        key: str,
        row_lengths_key: str,
        dtype: str,
        max_length: int | None = None,
        optional: bool = False,
        exact: bool = True,
        finite: bool = True,
    ) -> None:
        self._dtype = dtype
        self._limit = Limit(max_length)
        self._inner: Strings | VarLen
        stored: Strings | VarLen
        if dtype in ("string", "bytes"):
            self._inner = Strings(name, key=key, dtype=dtype)
            stored = Strings(name, key=key, dtype="bytes")
        else:
            self._inner = stored = VarLen(
                name, key=key, dtype=dtype, exact=exact, finite=finite
            )
        lengths = VarLen(name, key=row_lengths_key, dtype="int64")
        super().__init__(name, stored, lengths, optional=optional)

    def convert(self, value: Any) -> Lists:
        expected = f"a list of lists of {self._dtype}"
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
        strings = [item for at in range(len(value)) for item in self._list(value, at)]
        return Lists(strings, lengths, text=self._dtype == "string")

    def _numbers(self, inner: VarLen, value: Sequence[Any]) -> NDArray[Any]:
        """Convert all lists at once; one by one if something is wrong with one."""
        try:
            return inner.joined(value)[0]
        except (Problem, TypeError, ValueError):
            parts = [self._list(value, at) for at in range(len(value))]
            return np.concatenate(parts)

    def _list(self, value: Sequence[Any], at: int) -> Any:
        """Convert one inner list.

        Raises:
            Problem: naming its place.
        """
        try:
            return self._inner.convert(value[at])
        except Problem as problem:
            raise Problem(
                f"in list [{at}] {problem.found}", problem.expected, problem.advice
            ) from None

    def split(self, value: Lists) -> tuple[Any, Any]:
        return value.items, value.lengths
