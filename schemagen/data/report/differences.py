"""Differences between splits, and the tests that tell them from chance."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..formatting import listed, number, percent, plural, share
from ..statistics.numbers import Numbers
from .classes import ClassCounts
from .columns import Column, Split

FEWEST = 30
"""Of fewer records nothing is concluded but which classes there are."""

CHANCE = 0.001
"""What chance gives in fewer cases than this is marked."""

ERRORS = 3.3
"""Chance exceeds so many standard errors in CHANCE of cases, on either side."""

EXPECTED = -math.log(CHANCE)
"""Chance leaves something out with the probability exp(-expected)."""

_ERRORS_ABOVE = 3.1  # likewise, on one side
_LEAST_EXPECTED = 5.0

_DISTANCE = 0.1
_MISSING = 0.02
_MEAN = 0.2
_LONGEST = 8


@dataclass(frozen=True)
class Difference:
    """A measure of a column that differs between a split and the reference.

    `text` is a sentence; `size` is a number with its unit, marked from `threshold` on.
    """

    name: str
    measure: str
    split: str
    text: str
    size: str
    threshold: str
    marked: bool


def differences_of(
    splits: Sequence[Split], columns: Sequence[Column], classes: Sequence[ClassCounts]
) -> tuple[Difference, ...]:
    """Compare every split with the first one; marked differences come first."""
    found: list[Difference] = []
    by_key = {(each.column.key, each.column.steps): each for each in classes}
    for split in splits[1:]:
        if not split.found.read or not splits[0].found.read:
            continue
        for column in columns:
            pair = _Pair(splits[0], split, column)
            found += pair.missing()
            counts = by_key.get((column.key, column.steps))
            found += pair.class_shares(counts) if counts else pair.numbers()
    return tuple(sorted(found, key=lambda each: not each.marked))


@dataclass(frozen=True)
class _Pair:
    """A column of two splits."""

    reference: Split
    split: Split
    column: Column

    def missing(self) -> Iterator[Difference]:
        """Compare how many records lack the column."""
        splits = self.reference, self.split
        of, among = (split.found.read for split in splits)
        has, here = (self.column.present.get(split.name, 0) for split in splits)
        before, now = (self.column.missing_in(split) for split in splits)
        if before == now == 0:
            return
        if (has == 0) != (here == 0):
            expected = has / of * among if has else here / among * of
            there = self.reference if has else self.split
            yield self._difference(
                "key in one split only",
                f"Only {there.label} has it, in "
                f"{share(max(has, here), there.found.read)} of its records.",
                percent(abs(before - now)),
                f"{math.ceil(EXPECTED)} records expected",
                expected >= EXPECTED,
            )
            return
        pooled = (of - has + among - here) / (of + among)
        error = math.sqrt(pooled * (1 - pooled) * (1 / of + 1 / among))
        threshold = max(_MISSING, ERRORS * error)
        gap = now - before
        yield self._difference(
            "missing",
            f"Missing in {percent(now)} of {self.split.label}, in {percent(before)} of "
            f"{self.reference.label}.",
            f"{_signed(100 * gap, 1)} points",
            f"{number(round(100 * threshold, 1))} points",
            abs(gap) >= threshold and min(of, among) >= FEWEST,
        )

    def class_shares(self, classes: ClassCounts) -> Iterator[Difference]:
        """Compare the frequencies of classes."""
        before, now = classes.of(self.reference), classes.of(self.split)
        names = sorted({*before, *now})
        rows = [[each.get(name, 0) for name in names] for each in (before, now)]
        counts = np.array(rows, np.float64)
        of, among = counts.sum(axis=1)
        if not of or not among:
            return
        here, there = self.split.label, self.reference.label
        gaps = share_gaps(counts)
        widest = names[int(np.argmax(gaps))]
        distance = float(gaps.sum() / 2)
        far, sure = distance >= _DISTANCE, shares_differ(counts)
        yield self._difference(
            "class shares",
            f"Most in {widest}: {share(now.get(widest, 0), among)} of {here}, "
            f"{share(before.get(widest, 0), of)} of {there}.",
            percent(distance),
            "chance may explain it" if far and not sure else percent(_DISTANCE),
            far and sure and min(of, among) >= FEWEST,
        )
        measure = "classes in one split only"
        if new := [name for name in names if now.get(name) and not before.get(name)]:
            yield self._difference(
                measure,
                f"{there} has no example of {listed(new, _LONGEST)}.",
                f"{sum(now[name] for name in new):,} of {int(among):,}",
                "1 value",
                True,
            )
        enough = EXPECTED + math.log(len(before))
        expected = {name: count / of * among for name, count in before.items()}
        if lost := [
            n for n in names if not now.get(n) and expected.get(n, 0) >= enough
        ]:
            yield self._difference(
                measure,
                f"No example of {listed(lost, _LONGEST)}, which {there} has.",
                plural(len(lost), "class", "classes"),
                f"{math.ceil(enough)} values expected",
                True,
            )

    def numbers(self) -> Iterator[Difference]:
        """Compare values, lengths and sizes."""
        before = self.column.kind_in(self.reference)
        now = self.column.kind_in(self.split)
        if before is None or now is None:
            return
        present = before.present, now.present
        if before.numbers is not None and now.numbers is not None:
            yield from self._compared("", before.numbers, now.numbers, present)
        yield from self._compared("lengths", before.lengths, now.lengths, present)
        if before.bytes is not None and now.bytes is not None:
            measures = {"heights": "heights", "widths": "widths"}
            if not before.bytes.images:
                measures["sizes in bytes"] = "sizes"
            for what, name in measures.items():
                one, other = getattr(before.bytes, name), getattr(now.bytes, name)
                yield from self._compared(what, one, other, (one.count, other.count))

    def _compared(
        self, what: str, before: Numbers, now: Numbers, present: tuple[int, int]
    ) -> Iterator[Difference]:
        """Compare means and ranges.

        Values of one record are alike, so a record counts as one value.
        """
        if before.mean is None or now.mean is None:
            return
        of, among = min(present[0], before.finite), min(present[1], now.finite)
        gap = now.mean - before.mean
        own, other = deviation(before), deviation(now)
        if width := own or other or abs(gap):
            error = math.sqrt(1 / of + (other / width) ** 2 / among)
            threshold = max(_MEAN, ERRORS * error)
            gap /= width
            yield self._difference(
                "mean",
                f"{number(now.mean)} on average in {self.split.label}, "
                f"{number(before.mean)} in {self.reference.label}.",
                f"{_signed(gap, 2)} SD",
                f"{number(round(threshold, 2))} SD",
                abs(gap) >= threshold and min(of, among) >= FEWEST,
                what,
            )
        beyond = values_beyond(now, before.minimum or 0, before.maximum or 0)
        if any(beyond):
            least = exceedances(of, among)
            records = math.floor(max(beyond) * among / now.finite)
            yield self._difference(
                "range",
                f"{_range(now)} in {self.split.label}, {_range(before)} in "
                f"{self.reference.label}.",
                f"{max(beyond):,} of {now.finite:,}",
                plural(least, "value"),
                records >= least and min(of, among) >= FEWEST,
                what,
            )

    def _difference(
        self,
        measure: str,
        text: str,
        size: str,
        threshold: str,
        marked: bool,
        what: str = "",
    ) -> Difference:
        field = self.column.field
        if measure in ("mean", "range") and field is not None and field.role == "info":
            threshold, marked = "no model sees it", False
        name = f"{self.column.name} ({what})" if what else self.column.name
        label = self.split.label
        return Difference(name, measure, label, text, size, threshold, marked)


def _signed(value: float, digits: int) -> str:
    return f"{'+' if value >= 0 else '−'}{abs(value):.{digits}f}"


def _range(found: Numbers) -> str:
    return f"{number(found.minimum or 0)} to {number(found.maximum or 0)}"


def share_gaps(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how far the shares of each class lie apart, of counts [2, classes]."""
    before, now = counts / counts.sum(axis=1, keepdims=True)
    gaps: NDArray[np.float64] = np.abs(now - before)
    return gaps


