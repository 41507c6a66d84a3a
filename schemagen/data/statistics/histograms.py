"""Histograms of numbers, whose bins follow from the values alone, so that those of parts merge."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...documents import AsObject, ShownAs

BINS = 256
"""At most so many bins of equal width."""

# float32 has 24 significant bits: what is narrower tells no two values apart.
_SIGNIFICANT = 24
_FINEST = -149  # all of them are multiples of 2 ** -149

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


def merged_histogram(parts: Iterable[Histogram], exponent: int) -> Histogram:
    """Add histograms up, in bins of 2 ** exponent."""
    found: dict[int, int] = {}
    for part in parts:
        shift = exponent - part.exponent
        for index, count in part.counts.items():
            index >>= shift
            found[index] = found.get(index, 0) + count
    return Histogram(exponent, found)
