"""Differences between splits: shares, means and spreads, each with the size of its effect."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...rules import THRESHOLDS
from ..formatting import number, share
from ..statistics.measures import BY_NAME, PLAIN
from ..statistics.numbers import Numbers
from .classes import ClassCounts, value_name
from .columns import SIZES, VALUES, Column, Quantity, Split, quantities_of

FEWEST = 30
"""A split of fewer records differs by chance."""

# And so does a value that occurs less often.
FEWEST_OF_VALUE = 10

# The measures that follow from the frequencies of values.
_COUNTED = (VALUES, SIZES)

DRIFT = THRESHOLDS["drift"]
"""The effect that counts as drift: what Cohen calls medium."""


@dataclass(frozen=True)
class Difference:
    """One measure of one column in two splits.

    Attributes:
        column: the column.
        splits: both of them.
        measure: what is compared: "mean", "standard deviation", "share", "missing", "NaN".
        quantity: of which it is; None for the column itself.
        category: the value of which a share is; None for other measures.
        values: the measure in both splits.
        unit: of the effect: "Cohen's h" of shares, "Cohen's d" of means (in standard
            deviations), or "ratio" of standard deviations.
        effect: how large the difference is; infinite between two constants.
        drift: the same on one scale: 0.5 is a Cohen's h or d of 0.5, or a ratio of 1.5.
    """

    column: Column
    splits: tuple[Split, Split]
    measure: str
    quantity: Quantity | None
    category: str | None
    values: tuple[float, float]
    unit: str
    effect: float

    @property
    def drift(self) -> float:
        return self.effect - 1 if self.unit == "ratio" else self.effect

    @property
    def of(self) -> str:
        """The name of the quantity; empty for the column itself."""
        return self.quantity.name if self.quantity else ""

    @property
    def title(self) -> str:
        """What is compared, for people."""
        of = self.category or (self.quantity.title if self.quantity else "")
        return f"{self.measure} of {of}" if of else self.measure

    @property
    def texts(self) -> tuple[str, str]:
        """Both values, for people."""
        first, second = map(self._text, self.values)
        return first, second

    def _text(self, value: float) -> str:
        if self.unit == "Cohen's h":
            return share(value)
        style = self.column.style_of(self.quantity) if self.quantity else PLAIN
        return style.measure(
            BY_NAME[self.measure], value, abs(self.values[1] - self.values[0])
        )

    @property
    def effect_text(self) -> str:
        """The effect, for people."""
        if self.unit == "Cohen's h":
            return f"Cohen's h {self.effect:.1f}"
        if math.isinf(self.effect):
            return "one is constant" if self.unit == "ratio" else "both are constant"
        return f"{self.unit} {number(self.effect, 2)}"


def differences_of(
    columns: Sequence[Column],
    classes: Sequence[ClassCounts],
    pairs: Sequence[tuple[Split, Split]],
) -> list[Difference]:
    """Compare pairs of splits in each column: the largest differences first, info last.

    Args:
        columns: of both splits.
        classes: the counts of those that hold classes.
        pairs: splits of at least `FEWEST` records.
    """
    counted = {each.column.key: each.counts for each in classes}
    found = [
        each
        for pair in pairs
        for column in columns
        for each in _of_column(column, counted.get(column.key, {}), pair)
    ]
    return sorted(found, key=lambda each: (each.column.is_info, -each.drift))


def pairs_of(
    splits: Sequence[Split], names: Sequence[tuple[str, str]] | None = None
) -> list[tuple[Split, Split]]:
    """Return pairs of splits, as far as they can be compared.

    Args:
        splits: all of them.
        names: of each pair; None for the first split with each other one.
    """
    large = {split.name: split for split in splits if split.found.read >= FEWEST}
    if names is not None:
        known = [(a, b) for a, b in names if a in large and b in large]
        return [(large[first], large[second]) for first, second in known]
    every = [*large.values()]
    return [(every[0], other) for other in every[1:]]


def _of_column(
    column: Column,
    counts: Mapping[str, Mapping[str, int]],
    pair: tuple[Split, Split],
) -> Iterator[Difference]:
    """Yield the measures of a column; of frequencies the one with the largest effect."""
    missing = [(column.missing_in(split), split.found.read) for split in pair]
    if any(count for count, _ in missing):
        yield _shares(column, pair, "missing", missing)
    frequencies: list[Mapping[Any, int]] = [
        counts.get(split.name, {}) if counts else _texts(column, split)
        for split in pair
    ]
    totals = [sum(each.values()) for each in frequencies]
    if all(totals):
        shares = []
        for value in sorted({value for each in frequencies for value in each}):
            both = [each.get(value, 0) for each in frequencies]
            if max(both) >= FEWEST_OF_VALUE:
                parts = [*zip(both, totals, strict=True)]
                shown = value if isinstance(value, str) else value_name(value)
                shares.append(_shares(column, pair, "share", parts, category=shown))
        yield from sorted(shares, key=lambda each: -each.effect)[:1]
    for quantity, found in quantities_of(column, pair).items():
        if len(found) == len(pair) and not (counts and quantity in _COUNTED):
            yield from _numbers(column, pair, quantity, [*found.values()])


def _texts(column: Column, split: Split) -> Mapping[bytes, int]:
    """Return how often each text occurs; nothing if there are too many to count."""
    kind = column.kind_in(split)
    return (kind and kind.contents and kind.contents.distinct) or {}


def _shares(
    column: Column,
    pair: tuple[Split, Split],
    what: str,
    counts: Sequence[tuple[int, int]],
    quantity: Quantity | None = None,
    category: str | None = None,
) -> Difference:
    one, other = (2 * math.asin(math.sqrt(part / whole)) for part, whole in counts)
    first, second = (part / whole for part, whole in counts)
    h = abs(one - other)
    both = (first, second)
    return Difference(column, pair, what, quantity, category, both, "Cohen's h", h)


def _numbers(
    column: Column,
    pair: tuple[Split, Split],
    quantity: Quantity,
    found: Sequence[Numbers],
) -> Iterator[Difference]:
    """Yield the shares of NaN, and means and spreads unless both are the same constant."""
    if any(each.nan for each in found):
        counts = [(each.nan, each.count) for each in found]
        yield _shares(column, pair, "NaN", counts, quantity)
    one, other = (each.mean or 0.0 for each in found)
    first, second = (each.deviation or 0.0 for each in found)
    if one == other and not (first or second):
        return
    pooled, apart = math.hypot(first, second) / math.sqrt(2), abs(one - other)
    by = apart / pooled if pooled else math.inf
    both = (one, other)
    yield Difference(column, pair, "mean", quantity, None, both, "Cohen's d", by)
    least, most = sorted((first, second))
    factor = most / least if least else math.inf if most else 1.0
    name, both = "standard deviation", (first, second)
    yield Difference(column, pair, name, quantity, None, both, "ratio", factor)
