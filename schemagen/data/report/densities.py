"""How numbers are distributed, in bins that several series share."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..statistics.histograms import magnitude, merged_histogram, width_exponent
from ..statistics.numbers import NumericStatistics

FEW = 32
"""So many whole numbers have a bar each."""

_MOST_BINS = 32
_FEWEST_BINS = 8

# From this share on, zeros are apart.
_MANY_ZEROS = 0.1

# An axis is logarithmic where one bin of equal width would hold more than this share of a
# series, and the greatest value is more than so many times the least.
_CROWDED, _REACH = 0.5, 100

# A grid has at most so many places, and no value is farther from one, in steps.
_MOST_PLACES, _OFF = 100_000, 0.01

# Plots have no axis for numbers that are farther apart, or closer together.
_FARTHEST, _CLOSEST = 1e290, 1e-290

Floats = NDArray[np.float64]


class DensityBin(NamedTuple):
    """The density of values from `low` to below `high`."""

    low: float
    high: float
    density: float


@dataclass(frozen=True)
class Distribution:
    """The distributions of some series: shares of the finite values of each.

    Attributes:
        values: all values, if these are few whole numbers; else empty.
        shares: the share of each value, by series; empty without values.
        bins: by series, shares for each unit of the axis, or for each factor of ten if it
            is logarithmic; empty with values.
        zeros: the share of zeros, by series, if they are in no bin; else empty.
        logarithmic: whether the axis is.
    """

    values: Sequence[float] = ()
    shares: Sequence[Sequence[float]] = ()
    bins: Sequence[Sequence[DensityBin]] = ()
    zeros: Sequence[float] = ()
    logarithmic: bool = False

    @property
    def drawn(self) -> bool:
        """Whether there is anything to draw."""
        return bool(self.values) or any(self.bins)


class _FineBins(NamedTuple):
    """Counts in narrow bins by index, for each series, and where a bin begins."""

    counts: Sequence[Mapping[int, float]]
    edge: Callable[[int], float]


def distribution_of(
    every: Sequence[NumericStatistics], *, few: bool = True
) -> Distribution:
    """Return the distributions of series, of which each has a finite number.

    It is empty if no axis can show their range.

    Args:
        every: the numbers of each series.
        few: whether few whole numbers have a bar each.
    """
    whole = all(each.whole == each.finite for each in every)
    different = _different(every)
    if few and whole and 0 < len(different) <= FEW:
        return _by_value(every, different)
    low, high = _ends_of(every)
    if not _CLOSEST < high / 2 - low / 2 < _FARTHEST:
        return Distribution()
    values = np.array(different, np.float64)
    shares = [each.zeros / each.finite for each in every]
    apart = max(shares) >= _MANY_ZEROS and min(shares) < 1
    some = values[values != 0] if apart else values
    step = _step(some) or float(whole)
    if len(some) and step:
        cells = _of_grid(every, some[0], step, apart=apart)
    else:
        cells = _of_histograms(every, apart=apart)
    edges, counts = _grouped(cells, _wanted(every))
    logarithmic = _is_skewed(every, counts)
    if logarithmic:
        apart = any(shares)
        step = step if len(some) and _is_multiple(some[0], step) else float(whole)
        edges, counts = _grouped(_of_magnitudes(every, step), _wanted(every))
    bins = [
        _bins(edges, own, _ends(each, step / 2, apart=apart), each.finite, logarithmic)
        for each, own in zip(every, counts, strict=True)
    ]
    return Distribution(
        bins=bins, zeros=shares if apart else (), logarithmic=logarithmic
    )


def _different(every: Sequence[NumericStatistics]) -> list[float]:
    """Return the different values in order; none if they are not counted one by one."""
    known = [each.distinct for each in every if each.distinct is not None]
    return sorted(set[float]().union(*known)) if len(known) == len(every) else []


def _by_value(
    every: Sequence[NumericStatistics], different: Sequence[float]
) -> Distribution:
    low, high = different[0], different[-1]
    shown = range(int(low), int(high) + 1) if high - low < FEW else different
    shares = [[_count(each, value) / each.finite for value in shown] for each in every]
    return Distribution(values=shown, shares=shares)


def _count(found: NumericStatistics, value: float) -> int:
    return (found.distinct or {}).get(value, 0)


def _step(values: Floats) -> float:
    """Return the step of the grid on which all values are; 0 if there is none."""
    if len(values) < 2:
        return 0.0
    # Large integers may be equal as floats, and floats be too far apart.
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        reach = values[-1] - values[0]
        places = np.rint(reach / np.diff(values).min())
    if not places <= _MOST_PLACES:  # which may not be a number
        return 0.0
    at = (values - values[0]) * (places / reach)
    return float(reach / places) if abs(at - np.rint(at)).max() < _OFF else 0.0


def _is_multiple(value: float, step: float) -> bool:
    return step > 0 and abs(value / step - round(value / step)) < _OFF


def _of_grid(
    every: Sequence[NumericStatistics], low: float, step: float, *, apart: bool
) -> _FineBins:
    """Return a cell around each place of a grid."""
    counts = [
        {
            round((value - low) / step): count
            for value, count in (each.distinct or {}).items()
            if value or not apart
        }
        for each in every
    ]
    return _FineBins(counts, lambda index: low + (index - 0.5) * step)


def _ends_of(every: Sequence[NumericStatistics]) -> tuple[float, float]:
    low = min(each.minimum for each in every if each.minimum is not None)
    return low, max(each.maximum for each in every if each.maximum is not None)


def _of_histograms(every: Sequence[NumericStatistics], *, apart: bool) -> _FineBins:
    exponents = (each.histogram.exponent for each in every)
    exponent = max(width_exponent(*_ends_of(every)), *exponents)
    counts = [
        dict(merged_histogram([each.histogram], exponent).counts) for each in every
    ]
    for own, each in zip(counts, every, strict=True):
        if apart and each.zeros:
            own[0] -= each.zeros
    middle = 0.0 if every[0].floats else 0.5

    def edge(index: int) -> float:
        with np.errstate(over="ignore"):  # beyond the data, which cuts it
            return float(np.ldexp(float(index), exponent)) - middle

    return _FineBins(counts, edge)


def _of_magnitudes(every: Sequence[NumericStatistics], step: float) -> _FineBins:
    """Return cells between powers of two, whose edges are between multiples of a step."""

    def edge(index: int) -> float:
        found = magnitude(index)
        return (math.ceil(found / step - _OFF) - 0.5) * step if step else found

    counts = [each.magnitudes.counts for each in every]
    some = [{at: count for at, count in own.items() if at} for own in counts]
    return _FineBins(some, edge)


def _wanted(every: Sequence[NumericStatistics]) -> int:
    """Return the number of bins: as by Rice's rule, within limits."""
    most = max(each.finite for each in every)
    return min(_MOST_BINS, max(_FEWEST_BINS, math.ceil(2 * math.cbrt(most))))


