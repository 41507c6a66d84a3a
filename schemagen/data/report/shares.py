"""Shares of categories in each split: of classes, and of keys that are missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...display.blocks import Table
from ..formatting import listed, number, plural, share
from ..profile.classes import ClassCounts, unique
from ..profile.columns import Column, Split
from ..statistics.histograms import summed
from .charts import SERIES, Bar, Figure, bars, series

_MOST_BARS = 24


Counts = Mapping[str, Mapping[str, int]]
"""How often each category occurs, by split and category."""


def _figure(
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
        tables={what: _table(names, counts, totals, splits)},
        wide=len(names) * len(splits) > 40,
        **more,
    )


def _table(
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


def class_figure(classes: ClassCounts, splits: Sequence[Split]) -> Figure:
    """Draw the share of each class in each split."""
    column, whole = classes.column, summed(classes.counts.values())
    names = list(classes.classes)
    if len(names) > _MOST_BARS:
        names.sort(key=lambda name: -whole.get(name, 0))
    what = "Share of each class"
    if column.field and not classes.declared:
        what = "Share of each value"
    elif column.field and column.field.codec.decoded_as[1]:
        what = "Share of all labels"
    totals = {split: sum(counts.values()) for split, counts in classes.counts.items()}
    return _figure(
        f"{what} of {column.name}",
        names,
        classes.counts,
        totals,
        splits,
        notes=_balance(classes, whole),
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
    return _figure(what, names, counts, read, splits, notes=notes)
