"""What is stated of numbers: one table, which facts, text, JSON and the page show."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from ...runtime.shared.times import Time
from ..formatting import number
from .numbers import Numbers, quantile

VALUES = "values"
"""The unit of measures that count."""


class Measure(NamedTuple):
    """One thing that is stated of numbers.

    Attributes:
        name: its name, such as "median".
        of: returns it; None if the numbers have none.
        unit: VALUES if it counts; "" for the unit of the numbers.
        spread: whether it is a distance between values, as a deviation is.
        in_words: whether a line of text states it.
    """

    name: str
    of: Callable[[Numbers], int | float | None]
    unit: str = ""
    spread: bool = False
    in_words: bool = False


def _at(share: float) -> Callable[[Numbers], float | None]:
    return partial(quantile, share=share)


MEASURES = (
    Measure("minimum", lambda found: found.minimum),
    Measure("5 %", _at(0.05)),
    Measure("25 %", _at(0.25)),
    Measure("median", _at(0.5)),
    Measure("75 %", _at(0.75)),
    Measure("95 %", _at(0.95)),
    Measure("maximum", lambda found: found.maximum),
    Measure("mean", lambda found: found.mean, in_words=True),
    Measure("standard deviation", lambda found: found.deviation, spread=True),
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


def measured(found: Numbers) -> dict[str, int | float]:
    """Return what the numbers have, by name; whole numbers of integers as int."""
    every = {measure.name: measure.of(found) for measure in MEASURES}
    return {
        name: value if found.floats or value != int(value) else int(value)
        for name, value in every.items()
        if value is not None
    }


def measure_text(name: str, value: float, time: Time | None = None) -> str:
    """Return a measure of numbers, or of times, for people."""
    measure = BY_NAME[name]
    if time is None or measure.unit:
        return number(value, 4)
    return time._replace(duration=time.duration or measure.spread).text(value)