def _grouped(cells: _FineBins, wanted: int) -> tuple[Floats, Floats]:
    """Put cells together: edges [B + 1], and counts [S, B] of each series."""
    filled = [at for own in cells.counts for at, count in own.items() if count]
    first, last = min(filled), max(filled)
    group = math.ceil((last - first + 1) / wanted)
    bins = (last - first) // group + 1
    counts = np.zeros((len(cells.counts), bins))
    for own, row in zip(cells.counts, counts, strict=True):
        for index, count in own.items():
            if count:
                row[(index - first) // group] += count
    edges = [cells.edge(first + group * at) for at in range(bins + 1)]
    return np.array(edges), counts


def _is_skewed(every: Sequence[NumericStatistics], counts: Floats) -> bool:
    """Return whether most of a series would be in one bin of a long axis."""
    if any(each.minimum is None or each.minimum < 0 for each in every):
        return False
    ends = [_ends(each, 0.0, apart=True) for each in every if each.maximum]
    if not ends:
        return False
    least, most = min(low for low, _ in ends), max(high for _, high in ends)
    crowded = counts.max(axis=1) > _CROWDED * counts.sum(axis=1)
    # Magnitudes do not tell subnormal numbers from zeros.
    is_long = most > _REACH * least and least >= sys.float_info.min
    return is_long and bool(crowded.any())


def _ends(found: NumericStatistics, half: float, *, apart: bool) -> tuple[float, float]:
    """Return from where to where values reach, with half a step around them.

    Args:
        found: the values.
        half: half of the step of their grid.
        apart: whether zeros do not count, of values that are not negative.
    """
    low, high = float(found.minimum or 0), float(found.maximum or 0)
    if apart and low == 0 < high:
        if found.distinct is not None:
            low = float(min(value for value in found.distinct if value))
        else:
            positive = (at for at in found.magnitudes.counts if at)
            low = magnitude(min(positive, default=0))
    return low - half, high + half


def _bins(
    edges: Floats,
    counts: Floats,
    ends: tuple[float, float],
    total: int,
    logarithmic: bool,
) -> list[DensityBin]:
    """Return the densities of one series, between its ends.

    The first and the last bin are cut there. If less than half of one is left, it is a part
    of its neighbour, as few values would make it high.
    """
    filled = np.flatnonzero(counts)
    if not len(filled):
        return []
    first, last = int(filled[0]), int(filled[-1])
    held, full = counts[first : last + 1].tolist(), edges[first : last + 2].tolist()
    bounds = [max(full[0], ends[0]), *full[1:-1], min(full[-1], ends[1])]
    if bounds[-1] <= bounds[0]:  # one value, which has no width
        bounds = full

    def width(low: float, high: float) -> float:
        return math.log10(high / low) if logarithmic else high - low

    if len(held) > 1 and width(*bounds[:2]) < width(*full[:2]) / 2:
        held[:2], bounds[1:2] = [sum(held[:2])], []
    if len(held) > 1 and width(*bounds[-2:]) < width(*full[-2:]) / 2:
        held[-2:], bounds[-2:-1] = [sum(held[-2:])], []
    return [
        DensityBin(low, high, count / total / width(low, high))
        for low, high, count in zip(bounds, bounds[1:], held, strict=False)
        if high > low
    ]
