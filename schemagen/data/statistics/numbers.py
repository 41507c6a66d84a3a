"""What some numbers are like, exactly, whatever their number and order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .histograms import (
    Bin,
    Histogram,
    Magnitudes,
    histogram,
    magnitudes_of_integers,
    merged_histogram,
    merged_magnitudes,
    summed,
    width_exponent,
)

DISTINCT = 1024
"""Up to so many different values are counted one by one; ImageNet has 1001 labels."""

# Keys with more different values mostly show it in the first few.
_FIRST_LOOK = 1 << 12

# float32: 23 bits of mantissa, 8 of exponent; 1 is 127; subnormal below exponent 1.
_MANTISSA = 23
_FLOAT_UNIT = 149  # floats are multiples of 2 ** -149
_CELL_SHIFT = 21  # leaves sign, exponent and the quarter
_SPECIAL = 1020  # from this cell on: infinities and NaN
_SIGN = 1024
_CELLS = 2048


@dataclass(frozen=True)
class Numbers:
    """Some numbers of one key, or lengths, or sizes: all of them int, or float32.

    Minimum, maximum, mean, histogram and magnitudes are of those that are finite.

    Attributes:
        count: how many there are.
        zeros: how many are zero.
        whole: how many are whole numbers; all of them, if they are int.
        nan: how many are no number.
        infinite: how many are infinite, below and above zero.
        minimum: the least; None if none is finite.
        maximum: the greatest, likewise.
        units: their sum, exactly: of floats in units of 2 ** -149.
        distinct: how often each occurs; None if there are more than DISTINCT.
        histogram: counts in bins of equal width.
        magnitudes: counts by powers of two.
        floats: whether they are float32.
    """

    count: int = 0
    zeros: int = 0
    whole: int = 0
    nan: int = 0
    infinite: tuple[int, int] = (0, 0)
    minimum: int | float | None = None
    maximum: int | float | None = None
    units: int = 0
    distinct: Mapping[Any, int] | None = field(default_factory=dict)
    histogram: Histogram = field(default_factory=Histogram)
    magnitudes: Magnitudes = field(default_factory=Magnitudes)
    floats: bool = False

    @property
    def finite(self) -> int:
        """How many are neither NaN nor infinite."""
        return self.count - self.nan - sum(self.infinite)

    @property
    def total(self) -> Fraction:
        """The sum of those that are finite, exactly."""
        return Fraction(self.units, 1 << _FLOAT_UNIT if self.floats else 1)

    @property
    def mean(self) -> float | None:
        """The mean of those that are finite; None if there is none."""
        return float(self.total / self.finite) if self.finite else None

    @property
    def constant(self) -> int | float | None:
        """The value that all have, if they have one."""
        single = self.count == self.finite and self.minimum == self.maximum
        return self.minimum if single else None

    def merged(self, other: Numbers) -> Numbers:
        """Return what the numbers of both are like."""
        return merged_numbers([self, other])


def numbers(values: NDArray[Any]) -> Numbers:
    """Tell what int64 or float32 values are like: [N]."""
    if not len(values):
        return Numbers()
    if values.dtype == np.int64:
        return _integers(values)
    return _floats(np.ascontiguousarray(values, np.float32))


def _integers(values: NDArray[np.int64]) -> Numbers:
    low, high = int(values.min()), int(values.max())
    unique, weights = _distinct(values, low, high)
    if unique is None:
        distinct, few = None, values
    else:
        distinct = dict(zip(unique.tolist(), weights.tolist(), strict=True))
        few = unique
    return Numbers(
        count=len(values),
        zeros=len(values) - int(np.count_nonzero(values)),
        whole=len(values),
        minimum=low,
        maximum=high,
        units=_sum_of_integers(values, low, high),
        distinct=distinct,
        histogram=histogram(few, low, high, weights),
        magnitudes=magnitudes_of_integers(few, weights),
    )


def _sum_of_integers(values: NDArray[np.int64], low: int, high: int) -> int:
    if max(-low, high) * len(values) < 1 << 62:
        return int(values.sum())
    upper, lower = values >> 32, values & 0xFFFF_FFFF
    return (int(upper.sum()) << 32) + int(lower.sum())


def _distinct(values: NDArray[Any], low: float, high: float) -> tuple[Any, Any]:
    """Return the different values and how often each occurs, if they are few."""
    if values.dtype == np.int64 and high - low < 4 * max(len(values), DISTINCT):
        counts = np.bincount(values - low)
        filled = np.flatnonzero(counts)
        if len(filled) > DISTINCT:
            return None, None
        return filled + low, counts[filled]
    first = np.unique(values[:_FIRST_LOOK])
    if len(first) > DISTINCT:
        return None, None
    unique, counts = np.unique(values, return_counts=True)
    return (unique, counts) if len(unique) <= DISTINCT else (None, None)


def _floats(values: NDArray[np.float32]) -> Numbers:
    count, bits = len(values), values.view(np.uint32)
    places = (bits >> np.uint32(_CELL_SHIFT)).astype(np.intp)
    cells = np.bincount(places, None, _CELLS)
    above = cells[_SPECIAL:_SIGN].sum() + cells[_SPECIAL + _SIGN :].sum()
    nan, infinite = 0, (0, 0)
    if above:
        nan = int(np.count_nonzero(np.isnan(values)))
        infinite = (
            int(np.count_nonzero(values == -np.inf)),
            int(np.count_nonzero(values == np.inf)),
        )
        values = values[np.isfinite(values)]
        bits = values.view(np.uint32)
        places = (bits >> np.uint32(_CELL_SHIFT)).astype(np.intp)
        cells[_SPECIAL:_SIGN] = cells[_SPECIAL + _SIGN :] = 0
    if not len(values):
        return Numbers(count, nan=nan, infinite=infinite, floats=True)
    zeros = len(values) - int(np.count_nonzero(values))
    values = values + np.float32(0)  # -0.0 is 0.0
    low, high = float(values.min()), float(values.max())
    unique, weights = _distinct(values, low, high)
    distinct = (
        None
        if unique is None
        else dict(zip(unique.tolist(), weights.tolist(), strict=True))
    )
    return Numbers(
        count=count,
        zeros=zeros,
        whole=int(np.count_nonzero(values == np.rint(values))),
        nan=nan,
        infinite=infinite,
        minimum=low,
        maximum=high,
        units=_sum_of_floats(bits, places, cells),
        distinct=distinct,
        histogram=histogram(values if unique is None else unique, low, high, weights),
        magnitudes=_magnitudes_of_floats(cells, bits),
        floats=True,
    )


def _sum_of_floats(
    bits: NDArray[np.uint32], places: NDArray[np.intp], cells: NDArray[np.int64]
) -> int:
    """Add floats up exactly, in units of the least one: mantissas by exponent.

    The mantissas of one exponent add up to less than 2 ** 53 as long as there are less
    than 2 ** 30 of them, which float64 holds exactly.
    """
    mantissas = (bits & np.uint32((1 << _MANTISSA) - 1)).astype(np.float64)
    sums = np.bincount(places, mantissas, _CELLS)
    total = 0
    for cell in np.flatnonzero(cells).tolist():
        exponent = cell >> 2 & 0xFF
        part = int(sums[cell])
        if exponent:
            part = part + (int(cells[cell]) << _MANTISSA) << exponent - 1
        total += -part if cell & _SIGN else part
    return total


def _magnitudes_of_floats(
    cells: NDArray[np.int64], bits: NDArray[np.uint32]
) -> Magnitudes:
    found: tuple[dict[int, int], dict[int, int]] = {}, {}
    cells = cells.copy()
    for sign in (0, _SIGN):
        if cells[sign]:
            zero = np.uint32(0x8000_0000 if sign else 0)
            cells[sign] -= np.count_nonzero(bits == zero)
    for cell in np.flatnonzero(cells).tolist():
        # Subnormal ones are taken for the least ones that are not.
        index = max(cell & _SIGN - 1, 4) - 4 * 127
        side = found[cell >> 10]
        side[index] = side.get(index, 0) + int(cells[cell])
    return Magnitudes(*found)


def merged_numbers(parts: Sequence[Numbers]) -> Numbers:
    """Return what the numbers of all parts are like."""
    parts = [part for part in parts if part.count]
    if len(parts) < 2:
        return parts[0] if parts else Numbers()
    lows = [part.minimum for part in parts if part.minimum is not None]
    highs = [part.maximum for part in parts if part.maximum is not None]
    low, high = (min(lows), max(highs)) if lows else (None, None)
    shape = Histogram()
    if low is not None and high is not None:
        shape = merged_histogram(
            (part.histogram for part in parts if part.finite), width_exponent(low, high)
        )
    return Numbers(
        count=sum(part.count for part in parts),
        zeros=sum(part.zeros for part in parts),
        whole=sum(part.whole for part in parts),
        nan=sum(part.nan for part in parts),
        infinite=(
            sum(part.infinite[0] for part in parts),
            sum(part.infinite[1] for part in parts),
        ),
        minimum=low,
        maximum=high,
        units=sum(part.units for part in parts),
        distinct=few([part.distinct for part in parts]),
        histogram=shape,
        magnitudes=merged_magnitudes(part.magnitudes for part in parts),
        floats=any(part.floats for part in parts),
    )


def few(parts: Sequence[Mapping[Any, int] | None]) -> dict[Any, int] | None:
    """Add counts of different things up, as long as these are few; else None."""
    if any(part is None for part in parts):
        return None
    found = summed(part for part in parts if part is not None)
    return found if len(found) <= DISTINCT else None


def quantile(found: Numbers, share: float) -> float | None:
    """Estimate the value below which that share of the finite ones lies.

    It is exact where the values are counted one by one, and else within a bin of the
    finer of both histograms.
    """
    if not found.finite or found.minimum is None or found.maximum is None:
        return None
    target = share * found.finite
    if found.distinct is not None:
        seen = 0
        for value, count in sorted(found.distinct.items()):
            seen += count
            if seen >= target:
                return float(value)
        return float(found.maximum)
    estimates = []
    zero = Bin(0.0, 0.0, found.zeros)
    for bins in (
        found.histogram.bins(),
        tuple(sorted((*found.magnitudes.bins(), zero))),
    ):
        seen = 0
        for low, high, count in bins:
            if count and seen + count >= target:
                inside = low + (high - low) * (target - seen) / count
                estimates.append((high - low, inside))
                break
            seen += count
    value = min(estimates)[1] if estimates else float(found.maximum)
    return math.copysign(
        abs(min(max(value, float(found.minimum)), float(found.maximum))), value
    )
