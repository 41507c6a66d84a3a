"""Histograms whose bins follow from the values alone, so that they merge exactly."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

BINS = 256
"""At most so many bins of equal width."""

QUARTERS = 4
"""Into so many parts the magnitudes between two powers of two are cut."""

# float32 has 24 significant bits: what is narrower tells no two values apart.
_SIGNIFICANT = 24
_FINEST = -149  # all of them are multiples of 2 ** -149

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


@dataclass(frozen=True)
class Magnitudes:
    """Counts of values by how far from zero they are, zeros left out.

    Bin i reaches from 2 ** (i // 4) * (1 + i % 4 / 4) to where the next one begins:
    whatever the range, a bin is no wider than a quarter of its values.

    Attributes:
        positive: of values above zero.
        negative: of values below zero, by how far below.
    """

    positive: _Counts = field(default_factory=dict)
    negative: _Counts = field(default_factory=dict)

    def bins(self) -> tuple[Bin, ...]:
        """Return the bins that hold something, in order."""
        below = [
            Bin(-magnitude(index + 1), -magnitude(index), count)
            for index, count in sorted(self.negative.items(), reverse=True)
        ]
        above = [
            Bin(magnitude(index), magnitude(index + 1), count)
            for index, count in sorted(self.positive.items())
        ]
        return (*below, *above)


def magnitude(index: int) -> float:
    """Return where a bin of magnitudes begins."""
    octave, quarter = divmod(index, QUARTERS)
    return math.ldexp(1 + quarter / QUARTERS, octave)


def width_exponent(low: float, high: float) -> int:
    """Return the exponent of the width of bins for values from `low` to `high`.

    Of ints the bins are one wide or more, of floats as wide as what a float32 of the
    greatest magnitude can tell apart, or more.
    """
    whole = isinstance(low, int)
    if whole:
        exponent = max(0, (int(high) - int(low)).bit_length() - 9)
    else:
        far = max(abs(low), abs(high))
        least = max(math.frexp(far)[1] - _SIGNIFICANT, _FINEST) if far else _FINEST
        spread = high - low
        exponent = max(least, math.frexp(spread)[1] - 10) if spread else least
    while bin_of(high, exponent) - bin_of(low, exponent) >= BINS:
        exponent += 1
    return exponent


def bin_of(value: float, exponent: int) -> int:
    """Return the bin of a value."""
    if isinstance(value, int):
        return value >> exponent
    return math.floor(math.ldexp(value, -exponent))


def histogram(
    values: NDArray[Any], low: float, high: float, weights: NDArray[Any] | None = None
) -> Histogram:
    """Count int64 or finite float values from `low` to `high`."""
    exponent = width_exponent(low, high)
    first = bin_of(low, exponent)
    if values.dtype == np.int64:
        places = (values >> exponent) - first
    else:
        scaled = values.astype(np.float64) * math.ldexp(1.0, -exponent)
        places = np.floor(scaled, out=scaled).astype(np.int64) - first
    return Histogram(exponent, counted(places, weights, first))


def magnitudes_of_integers(
    values: NDArray[np.int64], weights: NDArray[Any] | None = None
) -> Magnitudes:
    """Count int64 values."""
    if len(values) and weights is None and not values.all():
        values = values[values != 0]
    elif weights is not None:
        weights, values = weights[values != 0], values[values != 0]
    bits = values.astype(np.float64).view(np.uint64) >> np.uint64(50)
    cells = counted(bits.astype(np.int64), weights)
    # 11 bits of exponent, whose 1023 is 1, and two of what follows.
    sign, ones = 1 << 13, QUARTERS * 1023
    return Magnitudes(
        {cell - ones: count for cell, count in cells.items() if cell < sign},
        {cell - sign - ones: count for cell, count in cells.items() if cell >= sign},
    )


def counted(
    places: NDArray[np.int64], weights: NDArray[Any] | None = None, first: int = 0
) -> dict[int, int]:
    """Return how often each number occurs, with `first` added to the numbers."""
    if not len(places):
        return {}
    low, high = int(places.min()), int(places.max())
    if high - low < max(4 * len(places), 1 << 10):
        counts = np.bincount(places - low, weights)
        filled = np.flatnonzero(counts)
        counts, filled = counts[filled].astype(np.int64), filled + low
    else:
        filled, inverse = np.unique(places, return_inverse=True)
        counts = np.bincount(inverse, weights).astype(np.int64)
    numbers = (first + each for each in filled.tolist())
    return dict(zip(numbers, counts.tolist(), strict=True))


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


def merged_magnitudes(parts: Iterable[Magnitudes]) -> Magnitudes:
    """Add counts of magnitudes up."""
    parts = list(parts)
    return Magnitudes(
        summed(part.positive for part in parts), summed(part.negative for part in parts)
    )
