"""Shares of categories in each split: of classes, and of keys that are missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..formatting import listed, number, plural, share
from ..profile.classes import ClassCounts, unique
from ..profile.columns import Column, Split
from ..statistics.histograms import summed
from .charts import SERIES, Bar, Figure, Plot, Table, bars, series

_MOST_BARS = 24


@dataclass(frozen=True)
class Shares:
    """How often each of some categories occurs in each split.

    Attributes:
        what: what the shares are of.
        names: the categories, of which the first ones are drawn.
        counts: of each category, by split.
        totals: what the counts are shares of, by split.
    """

    what: str
    names: Sequence[str]
    counts: Mapping[str, Mapping[str, int]]
    totals: Mapping[str, int]

    def plots(self, splits: Sequence[Split]) -> list[tuple[str, Plot]]:
        """Return the plot, with its caption; none if there is nothing to draw."""
        shown = [
            each
            for each in splits
            if series(each) < SERIES and self.totals.get(each.name)
        ]
        drawn = []
        for name in self.names[:_MOST_BARS]:
            for split in shown:
                count = self.counts[split.name].get(name, 0)
                total = self.totals[split.name]
                hint = f"{name}: {count:,} in {split.label}, {share(count, total)}"
                drawn.append(Bar(name, series(split), count / total, hint))
        label = f"{self.what}, in {listed([split.label for split in shown])}"
        return [(self.what, bars(drawn, len(shown), label))] if drawn else []

    def figure(
        self, splits: Sequence[Split], notes: list[str], title: str = "", kind: str = ""
    ) -> Figure:
        """Return the plot and the table, with notes."""
        if len(self.names) > _MOST_BARS:
            more = len(self.names) - _MOST_BARS
            notes = [*notes, f"{more:,} more are only in the table."]
        return Figure(
            title=title,
            kind=kind,
            plots=self.plots(splits),
            notes=notes,
            table=self.table(splits),
            wide=len(self.names) * len(splits) > 40,
        )

    def table(self, splits: Sequence[Split]) -> Table:
        """Return the count and the share of each category in each split."""
        titles = ["Name"]
        rows = [[name] for name in self.names]
        for split in splits:
            prefix = f"{split.label}: " if len(splits) > 1 else ""
            titles += [f"{prefix}count", f"{prefix}share"]
            counts = self.counts.get(split.name, {})
            for row in rows:
                count = counts.get(row[0], 0)
                row += [f"{count:,}", share(count, self.totals.get(split.name, 0))]
        return Table(self.what, titles, rows, range(1, len(titles)))


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
    shares = Shares(f"{what} of {column.name}", names, classes.counts, totals)
    about = column.type if column.field else f"{column.type}, looks like a class"
    return shares.figure(splits, _balance(classes, whole), column.name, about)


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
    shares = Shares("Records in which a key is missing", names, counts, read)
    return shares.figure(splits, notes)
