"""How much of a target a feature tells: mutual information of values in bins."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...rules import JUDGEMENTS
from .distances import chance_level

Ids = NDArray[np.int64]
Values = NDArray[np.float64]

ALONE = JUDGEMENTS["target-leakage"].threshold
"""From this share of a target's entropy on, a feature tells the target on its own."""

FEWEST_OF_BIN = 10
"""Bins of fewer records are left out: with fewer, a coincidence looks strong."""


def binned(values: Values, most: int) -> Ids:
    """Return a bin of each value: of each different one, if these are few.

    Otherwise each value that occurs as often as a bin has values is a bin, and the others
    are cut at quantiles.

    Args:
        values: [N], finite.
        most: how many bins there are at most; of few values, there are fewer.
    """
    most = max(1, min(most, len(values) // FEWEST_OF_BIN))
    ordered = np.sort(values)
    starts = np.flatnonzero(np.diff(ordered, prepend=np.nan))
    counts = np.diff(starts, append=len(ordered))
    different = ordered[starts]
    if len(different) <= most:
        return np.searchsorted(different, values)
    common = counts >= len(values) / most
    rest = ordered[np.repeat(~common, counts)]
    bins = max(1, min(most - int(common.sum()), len(rest) // FEWEST_OF_BIN))
    edges = rest[(len(rest) - 1) * np.arange(1, bins) // bins]
    ids = np.searchsorted(edges, values)
    for at, value in enumerate(different[common], bins):
        ids[values == value] = at
    return ids


def frequent(ids: Ids) -> Ids:
    """Return bins without those of few records, which become -1."""
    counts = np.bincount(ids + 1, minlength=1)
    counts[0] = 0
    return np.where(counts[ids + 1] >= FEWEST_OF_BIN, ids, -1)


def normalised_information(table: NDArray[np.int64], independent: float) -> float:
    """Return the mutual information of a target and a feature by the target's entropy.

    Both are less by what is expected of independent variables. It is 0 for information
    that may be by chance, and 1 for a feature that determines the target.

    Args:
        table: [classes, bins], counts; no row and no column is empty.
        independent: the share of independent records, less than 1 if some belong together.
    """
    count = table.sum() * independent
    freedom = (table.shape[0] - 1) * (table.shape[1] - 1)
    entropy = _entropy(table.sum(1))
    information = entropy + _entropy(table.sum(0)) - _entropy(table)
    expected = freedom / (2 * count)
    if 2 * count * information <= chance_level(freedom) or entropy <= expected:
        return 0.0
    return float(np.clip((information - expected) / (entropy - expected), 0, 1))


def separated_classes(table: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which classes a feature tells from all others on its own: bool [classes].

    Args:
        table: [classes, bins], counts.
    """
    others = table.sum(0) - table
    bins = np.stack([table, others])
    left = _entropies(bins).sum((0, 2)) - _entropies(table.sum(0)).sum()
    whole = _entropies(bins.sum(-1)).sum(0) - _entropies(table.sum())
    found: NDArray[np.bool_] = left < (1 - ALONE) * whole
    return found


def _entropies(counts: NDArray[np.int64]) -> Values:
    """Return -n ln n of each count n, 0 of none."""
    found: Values = np.log(np.maximum(counts, 1)) * -counts
    return found


def _entropy(counts: NDArray[np.int64]) -> float:
    """Return the entropy of a distribution, in nats."""
    count = counts.sum()
    return float(_entropies(counts).sum() / count + np.log(count))
