"""How numbers of data are shown: as amounts, times, ids or bools."""

from __future__ import annotations

from typing import NamedTuple

from ...runtime.shared.times import Time
from ..formatting import number, record_value
from .numbers import BY_NAME, Measure, NumericStatistics, measured


class Style(NamedTuple):
    """What numbers are, which tells how they are shown.

    Attributes:
        time: the unit of times; None for other numbers.
        ids: whether they name things, so that they have no separators and no mean.
        bools: whether they are False and True.
    """

    time: Time | None = None
    ids: bool = False
    bools: bool = False

    @property
    def are_amounts(self) -> bool:
        """Whether they are amounts, of which people want to know the mean."""
        return self == Style()

    def text(self, value: float, spread: float = 0.0) -> str:
        """Return one of the numbers; `spread` is from the least to the greatest."""
        if self.time is not None:
            return self.time.text(value)
        if self.bools and value in (0, 1):
            return str(bool(value))
        return record_value(value) if self.ids else number(value, spread=spread)

    def measure(self, measure: Measure, value: float, spread: float = 0.0) -> str:
        """Return a measure of the numbers; `spread` is from the least to the greatest."""
        if measure.unit:
            return number(value)
        if self.time is not None:
            duration = self.time.duration or measure.spread
            return self.time._replace(duration=duration).text(value)
        if self.ids:
            return record_value(round(value))
        if self.are_amounts or not measure.of_values:
            return number(value, measure.digits, spread)
        return self.text(value)


PLAIN = Style()
"""Amounts and counts."""


def spread_of(found: NumericStatistics) -> float:
    """Return how far the greatest of the finite numbers is from the least."""
    if found.minimum is None or found.maximum is None:
        return 0.0
    return float(found.maximum) - float(found.minimum)


def measure_texts(found: NumericStatistics, style: Style = PLAIN) -> dict[str, str]:
    """Return what the numbers have for people, by name."""
    spread = spread_of(found)
    return {
        name: style.measure(BY_NAME[name], value, spread)
        for name, value in measured(found).items()
    }
