"""A kind that refuses more than its base class, declared as CONTRIBUTING.md says."""

from __future__ import annotations

from typing import Any, ClassVar

from numpy.typing import NDArray
from schemagen.runtime.codecs.numbers import Vector
from schemagen.runtime.codecs.parameters import declared
from schemagen.runtime.codecs.stored import Read, Rule, Source
from schemagen.runtime.shared.errors import Problem

_IN_ORDER = Rule("SG535", "interval ends before it begins", "low not above high")


@declared
class Interval(Vector):
    """Two numbers, of which the first is not above the second."""

    kind: ClassVar[str] = "Interval"
    expected = None

    def convert(self, value: Any) -> NDArray[Any]:
        bounds: NDArray[Any] = super().convert(value)
        if not bounds[0] <= bounds[1]:
            raise Problem(f"{bounds[0]} to {bounds[1]}", _IN_ORDER.expected)
        return bounds

    def read(self, source: Source) -> Read:
        found, _ = super().read(source)

        def in_order() -> tuple[Any]:
            bounds = found.xp.reshape(found.values, (-1, 2))
            return (bounds[:, 0] <= bounds[:, 1],)

        found = found.check_rows(in_order, _IN_ORDER, "bounds in another order")
        return found, lambda: found.dense(self.dtype, self.shape)
