"""Timing several ways of doing one thing, side by side."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping


def side_by_side(
    ways: Mapping[str, Callable[[], object]], rounds: int
) -> dict[str, list[float]]:
    """Time every way once a round, after one round that does not count.

    The order turns around from round to round, so that none always comes after the
    one that leaves the caches as it needs them.

    Returns:
        Seconds, by way, a number a round.
    """
    names = list(ways)
    times: dict[str, list[float]] = {name: [] for name in names}
    for number in range(rounds + 1):
        for name in names if number % 2 else reversed(names):
            gc.collect()
            gc.disable()
            start = time.perf_counter()
            ways[name]()
            taken = time.perf_counter() - start
            gc.enable()
            if number:
                times[name].append(taken)
    return times


def microseconds(times: list[float], records: int) -> float:
    """Return the median time of one record."""
    return statistics.median(times) / records * 1e6


def ratio(slow: list[float], fast: list[float]) -> float:
    """Return how many times faster one way is: the median of the rounds' ratios."""
    return statistics.median(a / b for a, b in zip(slow, fast, strict=True))
