"""Correlations of numbers: Spearman's, of a sample of records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..statistics.samples import NUMBER
from .columns import ColumnProfile, SplitProfile

MOST = 60
"""So many columns are compared, the first ones."""

# With fewer records, numbers look alike by chance.
_FEWEST = 30

Values = NDArray[np.float64]


class Correlation(NamedTuple):
    """Spearman's correlation of two columns, and how many records have both."""

    one: ColumnProfile
    other: ColumnProfile
    strength: float
    records: int


@dataclass(frozen=True)
class Correlations:
    """The correlations of the columns of a split.

    Attributes:
        columns: those that have numbers.
        records: how many records the sample has.
        pairs: the correlations, the strongest first.
    """

    columns: Sequence[ColumnProfile]
    records: int
    pairs: Sequence[Correlation]


def correlations_of(
    columns: Sequence[ColumnProfile], split: SplitProfile
) -> Correlations | None:
    """Return how numbers go together, by a split's sample; None without two columns.

    Args:
        columns: all columns.
        split: the split.
    """
    rows = split.found.rows
    if rows is None:
        return None
    found: list[tuple[ColumnProfile, _Ranked]] = []
    for column in columns:
        cells = rows.cells.get(column.key)
        if cells is not None and column.is_number and not column.steps:
            values = np.where(cells.held == NUMBER, cells.numbers, np.nan)
            values = np.where(np.isfinite(values), values, np.nan)
            found.append((column, _Ranked(values, ~np.isnan(values), _ranks(values))))
    pairs = [
        Correlation(one, other, *correlation)
        for (one, a), (other, b) in combinations(found[:MOST], 2)
        if (correlation := _spearman(a, b)) is not None
    ]
    pairs.sort(key=lambda each: -abs(each.strength))
    some = {id(column) for pair in pairs for column in pair[:2]}
    shown = [column for column, _ in found if id(column) in some]
    return Correlations(shown, len(rows), pairs) if pairs else None


class _Ranked(NamedTuple):
    """Values, [N]; which records have one; and their ranks if all have."""

    values: Values
    there: NDArray[np.bool_]
    ranks: Values


def _spearman(one: _Ranked, other: _Ranked) -> tuple[float, int] | None:
    """Return the correlation of ranks, and of how many records; None if it has none."""
    both, ranks = one.there & other.there, np.array([one.ranks, other.ranks])
    if not both.all():
        ranks = np.array([_ranks(each.values[both]) for each in (one, other)])
    count = ranks.shape[1]
    if count < _FEWEST or not np.ptp(ranks, axis=1).all():
        return None
    return float(np.corrcoef(ranks)[0, 1]), count


def _ranks(values: Values) -> Values:
    """Return ranks; equal values have the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Values = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    return ranks
