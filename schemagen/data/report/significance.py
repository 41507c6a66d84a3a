"""What chance explains, and what it does not: the tests behind marked differences."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ..statistics.numbers import Numbers

FEWEST = 30
"""Of fewer records nothing is concluded but which classes there are."""

CHANCE = 0.001
"""What chance gives in fewer cases than this is not taken for chance."""

ERRORS = 3.3
"""So many standard errors a normal number exceeds so seldom, on either side."""

EXPECTED = -math.log(CHANCE)
"""Chance leaves something out with the probability exp(-expected)."""

_ERRORS_ABOVE = 3.1  # likewise on one side
_LEAST_EXPECTED = 5.0


def total_variation(before: Mapping[str, int], now: Mapping[str, int]) -> float:
    """Return half of the sum of how far the shares of each class lie apart."""
    of, among = sum(before.values()), sum(now.values())
    names = {**before, **now}
    return sum(abs(before.get(n, 0) / of - now.get(n, 0) / among) for n in names) / 2


def differ(before: Mapping[str, int], now: Mapping[str, int]) -> bool:
    """Whether counts are from different shares: a chi-square test of homogeneity.

    Classes of which either sample has less than five to expect are taken together, as
    the test asks. Its distribution is that of Wilson and Hilferty's approximation.
    """
    of, among = sum(before.values()), sum(now.values())
    part = min(of, among) / (of + among)
    cells: list[tuple[int, int]] = []
    rest = [0, 0]
    for name in sorted({*before, *now}):
        pair = before.get(name, 0), now.get(name, 0)
        if sum(pair) * part >= _LEAST_EXPECTED:
            cells.append(pair)
        else:
            rest = [rest[0] + pair[0], rest[1] + pair[1]]
    if sum(rest) * part >= _LEAST_EXPECTED:
        cells.append((rest[0], rest[1]))
    if len(cells) < 2:
        return False
    statistic = sum(
        (left * among - right * of) ** 2 / (left + right) for left, right in cells
    ) / (of * among)
    free = len(cells) - 1
    if free == 1:  # the square of a normal one
        return bool(statistic >= ERRORS**2)
    spread = 2 / (9 * free)
    normal = ((statistic / free) ** (1 / 3) - (1 - spread)) / math.sqrt(spread)
    return bool(normal >= _ERRORS_ABOVE)


def deviation(found: Numbers) -> float:
    """Return the standard deviation of what is finite, estimated from the bins."""
    mean = found.mean  # exact, which takes time
    if mean is None:
        return 0.0
    if found.distinct is not None:
        pairs = [
            (value, n) for value, n in found.distinct.items() if math.isfinite(value)
        ]
    else:
        pairs = [
            ((low + high) / 2, count) for low, high, count in found.histogram.bins()
        ]
    try:
        squares = sum(count * (value - mean) ** 2 for value, count in pairs)
        return math.sqrt(squares / found.finite)
    except OverflowError:
        return 0.0


def beyond(found: Numbers, low: float, high: float) -> tuple[int, int]:
    """Return how many values are surely below and above a range.

    Those that share a bin with its ends are left out, but for the one that is known to
    be outside.
    """
    if found.distinct is not None:
        pairs = found.distinct.items()
        below = sum(count for value, count in pairs if -math.inf < value < low)
        above = sum(count for value, count in pairs if high < value < math.inf)
        return below, above
    bins = found.histogram.bins()
    under = sum(bin_.values for bin_ in bins if bin_.high <= low)
    over = sum(bin_.values for bin_ in bins if bin_.low > high)
    least, greatest = found.minimum or 0, found.maximum or 0
    return max(under, int(least < low)), max(over, int(greatest > high))


def exceedances(of: int, among: int) -> int:
    """Return how many of `among` values beyond all of `of` others are too many.

    If all are of one kind, any order of them is as likely: the chance that the k
    greatest are all of the second sample is a product of shares.
    """
    chance, count = 1.0, 0
    while chance >= CHANCE and count < among:
        chance *= (among - count) / (of + among - count)
        count += 1
    return count if chance < CHANCE else among + 1
