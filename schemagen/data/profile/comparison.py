"""Differences between splits: the distances between the distributions of their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...runtime.native import BYTES
from ..formatting import share
from ..statistics.numbers import BY_NAME, NumericStatistics
from .classes import ClassCounts, value_name
from .columns import (
    LENGTHS,
    SIZES,
    STEPS,
    VALUES,
    ColumnProfile,
    Quantity,
    SplitProfile,
    quantities_of,
)
from .distances import (
    JENSEN_SHANNON,
    KOLMOGOROV_SMIRNOV,
    Distance,
    Sizes,
    changed_most,
    independent,
    jensen_shannon,
    kolmogorov_smirnov,
    shares_of,
)

FEWEST = 30
"""A split of fewer records differs by chance."""

QUANTILES = ("5 %", "25 %", "median", "75 %", "95 %")
"""The measures of numbers that show how two splits differ."""

MISSING = "missing values"
"""The category of records that lack a column."""

_RARE = "rare values"

_Counts = Sequence[Mapping[Any, int]]


@dataclass(frozen=True)
class Difference:
    """How far the distributions of one thing in two splits are apart.

    Attributes:
        column: the column.
        splits: both of them.
        quantity: whose values are compared; None if it is whether records have the
            column, and with which type.
        measure: the name of the distance.
        distance: from 0, of equal distributions, to 1, of those without common values.
        noise: the distance that chance alone does not exceed.
        margin: the uncertainty of the distance.
        threshold: the distance from which on it counts as drift; 1 for never.
        category: the class or the value whose share changed most; None for quantiles.
        shares: of the category in both splits.
        quantiles: of the quantity in both splits, of numbers that are compared as such:
            those of `QUANTILES`.
    """

    column: ColumnProfile
    splits: tuple[SplitProfile, SplitProfile]
    quantity: Quantity | None
    measure: str
    distance: float
    noise: float
    margin: float
    threshold: float
    category: str | None = None
    shares: tuple[float, float] | None = None
    quantiles: tuple[tuple[float, ...], tuple[float, ...]] | None = None

    @property
    def drift(self) -> bool:
        """Whether it is neither by chance nor surely below the threshold."""
        reaches = self.distance + self.margin >= self.threshold
        return self.distance > self.noise and reaches and self.threshold < 1

    @property
    def marked(self) -> bool:
        """Whether it is drift of what a model takes or predicts."""
        return self.drift and not self.column.is_info

    @property
    def of(self) -> str:
        """The name of the quantity; empty for the column itself."""
        return self.quantity.name if self.quantity else ""

    @property
    def title(self) -> str:
        """What differs, for people."""
        if self.category is not None:
            return f"share of {self.category}"
        return self.quantity.title if self.quantity else ""

    @property
    def texts(self) -> tuple[str, str]:
        """The shares or the quantiles of both splits, for people."""
        found: Iterable[str] = map(self._quantiles, self.quantiles or ())
        if self.shares is not None:
            found = (share(each) for each in self.shares)
        first, second = found
        return first, second

    @property
    def in_words(self) -> str:
        """The same with the names of the splits."""
        found = zip(self.splits, self.texts, strict=True)
        return "; ".join(f"{split.label}: {text}" for split, text in found)

    def _quantiles(self, values: Sequence[float]) -> str:
        assert self.quantity is not None
        style, spread = self.column.style_of(self.quantity), values[-1] - values[0]
        text = " · ".join(
            style.measure(BY_NAME[name], value, spread)
            for name, value in zip(QUANTILES, values, strict=True)
        )
        return f"{text} {self.quantity.unit}".rstrip()


def differences_of(
    columns: Sequence[ColumnProfile],
    classes: Sequence[ClassCounts],
    pairs: Sequence[tuple[SplitProfile, SplitProfile]],
    threshold_of: Callable[[str], float],
) -> list[Difference]:
    """Compare pairs of splits in each column: what is marked first, by distance, info last.

    Args:
        columns: of both splits.
        classes: the counts of those that hold classes.
        pairs: splits of at least `FEWEST` records.
        threshold_of: returns the distance that counts as drift in a column, by its name.
    """
    counted = {each.column.key: each.counts for each in classes}
    found = [
        each
        for pair in pairs
        for column in columns
        for each in _Pair(column, pair, threshold_of(column.name)).differences(
            counted.get(column.key)
        )
    ]
    return sorted(
        found,
        key=lambda each: (each.column.is_info, not each.drift, -each.distance),
    )


def pairs_of(
    splits: Sequence[SplitProfile],
    names: Sequence[tuple[str | None, str | None]] | None = None,
) -> list[tuple[SplitProfile, SplitProfile]]:
    """Return pairs of splits, as far as they can be compared.

    Args:
        splits: all of them.
        names: of each pair; None for the first split with each other one.
    """
    large = {split.name: split for split in splits if split.found.read >= FEWEST}
    if names is not None:
        return [(large[a], large[b]) for a, b in names if a in large and b in large]
    every = [*large.values()]
    return [(every[0], other) for other in every[1:]]


@dataclass(frozen=True)
class _Pair:
    """A column in two splits."""

    column: ColumnProfile
    splits: tuple[SplitProfile, SplitProfile]
    threshold: float

    def differences(
        self, classes: Mapping[str, Mapping[str, int]] | None
    ) -> Iterator[Difference]:
        """Yield a difference for each thing that both splits have.

        Args:
            classes: the frequencies of classes by split; None if it has no classes.
        """
        records = self.splits[0].independent, self.splits[1].independent
        presence = [_presence(self.column, split) for split in self.splits]
        yield from self._varying(None, presence, records)
        yield from self._of_forms()
        held = {
            quantity: [*found.values()]
            for quantity, found in quantities_of(self.column, self.splits).items()
            if len(found) == len(self.splits)
        }
        by_category = [*self._of_values(classes)]
        by_number = []
        if VALUES in held and not self.column.of_classes:
            by_number = [*self._numbers(VALUES, held[VALUES])]
        # Numbers that look like classes may be amounts: their order may show more.
        yield from sorted([*by_category, *by_number], key=lambda e: not e.drift)[:1]
        for quantity, found in held.items():
            if quantity != VALUES and not (quantity == SIZES and by_category):
                yield from self._numbers(quantity, found)

    def _of_forms(self) -> Iterator[Difference]:
        """Yield the difference of what floats are: whole, NaN, infinite."""
        kinds = [self.column.kind_in(split) for split in self.splits]
        some = [kind.numbers for kind in kinds if kind and kind.numbers]
        found = [each for each in some if each.count]
        if len(found) == len(self.splits) and any(each.floats for each in found):
            sizes = self._sizes(VALUES, [each.count for each in found])
            yield from self._varying(VALUES, [*map(_forms, found)], sizes)

    def _of_values(
        self, classes: Mapping[str, Mapping[str, int]] | None
    ) -> Iterator[Difference]:
        """Yield the difference of the frequencies of classes or texts.

        Nothing if they are not counted, or all of them are rare.
        """
        counts = [
            _texts(self.column, split)
            if classes is None
            else classes.get(split.name, {})
            for split in self.splits
        ]
        if all(counts):
            sizes = self._sizes(VALUES, [sum(each.values()) for each in counts])
            yield from self._shares(VALUES, counts, sizes)

    def _numbers(
        self, quantity: Quantity, found: Sequence[NumericStatistics]
    ) -> Iterator[Difference]:
        """Yield the difference of numbers unless both are the same constant."""
        first, second = found
        if len({*_extent(first), *_extent(second)}) == 1:
            return
        sizes = self._sizes(quantity, [each.finite for each in found])
        quantiles = _quantiles(first), _quantiles(second)
        distance = kolmogorov_smirnov(first, second, sizes)
        yield self._of(quantity, KOLMOGOROV_SMIRNOV, distance, quantiles=quantiles)

    def _varying(
        self, quantity: Quantity | None, counts: _Counts, sizes: Sizes
    ) -> Iterator[Difference]:
        """Yield the difference of shares unless there is one category only."""
        some = {name for each in counts for name, count in each.items() if count}
        if len(some) > 1:
            yield from self._shares(quantity, counts, sizes)

    def _shares(
        self, quantity: Quantity | None, counts: _Counts, sizes: Sizes
    ) -> Iterator[Difference]:
        """Yield the difference of shares unless all categories are rare."""
        one, other = counts
        shares = shares_of(one, other, sizes)
        if shares.keys() == {None}:
            return
        most = changed_most(shares)
        name = _RARE if most is None else most
        yield self._of(
            quantity,
            JENSEN_SHANNON,
            jensen_shannon(shares, sizes),
            category=name if isinstance(name, str) else value_name(name),
            shares=shares[most],
        )

    def _of(
        self, quantity: Quantity | None, measure: str, found: Distance, **more: Any
    ) -> Difference:
        return Difference(
            self.column, self.splits, quantity, measure, *found, self.threshold, **more
        )

    def _sizes(self, quantity: Quantity, counts: Iterable[int]) -> Sizes:
        """Return how many independent values of a quantity both splits have, of all."""
        first, second = (
            min(count, _independent(self.column, split, quantity))
            for split, count in zip(self.splits, counts, strict=True)
        )
        return first, second


def _independent(
    column: ColumnProfile, split: SplitProfile, quantity: Quantity
) -> float:
    """Return how many independent values of a quantity a split has.

    Values of a record may be the same or nearly so, also in its steps, and records of a
    group.
    """
    kind = column.kind_in(split)
    if kind is None or quantity in (STEPS, LENGTHS):
        return split.independent  # one in a record
    counts = column.step_counts[split.name] if column.steps else kind.lengths
    return min(independent(counts), split.independent)


def _presence(column: ColumnProfile, split: SplitProfile) -> dict[str, int]:
    """Return how many records lack a column, and how many have which type of it."""
    counts = {MISSING: column.missing_in(split)}
    held = column.found.get(split.name)
    if column.steps:
        counts["present"] = column.present.get(split.name, 0)
    elif held is not None:
        present = {kind: held.by_kind[kind].present for kind in held.kinds}
        counts["bytes"] = present.pop(BYTES, 0)
        counts["numbers"] = sum(present.values())
    return counts


def _forms(found: NumericStatistics) -> dict[str, int]:
    """Return how many numbers are whole, NaN, or infinite."""
    below, above = found.infinite
    return {
        "NaN": found.nan,
        "-inf": below,
        "inf": above,
        "whole numbers": found.whole,
        "fractions": found.finite - found.whole,
    }


def _texts(column: ColumnProfile, split: SplitProfile) -> Mapping[bytes, int]:
    """Return how often each text occurs; nothing if there are too many to count."""
    kind = column.kind_in(split)
    return (kind and kind.contents and kind.contents.distinct) or {}


def _quantiles(found: NumericStatistics) -> tuple[float, ...]:
    return tuple(BY_NAME[name].of(found) or 0.0 for name in QUANTILES)


def _extent(found: NumericStatistics) -> tuple[float | None, float | None]:
    return found.minimum, found.maximum
