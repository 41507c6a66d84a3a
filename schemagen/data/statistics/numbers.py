"""Summaries of numbers, which merge: of any parts into that of the whole.

Histograms have bins that follow from the values alone, so that those of parts merge.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...documents import LEFT_OUT, AsObject, Counts, ShownAs, WithProperties

BINS = 256
"""At most so many bins of equal width."""

# float32 has 24 significant bits: what is narrower tells no two values apart.
_SIGNIFICANT = 24
_FINEST = -149  # all of them are multiples of 2 ** -149

# Sums are made of smaller numbers, by this power of two, as those of float64 may be
# infinite.
_HEADROOM = 64

# A magnitude is the exponent of a float64 and the first two bits behind it.
_MAGNITUDE_SHIFT, _QUARTERS, _BIAS = 50, 4, 1023
_SIGN = 1 << 13

_Counts = Mapping[int, int]


class Bin(NamedTuple):
    """So many values from `low` to below `high`."""

    low: float
    high: float
    values: int


@dataclass(frozen=True)
class Histogram:
    """Counts in bins of equal width, which is a power of two.

    It is the least one with which at most BINS bins reach from the least value to the
    greatest. Two bins of one width make one of twice the width, so that histograms of
    parts are brought to the width of the whole without loss.

    Attributes:
        exponent: the width is 2 ** exponent.
        counts: bin i holds values from i * width to below (i + 1) * width; bins that
            hold none are left out.
    """

    exponent: int = 0
    counts: _Counts = field(default_factory=dict)

    def bins(self) -> tuple[Bin, ...]:
        """Return the bins that hold something, in order."""
        width = math.ldexp(1.0, self.exponent)
        return tuple(
            Bin(index * width, (index + 1) * width, count)
            for index, count in sorted(self.counts.items())
        )

    __get_pydantic_core_schema__ = ShownAs(bins, tuple[Annotated[Bin, AsObject()], ...])


@dataclass(frozen=True)
class Magnitudes:
    """Counts by how far values are from zero, in quarters between powers of two.

    Attributes:
        counts: by magnitude, which is negative below zero and 0 for zeros.
    """

    counts: _Counts = field(default_factory=dict)

    def bins(self) -> tuple[Bin, ...]:
        """Return the bins that hold something, in order; zeros are one of no width."""
        found = []
        for index, count in sorted(self.counts.items()):
            near, far = magnitude(abs(index)), magnitude(abs(index) + bool(index))
            low, high = (near, far) if index >= 0 else (-far, -near)
            found.append(Bin(low, high, count))
        return tuple(found)


def magnitude(index: int) -> float:
    """Return where a bin of magnitudes begins."""
    octave, quarter = divmod(index, _QUARTERS)
    return math.ldexp(1 + quarter / _QUARTERS, octave - _BIAS) if index else 0.0


def width_exponent(low: float, high: float) -> int:
    """Return the exponent of the width of bins for values from `low` to `high`.

    Of ints the bins are one wide or more, of floats as wide as what a float32 of the
    greatest magnitude can tell apart, or more.
    """
    if isinstance(low, int):
        exponent = max(0, (int(high) - low).bit_length() - 9)
    else:
        far, spread = max(abs(low), abs(high)), high - low
        exponent = max(math.frexp(far)[1] - _SIGNIFICANT, _FINEST) if far else _FINEST
        if spread:
            exponent = max(exponent, math.frexp(spread)[1] - 10)
    while _bin_of(high, exponent) - _bin_of(low, exponent) >= BINS:
        exponent += 1
    return exponent


def _bin_of(value: float, exponent: int) -> int:
    if isinstance(value, int):
        return value >> exponent
    return math.floor(math.ldexp(value, -exponent))


def histogram(
    values: NDArray[Any], low: float, high: float, weights: NDArray[Any] | None = None
) -> Histogram:
    """Count int64 or uint64 values, or finite float64 values.

    Args:
        values: [N], at least one.
        low: the least of them.
        high: the greatest.
        weights: [N], how often each occurs; None for once.
    """
    exponent = width_exponent(low, high)
    first = _bin_of(low, exponent)
    if values.dtype.kind == "f":
        places = np.floor(values * math.ldexp(1.0, -exponent)).astype(np.int64)
    else:
        places = values >> values.dtype.type(exponent)
    found = _counted((places - places.dtype.type(first)).astype(np.int64), weights)
    return Histogram(exponent, {first + place: count for place, count in found})


def magnitudes(
    values: NDArray[np.float64], weights: NDArray[Any] | None = None
) -> Magnitudes:
    """Count finite values of which none is -0.0 or subnormal.

    Args:
        values: [N], at least one.
        weights: [N], how often each occurs; None for once.
    """
    cells = values.view(np.uint64) >> np.uint64(_MAGNITUDE_SHIFT)
    found = _counted(cells.astype(np.int64), weights)
    return Magnitudes(
        {_SIGN - cell if cell > _SIGN else cell: count for cell, count in found}
    )


def _counted(
    bins: NDArray[np.int64], weights: NDArray[Any] | None
) -> Iterator[tuple[int, int]]:
    """Yield each bin that holds something, and how much."""
    counts = np.bincount(bins, weights).astype(np.int64)
    filled = np.flatnonzero(counts)
    return zip(filled.tolist(), counts[filled].tolist(), strict=True)


def summed(parts: Iterable[Mapping[Any, int]]) -> dict[Any, int]:
    """Add counts up."""
    found: Counter[Any] = Counter()
    for part in parts:
        found.update(part)
    return dict(found)


def merged_histogram(parts: Iterable[Histogram], exponent: int) -> Histogram:
    """Add histograms up, in bins of 2 ** exponent."""
    found: dict[int, int] = {}
    for part in parts:
        shift = exponent - part.exponent
        for index, count in part.counts.items():
            index >>= shift
            found[index] = found.get(index, 0) + count
    return Histogram(exponent, found)


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
