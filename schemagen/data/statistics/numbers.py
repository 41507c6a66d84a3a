"""Summaries of numbers, which merge: of any parts into that of the whole."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...documents import LEFT_OUT, Counts, WithProperties
from .histograms import (
    Histogram,
    Magnitudes,
    histogram,
    magnitudes,
    merged_histogram,
    width_exponent,
)

# Sums are made of smaller numbers, by this power of two, as those of float64 may be
# infinite.
_HEADROOM = 64

DISTINCT = 1024
"""Up to so many different values are counted one by one; ImageNet has 1001 labels."""

# Keys with more different values mostly show it in the first few.
_FIRST_LOOK = 1 << 12


@dataclass(frozen=True)
class NumericStatistics:
    """Some numbers of one key, or lengths, or sizes: all of them int, or float.

    Minimum, maximum, total, squares, histogram and magnitudes are of those that are
    finite. Two summaries are equal if all is equal but `total` and `squares`, which
    depend on how the numbers are cut into parts: on rounding of float64.

    Attributes:
        count: how many there are.
        zeros: how many are zero.
        whole: how many are whole numbers; all of them, if they are int.
        nan: how many are no number.
        infinite: how many are infinite, below and above zero.
        minimum: the least; None if none is finite.
        maximum: the greatest, likewise.
        total: the exact sum of the sums of parts, so that their order is of no effect.
        squares: the sum of squared differences from the mean.
        distinct: how often each occurs; None if there are more than DISTINCT.
        histogram: counts in bins of equal width.
        magnitudes: counts by powers of two.
        floats: whether they are float32 or float64.
    """

    count: int = 0
    zeros: int = 0
    whole: int = 0
    nan: int = 0
    infinite: tuple[int, int] = (0, 0)
    minimum: int | float | None = None
    maximum: int | float | None = None
    total: Fraction = field(default=Fraction(0), compare=False, metadata=LEFT_OUT)
    squares: float = field(default=0.0, compare=False, metadata=LEFT_OUT)
    distinct: Counts[int | float] | None = field(default_factory=dict)
    histogram: Histogram = field(default_factory=Histogram)
    magnitudes: Magnitudes = field(default_factory=Magnitudes, metadata=LEFT_OUT)
    floats: bool = False
    __get_pydantic_core_schema__ = WithProperties("mean", "deviation")

    @property
    def finite(self) -> int:
        """How many are neither NaN nor infinite."""
        return self.count - self.nan - sum(self.infinite)

    @property
    def mean(self) -> float | None:
        """The mean of the finite ones; None without any."""
        if self.minimum is None or self.maximum is None:
            return None
        mean = float(self.total / self.finite)
        return min(max(mean, float(self.minimum)), float(self.maximum))

    @property
    def deviation(self) -> float | None:
        """The standard deviation of the finite ones; None without any, or beyond float64."""
        if not self.finite or math.isinf(self.squares):
            return None
        return math.sqrt(self.squares / self.finite)

    @property
    def constant(self) -> int | float | None:
        """The value that all have, if they have one."""
        single = self.count == self.finite and self.minimum == self.maximum
        return self.minimum if single else None


def numbers(values: NDArray[Any]) -> NumericStatistics:
    """Summarize int64, uint64, float32 or float64 values: [N]."""
    if not len(values):
        return NumericStatistics()
    count, floats = len(values), values.dtype.kind == "f"
    nan, infinite = 0, (0, 0)
    if floats:
        values = values + values.dtype.type(0)  # -0.0 is 0.0
        finite = np.isfinite(values)
        if not finite.all():
            below, above = values == -np.inf, values == np.inf
            infinite = int(np.count_nonzero(below)), int(np.count_nonzero(above))
            nan = count - int(np.count_nonzero(finite)) - sum(infinite)
            values = values[finite]
    if not len(values):
        return NumericStatistics(count, nan=nan, infinite=infinite, floats=floats)
    low, high = values.min().item(), values.max().item()
    zeros = len(values) - int(np.count_nonzero(values))
    whole = len(values)
    if floats:
        whole = int(np.count_nonzero(values == np.rint(values)))
    weights, distinct = None, _distinct(values, low, high)
    if distinct is not None:
        values, weights = distinct
    wide = values.astype(np.float64)
    small = wide * 2.0**-_HEADROOM
    total = Fraction(float(small.sum() if weights is None else small @ weights))
    total *= 2**_HEADROOM
    with np.errstate(over="ignore"):
        squares = (wide - float(total / (count - nan - sum(infinite)))) ** 2
    return NumericStatistics(
        count=count,
        zeros=zeros,
        whole=whole,
        nan=nan,
        infinite=infinite,
        minimum=low,
        maximum=high,
        total=total,
        squares=float(squares.sum() if weights is None else squares @ weights),
        distinct=None
        if weights is None
        else dict(zip(values.tolist(), weights.tolist(), strict=True)),
        histogram=histogram(wide if floats else values, low, high, weights),
        magnitudes=magnitudes(wide, weights),
        floats=floats,
    )


def _distinct(
    values: NDArray[Any], low: float, high: float
) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Return the different values and how often each occurs, if they are few."""
    if low == high:
        return values[:1], np.array([len(values)])
    if values.dtype == np.int64 and high - low < 4 * max(len(values), DISTINCT):
        every = np.bincount(values - low)
        filled = np.flatnonzero(every)
        unique, counts = filled + low, every[filled]
    elif len(np.unique(values[:_FIRST_LOOK])) > DISTINCT:
        return None
    else:
        unique, counts = np.unique(values, return_counts=True)
    return (unique, counts) if len(unique) <= DISTINCT else None


