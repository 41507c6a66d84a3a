"""A kind that refuses more than its base class, declared as CONTRIBUTING.md says."""

from __future__ import annotations

from typing import Any, ClassVar

from schemagen.runtime.cells.checks import Check, Checks
from schemagen.runtime.kinds.numbers import Vector
from schemagen.runtime.kinds.parameters import declared


def _in_order(cells: Any) -> Any:
    bounds = cells.by_row(2)
    return bounds[:, 0] <= bounds[:, 1]


_IN_ORDER = Check(
    "SG535",
    "interval ends before it begins",
    "low not above high",
    _in_order,
    by_row=True,
)


@declared
class Interval(Vector):
    """Two numbers, of which the first is not above the second."""

    kind: ClassVar[str] = "Interval"

    @property
    def checks(self) -> Checks:
        return (*super().checks, _IN_ORDER)
