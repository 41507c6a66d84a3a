"""What is stated of numbers: one table, which facts, text, JSON and the page show."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from ...runtime.shared.times import Time
from ..formatting import number, record_value
from .numbers import NumericStatistics, quantile

VALUES = "values"
"""The unit of measures that count."""


class Measure(NamedTuple):
    """One thing that is stated of numbers.

    Attributes:
        name: its name, such as "median".
        of: returns it; None if the numbers have none.
        unit: VALUES if it counts; "" for the unit of the numbers.
        spread: whether it is a distance between values, as a deviation is.
        of_values: whether it is one of the values, or between two of them.
        in_words: whether a line of text states it.
        digits: so many significant digits of amounts are shown, or more where these
            are close together.
    """

    name: str
    of: Callable[[NumericStatistics], int | float | None]
    unit: str = ""
    spread: bool = False
    of_values: bool = True
    in_words: bool = False
    digits: int = 4


def _at(share: float) -> Callable[[NumericStatistics], float | None]:
    return partial(quantile, share=share)


MEASURES = (
    Measure("minimum", lambda found: found.minimum, digits=6),
    Measure("5 %", _at(0.05)),
    Measure("25 %", _at(0.25)),
    Measure("median", _at(0.5)),
    Measure("75 %", _at(0.75)),
    Measure("95 %", _at(0.95)),
    Measure("maximum", lambda found: found.maximum, digits=6),
    Measure("mean", lambda found: found.mean, of_values=False, in_words=True),
    Measure(
        "standard deviation",
        lambda found: found.deviation,
        spread=True,
        of_values=False,
    ),
    Measure("zeros", lambda found: found.zeros, VALUES),
    Measure(
        "distinct",
        lambda found: None if found.distinct is None else len(found.distinct),
        VALUES,
    ),
    Measure("NaN", lambda found: found.nan, VALUES),
    Measure("infinite", lambda found: sum(found.infinite), VALUES),
)
"""Of the finite numbers, unless the name says otherwise. Quantiles of more than
`numbers.DISTINCT` different values are estimates."""

BY_NAME = {measure.name: measure for measure in MEASURES}


def measured(found: NumericStatistics) -> dict[str, int | float]:
    """Return what the numbers have, by name; whole numbers of integers as int."""
    every = {measure.name: measure.of(found) for measure in MEASURES}
    return {
        name: int(value) if not found.floats and _is_exact(value) else value
        for name, value in every.items()
        if value is not None
    }


def _is_exact(value: float) -> bool:
    """Return whether a number is whole, and as float64 no other one."""
    return isinstance(value, int) or (value == int(value) and abs(value) < 2**53)


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