def merged_numbers(parts: Sequence[NumericStatistics]) -> NumericStatistics:
    """Merge summaries of parts, by Chan, Golub and LeVeque."""
    parts = [part for part in parts if part.count]
    if len(parts) < 2:
        return parts[0] if parts else NumericStatistics()
    below, above = zip(*(part.infinite for part in parts), strict=True)
    some = [part for part in parts if part.finite]
    low = min((part.minimum for part in some if part.minimum is not None), default=None)
    high = max(
        (part.maximum for part in some if part.maximum is not None), default=None
    )
    shape, total, squares = Histogram(), Fraction(0), 0.0
    if low is not None and high is not None:
        # The bins of floats may be wider than those of ints of the same range.
        widest = max(part.histogram.exponent for part in some)
        shape = merged_histogram(
            (part.histogram for part in some), max(width_exponent(low, high), widest)
        )
        total = sum((part.total for part in some), total)
        mean = float(total / sum(part.finite for part in some))
        apart = [(part.mean or 0.0) - mean for part in some]
        squares = math.fsum(
            part.squares + part.finite * (each * each)  # `**` raises if it is infinite
            for part, each in zip(some, apart, strict=True)
        )
    return NumericStatistics(
        count=sum(part.count for part in parts),
        zeros=sum(part.zeros for part in parts),
        whole=sum(part.whole for part in parts),
        nan=sum(part.nan for part in parts),
        infinite=(sum(below), sum(above)),
        minimum=low,
        maximum=high,
        total=total,
        squares=squares,
        distinct=few([part.distinct for part in parts]),
        histogram=shape,
        magnitudes=Magnitudes(summed(part.magnitudes.counts for part in some)),
        floats=any(part.floats for part in parts),
    )


def few(parts: Sequence[Mapping[Any, int] | None]) -> dict[Any, int] | None:
    """Add counts of different things up, as long as these are few; else None."""
    if any(part is None for part in parts):
        return None
    found = summed(part for part in parts if part is not None)
    return found if len(found) <= DISTINCT else None


def quantile(found: NumericStatistics, share: float) -> float | None:
    """Estimate the value below which that share of the finite ones lies.

    It is exact where the values are counted one by one, and else within a bin of the
    finer of both histograms.
    """
    if found.minimum is None or found.maximum is None:
        return None
    target = share * found.finite
    if found.distinct is not None:
        counts: list[tuple[float, int]] = sorted(found.distinct.items())
        seen = 0
        for value, count in counts:
            seen += count
            if seen >= target:
                return value
    estimates = []
    for bins in (found.histogram.bins(), found.magnitudes.bins()):
        seen = 0
        for low, high, count in bins:
            if seen + count >= target:
                inside = (high - low) * (target - seen) / count
                estimates.append((high - low, low + inside))
                break
            seen += count
    _, value = min(estimates)
    return min(max(value, found.minimum), found.maximum)


def summed(parts: Iterable[Mapping[Any, int]]) -> dict[Any, int]:
    """Add counts up."""
    found: Counter[Any] = Counter()
    for part in parts:
        found.update(part)
    return dict(found)


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
