"""Figures of columns: values, lengths, classes, and what is missing, in each split."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...display.blocks import Table
from ...runtime.shared.times import UNITS
from ..formatting import listed, number, plural, share
from ..profile.classes import ClassCounts, unique
from ..profile.columns import Column, Quantity, Split, quantities_of
from ..profile.facts import column_facts
from ..profile.profile import Profile
from ..statistics.measures import MEASURES, Style, measure_texts
from ..statistics.numbers import (
    Numbers,
    merged_histogram,
    merged_numbers,
    summed,
    width_exponent,
)
from .charts import SERIES, Bar, Bins, Figure, Plot, bars, histogram, series

_BINS = 32

BySplit = Mapping[str, Numbers]


def column_figure(profile: Profile, column: Column) -> Figure:
    """Draw what varies in a column, and describe it, unless it is of two datasets."""
    splits, one = profile.splits, profile.compared is None
    drawn = {
        what: found
        for what, found in quantities_of(column, splits).items()
        if merged_numbers(list(found.values())).constant is None
    }
    return Figure(
        title=column.name,
        kind=column.type if one else "",
        plots=[*_plots(column, splits, drawn)],
        facts=[*_facts(profile, column)] if one else [],
        tables={
            f"{what.title.capitalize()} of {column.name}; percentiles of many are estimates": (
                _table(found, splits, column.style_of(what))
            )
            for what, found in drawn.items()
        },
    )


def _facts(profile: Profile, column: Column) -> Iterator[tuple[str, str]]:
    texts = {fact.measure: fact.text for fact in column_facts(profile, column)}
    if len(column.kinds) > 1:
        yield "stored as", listed(column.kinds)
    if column.field is None or column.whole.lengths.constant != 1:
        yield column.lengths.title, texts["length"]
    if texts["values"]:
        yield "values", texts["values"]


def _plots(
    column: Column, splits: Sequence[Split], measures: Mapping[Quantity, BySplit]
) -> Iterator[tuple[str, Plot]]:
    """Yield histograms of the numbers of each split, where a split has any."""
    for what, found in measures.items():
        shown = [
            split for split in splits if series(split) < SERIES and split.name in found
        ]
        if not shown:
            continue
        every = [found[split.name] for split in shown]
        bins, logarithmic = common_bins(every)
        lines = {
            series(split): [(low, high, n / own.count) for low, high, n in some]
            for split, own, some in zip(shown, every, bins, strict=True)
        }
        labels = listed([split.label for split in shown])
        time = column.time_of(what)
        unit = f" in {UNITS[time.unit][0]}" if time and time.duration else ""
        yield (
            what.title.capitalize() + unit,
            histogram(
                lines,
                f"Histogram of {what.title} of {column.name}, in {labels}",
                logarithmic=logarithmic,
                whole=not every[0].floats,
                time=time,
            ),
        )


def common_bins(every: Sequence[Numbers]) -> tuple[list[Bins], bool]:
    """Return the same bins for all, and True if they are logarithmic."""
    low = min(each.minimum for each in every if each.minimum is not None)
    high = max(each.maximum for each in every if each.maximum is not None)
    exponent = max(
        width_exponent(low, high), *(each.histogram.exponent for each in every)
    )
    while True:
        merged = [merged_histogram([each.histogram], exponent) for each in every]
        filled = [index for each in merged for index in each.counts]
        if max(filled) - min(filled) < _BINS:
            break
        exponent += 1
    crowded = any(
        max(one.counts.values()) > 0.9 * each.finite
        for one, each in zip(merged, every, strict=True)
    )
    # A logarithmic scale has no place for zero.
    if crowded and low > 0 and high > 100 * low:
        return [list(each.magnitudes.bins()) for each in every], True
    # Whole numbers with a bin each are in its middle.
    middle = 0.5 if exponent == 0 and not every[0].floats else 0.0
    return [
        [(one.low - middle, one.high - middle, one.values) for one in each.bins()]
        for each in merged
    ], False


def _table(found: BySplit, splits: Sequence[Split], style: Style) -> Table:
    """Return a column for each split that has numbers."""
    own = {split.label: found[split.name] for split in splits if split.name in found}
    rows = [("Values", *(f"{each.count:,}" for each in own.values()))]
    texts = [measure_texts(each, style) for each in own.values()]
    rows += [
        (measure.name.capitalize(), *(each.get(measure.name, "-") for each in texts))
        for measure in MEASURES
    ]
    return Table(("Statistic", *own), rows, range(1, len(own) + 1))


_MOST_BARS = 24


Counts = Mapping[str, Mapping[str, int]]
"""How often each category occurs, by split and category."""


def _share_figure(
    what: str,
    names: Sequence[str],
    counts: Counts,
    totals: Mapping[str, int],
    splits: Sequence[Split],
    **more: Any,
) -> Figure:
    """Draw the shares of categories in splits, and list them in a table.

    Args:
        what: what the shares are of.
        names: the categories, of which the first ones are drawn.
        counts: of each category.
        totals: what the counts are shares of, by split.
        splits: the splits.
        more: further attributes of the figure.
    """
    shown = [each for each in splits if series(each) < SERIES and totals.get(each.name)]
    drawn = []
    for name in names[:_MOST_BARS]:
        for split in shown:
            count, total = counts[split.name].get(name, 0), totals[split.name]
            hint = f"{name}: {count:,} in {split.label}, {share(count, total)}"
            drawn.append(Bar(name, series(split), count / total, hint))
    label = f"{what}, in {listed([split.label for split in shown])}"
    if len(names) > _MOST_BARS:
        left_out = f"{len(names) - _MOST_BARS:,} more are only in the table."
        more["notes"] = [*more["notes"], left_out]
    return Figure(
        plots=[(what, bars(drawn, len(shown), label))] if drawn else [],
        tables={what: _share_table(names, counts, totals, splits)},
        wide=len(names) * len(splits) > 40,
        **more,
    )


def _share_table(
    names: Sequence[str],
    counts: Counts,
    totals: Mapping[str, int],
    splits: Sequence[Split],
) -> Table:
    """Return the count and the share of each category in each split."""
    titles = ["Name"]
    rows = [[name] for name in names]
    for split in splits:
        prefix = f"{split.label}: " if len(splits) > 1 else ""
        titles += [f"{prefix}count", f"{prefix}share"]
        for row in rows:
            count = counts.get(split.name, {}).get(row[0], 0)
            row += [f"{count:,}", share(count, totals.get(split.name, 0))]
    return Table(titles, rows, range(1, len(titles)))


def class_figure(profile: Profile, classes: ClassCounts) -> Figure:
    """Draw the share of each class in each split."""
    column, whole = classes.column, summed(classes.counts.values())
    names = list(classes.classes)
    if len(names) > _MOST_BARS:
        names.sort(key=lambda name: -whole.get(name, 0))
    what = "Share of each class"
    if column.field and not classes.declared:
        what = "Share of each value"
    elif column.field and column.field.codec.delivered.decoded[1]:
        what = "Share of all labels"
    totals = {split: sum(counts.values()) for split, counts in classes.counts.items()}
    return _share_figure(
        f"{what} of {column.name}",
        names,
        classes.counts,
        totals,
        profile.splits,
        notes=_balance(classes, whole) if profile.compared is None else [],
        title=column.name,
        kind=column.type if column.field else f"{column.type}, looks like a class",
    )


def _balance(classes: ClassCounts, whole: Mapping[str, int]) -> list[str]:
    notes = []
    known = classes.classes[: classes.known]
    never = [name for name in known if not whole.get(name)]
    there = sorted((whole[name], name) for name in known if whole.get(name))
    if never:
        notes.append(f"Never there: {listed(never)}.")
    if len(there) > 1:
        (least, rare), (most, _) = there[0], there[-1]
        how = (
            f"Imbalanced {number(most / least, 2)}:1"
            if most >= 1.5 * least
            else "Balanced"
        )
        notes.append(f"{how}; {rare} has {plural(least, 'record')}.")
    if unknown := classes.classes[len(known) :]:
        notes.append(f"Not in the schema: {listed(unknown)}.")
    return notes


def missing_figure(columns: Sequence[Column], splits: Sequence[Split]) -> Figure:
    """Draw the share of records of each split that lack a key."""

    def missing(column: Column) -> int:
        return sum(map(column.missing_in, splits))

    lacking = sorted(filter(missing, columns), key=missing, reverse=True)
    complete = len(columns) - len(lacking)
    notes = []
    if not lacking:
        every = "the one key is" if complete == 1 else f"all {complete:,} keys are"
        return Figure(notes=[f"No missing values: {every} in every record."])
    if complete:
        others = plural(complete, "other key is", "other keys are")
        notes.append(f"{others} in every record.")
    names = unique(column.name for column in lacking)
    counts = {
        split.name: {
            name: column.missing_in(split)
            for name, column in zip(names, lacking, strict=True)
        }
        for split in splits
    }
    read = {split.name: split.found.read for split in splits}
    what = "Records in which a key is missing"
    return _share_figure(what, names, counts, read, splits, notes=notes)
