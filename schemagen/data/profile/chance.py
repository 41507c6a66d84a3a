"""What differs, or is associated, by chance alone."""

from __future__ import annotations

import math

# How far the chance level is above what is expected by chance. About 1 of 100,000 columns
# of random values is above it.
_DEVIATIONS = 4.5


def chance_level(freedom: int) -> float:
    """Return what χ² does not exceed by chance, by Wilson and Hilferty."""
    spread = 2 / (9 * freedom)
    return float(freedom * (1 - spread + _DEVIATIONS * math.sqrt(spread)) ** 3)
