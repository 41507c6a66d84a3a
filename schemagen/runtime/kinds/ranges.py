"""The range that a schema declares for numbers, checked when writing and when reading."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from math import isfinite
from typing import Any, Self

from ..cells.checks import Check, Checks, finite, in_range, of_dtype
from ..shared.dtypes import DTYPES, FLOATS, INEXACT, PARTS
from ..shared.errors import Problem
from ..shared.values import NO_RANGE, Numbers
from .changes import RANGE
from .kind import Kind
from .parameters import RealNumber, parameter


class _FiniteNumbers(Kind):
    """Numbers, which may have to be finite."""

    finite: bool


@dataclass(eq=False)
class Ranged(_FiniteNumbers):
    """Numbers, which a schema may limit to a range.

    Attributes:
        min: the least number of a row; None for no limit. NaN passes.
        max: the greatest number of a row; None for no limit.
    """

    _: KW_ONLY
    min: RealNumber = parameter(*RANGE, default=None, omit_default=True)
    max: RealNumber = parameter(*RANGE, default=None, omit_default=True)

    def rules(self) -> Iterator[Problem]:
        yield from super().rules()
        bounds = {"min": self.min, "max": self.max}
        given = {name: value for name, value in bounds.items() if value is not None}
        if given and (self.dtype in ("bool", *PARTS) or self.dtype not in DTYPES):
            words = f"{next(iter(given))} with dtype {self.dtype!r}"
            yield Problem(
                words,
                "numbers that are not complex" if self.dtype in PARTS else "numbers",
            )
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

    def resolved(self, name: str) -> Self:
        resolved = super().resolved(name)
        if self.dtype not in FLOATS:
            return resolved
        low, high = (
            float(bound) if type(bound) is int and abs(bound) < 2**53 else bound
            for bound in (self.min, self.max)
        )
        return replace(resolved, min=low, max=high)

    @cached_property
    def range(self) -> tuple[Any, Any]:
        """The least and the greatest number, as they are stored; None for no limit."""
        return self._bound(self.min), self._bound(self.max)

    def _bound(self, value: float | None) -> Any:
        if value is None:
            return None
        bound = Numbers(self.dtype, single=True).convert(value).item()
        if not isfinite(bound):
            raise Problem(str(bound), "a finite number")
        return bound

    def checks_of_numbers(self) -> Checks:
        """Return the checks of the numbers under its first key."""
        found: list[Check] = []
        dtype = DTYPES[self.dtype]
        if self.dtype in INEXACT and self.finite:
            found.append(finite(self.dtype))
        elif dtype.limits is not None and self.parts[0].encoding == "list":
            found.append(of_dtype(self.dtype, *dtype.limits))
        if self.range != NO_RANGE:
            found.append(in_range(self.dtype, *self.range))
        return tuple(found)