def shares_differ(counts: NDArray[np.float64]) -> bool:
    """Tell counts [2, classes] of different shares apart: a chi-square test.

    Classes of which either sample has less than five to expect are taken together. The
    quantile of the distribution is Wilson and Hilferty's approximation.
    """
    totals = counts.sum(axis=1)
    part = totals.min() / totals.sum()
    rare = counts.sum(axis=0) * part < _LEAST_EXPECTED
    rest = counts[:, rare].sum(axis=1, keepdims=True)
    counts = np.hstack([counts[:, ~rare], rest])
    counts = counts[:, counts.sum(axis=0) * part >= _LEAST_EXPECTED]
    free = counts.shape[1] - 1
    if free < 1:
        return False
    gaps = counts[0] * totals[1] - counts[1] * totals[0]
    statistic = (gaps**2 / counts.sum(axis=0)).sum() / totals.prod()
    spread = 2 / (9 * free)
    return bool(statistic >= free * (1 - spread + _ERRORS_ABOVE * spread**0.5) ** 3)


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
        pairs = [((low + high) / 2, n) for low, high, n in found.histogram.bins()]
    squares = sum(count * (value - mean) ** 2 for value, count in pairs)
    return math.sqrt(squares / found.finite)


def values_beyond(found: Numbers, low: float, high: float) -> tuple[int, int]:
    """Return how many values are certainly below and above a range.

    Those that share a bin with its ends are left out, but for the least or greatest.
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


def cautions_of(splits: Sequence[Split], compared: int) -> list[str]:
    """Return what cannot be concluded from so many comparisons."""
    cautions = []
    if few := [split for split in splits if split.found.read < FEWEST]:
        counts = [f"{split.label} ({split.found.read:,})" for split in few]
        cautions.append(
            f"Fewer than {FEWEST} records: {listed(counts)}. Nothing is concluded from "
            "so few but which classes they have."
        )
    small = min((split.found.read for split in splits), default=0)
    if FEWEST <= small < 1000:
        least = round(100 / math.sqrt(small))
        cautions.append(
            f"With {small:,} records in the smallest split a share is known to within "
            f"{least} points at best: smaller differences stay unseen."
        )
    if compared * CHANCE >= 0.5:
        by_chance = max(1, round(compared * CHANCE))
        cautions.append(
            f"Of {compared:,} comparisons chance marks about {by_chance:,}."
        )
    cautions.append(
        "Keys are compared one by one. How they go together is not, nor what pictures "
        "show, nor whether records of one split are in another, too."
    )
    return cautions
