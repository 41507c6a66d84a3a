"""The range that a schema declares for numbers, checked when writing and when reading."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any, Self

from ..reading.decoding import Expected
from ..shared.dtypes import DTYPES, FLOATS
from ..shared.errors import Problem
from ..shared.values import NO_RANGE, Numbers, range_text
from .changes import RANGE
from .kind import Kind
from .parameters import RealNumber, parameter
from .part import BYTES
from .stored import Rule


@dataclass(eq=False)
class Ranged(Kind):
    """Numbers, which a schema may limit to a range.

    Attributes:
        min: the least number of a row; None for no limit. NaN passes.
        max: the greatest number of a row; None for no limit.
    """

    _: KW_ONLY
    min: RealNumber = parameter(*RANGE, default=None, seldom=True)
    max: RealNumber = parameter(*RANGE, default=None, seldom=True)

    def rules(self) -> Iterator[Problem]:
        yield from super().rules()
        bounds = {"min": self.min, "max": self.max}
        given = {name: value for name, value in bounds.items() if value is not None}
        if given and (self.dtype == "bool" or self.dtype not in DTYPES):
            yield Problem(f"{next(iter(given))} with dtype {self.dtype!r}", "numbers")
            return
        for name, value in given.items():
            try:
                self._bound(value)
            except Problem as problem:
                yield Problem(f"{name}={value!r}", problem.expected)
                return
        low, high = self.range
        if None not in (low, high) and low > high:
            yield Problem(f"min={self.min!r} with max={self.max!r}", "min <= max")
        yield from self._range_problems()

    def _range_problems(self) -> Iterator[Problem]:
        """Yield what does not go together with the range, whose bounds are right."""
        yield from ()

    def settled(self, name: str) -> Self:
        settled = super().settled(name)
        if self.dtype not in FLOATS:
            return settled
        low, high = (
            float(bound) if type(bound) is int and abs(bound) < 2**53 else bound
            for bound in (self.min, self.max)
        )
        return replace(settled, min=low, max=high)

    @cached_property
    def range(self) -> tuple[Any, Any]:
        """The least and the greatest number, as they are stored; None for no limit."""
        return self._bound(self.min), self._bound(self.max)

    def _bound(self, value: float | None) -> Any:
        if value is None:
            return None
        return Numbers(self.dtype, single=True).convert(value).item()

    def in_range(self, found: Any, absent: Any = False) -> Any:
        """Refuse rows with a number out of the range.

        Args:
            found: stored numbers, or their raw bytes.
            absent: which rows have none: bool [rows].
        """
        if self.range == NO_RANGE:
            return found
        rule = Rule("SG535", "number out of range", range_text(*self.range))
        return found.in_range(self.dtype, self.range, rule, absent)

    def planned(self, expected: Expected | None) -> Expected | None:
        """Return what the core is to check, with the range; None if it cannot."""
        if expected is None or self.range == NO_RANGE:
            return expected
        if expected.kind == BYTES or self.dtype in FLOATS:
            return None
        pairs = zip(self.range, expected.bounds or NO_RANGE, strict=True)
        low, high = (other if own is None else own for own, other in pairs)
        return expected._replace(bounds=(low, high))
