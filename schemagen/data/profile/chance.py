"""What differences reach by chance: about 1 of 100,000 between equal distributions is above it."""

from __future__ import annotations

import math

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
