"""Distances between the distributions of two samples, from summaries of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ..statistics.histograms import merged_histogram
from ..statistics.numbers import NumericStatistics

KOLMOGOROV_SMIRNOV = "Kolmogorov-Smirnov distance"
"""The largest difference between the shares of values up to any number."""

JENSEN_SHANNON = "Jensen-Shannon distance"
"""The square root of the Jensen-Shannon divergence, with logarithms of base 2."""

# χ² describes chance where a category is expected so often in each sample, as Cochran says.
_EXPECTED = 5

# What is expected less often than that does not occur so often by chance.
_CERTAIN = 20

# One of 100 estimates is farther below the distance than so many standard errors.
_STANDARD_ERRORS = 2.33

# From the squared differences of shares to bits: second derivatives of the divergence.
_BITS = 8 * math.log(2)

Shares = dict[Any, tuple[float, float]]
"""The shares of categories in both samples. The category None is all rare ones."""

Sizes = tuple[float, float]
"""The numbers of independent observations in both samples."""


class Distance(NamedTuple):
    """How far two distributions are apart.

    Attributes:
        value: the distance: 0 between equal distributions, 1 between those that have
            nothing in common.
        noise: what two samples of one distribution reach by chance.
        margin: the uncertainty of the value: 2.33 standard errors.
    """

    value: float
    noise: float
    margin: float


def kolmogorov_smirnov(
    one: NumericStatistics, other: NumericStatistics, sizes: Sizes
) -> Distance:
    """Return the distance of finite numbers, of which both have some.

    It is exact if both count their values one by one. Else it is the largest difference
    at the edges of bins, which is not above the distance.
    """
    value, variance = _at_values_or_edges(one, other), _variance(sizes)
    margin = _STANDARD_ERRORS * math.sqrt(variance / 4)  # of a share of one half
    return Distance(value, min(chance_distance(variance), 1.0), margin)


def _at_values_or_edges(one: NumericStatistics, other: NumericStatistics) -> float:
    both = one, other
    if one.distinct is not None and other.distinct is not None:
        return _largest(one.distinct, other.distinct)
    shapes = (each.histogram for each in both if each.distinct is None)
    exponent = max(shape.exponent for shape in shapes)
    first, second = (_in_bins(each, exponent) for each in both)
    magnitudes = one.magnitudes.counts, other.magnitudes.counts
    return max(_largest(first, second), _largest(*magnitudes))


def _in_bins(found: NumericStatistics, exponent: int) -> Mapping[int, int]:
    """Return counts in bins of 2 ** exponent."""
    if found.distinct is None:
        return merged_histogram([found.histogram], exponent).counts
    counts: Counter[int] = Counter()
    for value, count in found.distinct.items():
        # Integers may be in bins of floats, and floats beyond those of the other side.
        counts[math.floor(Fraction(value) / Fraction(2) ** exponent)] += count
    return counts


def _largest(one: Mapping[Any, int], other: Mapping[Any, int]) -> float:
    """Return the largest difference between cumulated shares."""
    order = sorted(one.keys() | other.keys())
    counts = np.array([[each.get(at, 0) for at in order] for each in (one, other)])
    shares = counts.cumsum(1) / counts.sum(1, keepdims=True)
    return float(np.abs(shares[0] - shares[1]).max())


def shares_of(one: Mapping[Any, int], other: Mapping[Any, int], sizes: Sizes) -> Shares:
    """Return the shares of categories; rare ones, if there are several, are one.

    Args:
        one: how often each occurs in the first sample, at least one.
        other: likewise in the second one.
        sizes: of the samples.
    """
    totals = sum(one.values()), sum(other.values())
    shares = {
        name: (one.get(name, 0) / totals[0], other.get(name, 0) / totals[1])
        for name in {**one, **other}
        if one.get(name) or other.get(name)
    }
    rare = [name for name, both in shares.items() if _is_rare(*both, sizes)]
    if len(rare) > 1:
        some = zip(*(shares.pop(name) for name in rare), strict=True)
        first, second = map(math.fsum, some)
        shares[None] = first, second
    return shares


def _is_rare(first: float, second: float, sizes: Sizes) -> bool:
    """Return whether chance determines how often a sample has a category."""
    least = min(sizes)
    # What is selected by the share in both together is not selected by the difference.
    together = (first * sizes[0] + second * sizes[1]) / sum(sizes)
    return together * least < _EXPECTED and max(first, second) * least < _CERTAIN


def jensen_shannon(shares: Shares, sizes: Sizes) -> Distance:
    """Return the distance of shares.

    The divergence is corrected for bias: chance makes it larger by its mean between
    samples of one distribution.
    """
    freedom, unit = len(shares) - 1, _variance(sizes) / _BITS
    if not freedom:
        return Distance(0.0, 0.0, 0.0)
    divergence, bias = math.fsum(_divergences(shares)), freedom * unit
    by_chance = chance_level(freedom) * unit
    return Distance(
        math.sqrt(min(max(divergence - bias, 0.0), 1.0)),
        math.sqrt(min(by_chance - bias, 1.0)),
        _STANDARD_ERRORS * math.sqrt(unit),
    )


def _divergences(shares: Shares) -> Iterator[float]:
    for both in shares.values():
        middle = sum(both) / 2
        yield from (each * math.log2(each / middle) / 2 for each in both if each)


def changed_most(shares: Shares) -> Any:
    """Return the first category whose shares differ most."""

    def change(name: Any) -> float:
        first, second = shares[name]
        return round(abs(first - second), 12)  # the same of both of two categories

    return max(shares, key=change)


def _variance(sizes: Sizes) -> float:
    """Return the variance of a difference of means, in that of an observation."""
    return sum(1 / size for size in sizes)


def independent(counts: NumericStatistics) -> float:
    """Return how many independent values lists have, by Kish.

    Values of one list may be the same or nearly so: a list counts as one, and fewer if
    some lists are much longer than others.

    Args:
        counts: of the values in each list; at least one is not 0.
    """
    mean, deviation = counts.mean or 0.0, counts.deviation or 0.0
    return counts.count * mean**2 / (mean**2 + deviation**2)


# What differences reach by chance: about 1 of 100,000 between equal distributions is above.

# How far the level of χ² is above its mean, in standard deviations.
_DEVIATIONS = 4.5

# Kolmogorov's distribution exceeds this with a probability of 2 * exp(-2 * 2.47**2).
_KOLMOGOROV = 2.47


def chance_level(freedom: int) -> float:
    """Return what χ² does not exceed by chance, by Wilson and Hilferty."""
    spread = 2 / (9 * freedom)
    return float(freedom * (1 - spread + _DEVIATIONS * math.sqrt(spread)) ** 3)


def chance_distance(variance: float) -> float:
    """Return what the Kolmogorov-Smirnov distance of two samples does not exceed by chance.

    Args:
        variance: the sum of 1 / n of both samples.
    """
    return _KOLMOGOROV * math.sqrt(variance)
