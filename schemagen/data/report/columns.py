"""Figures of columns: values, lengths, classes, and what is missing, in each split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from ...display.blocks import Table
from ...runtime.shared.times import UNITS
from ..formatting import listed, number, one_line, plural, quoted, share
from ..profile.classes import ClassCounts, unique, value_name
from ..profile.columns import (
    SIZES,
    VALUES,
    ColumnProfile,
    Quantity,
    SplitProfile,
    quantities_of,
)
from ..profile.facts import Fact, column_facts, number_facts
from ..profile.profile import Profile
from ..statistics.numbers import NumericStatistics, merged_numbers, summed
from .charts import SERIES, Bar, Figure, Plot, bars, distribution_plot, series
from .densities import Distribution, distribution_of
from .overlays import Overlays, mask_class_name

if TYPE_CHECKING:
    from ...spec.model import FieldSpec

Counts = Mapping[str, Mapping[str, int]]
"""How often each category occurs, by split and category."""


@dataclass(frozen=True)
class Described:
    """A column with its numbers, and with the facts about them.

    Attributes:
        column: the column.
        splits: the splits.
        classes: the counts of its classes; None if it has none.
    """

    column: ColumnProfile
    splits: Sequence[SplitProfile]
    classes: ClassCounts | None

    @cached_property
    def numbers(self) -> dict[Quantity, dict[str, NumericStatistics]]:
        """Its numbers by split."""
        return quantities_of(self.column, self.splits)

    @cached_property
    def facts(self) -> dict[str, dict[str, dict[str, Fact]]]:
        """What is stated of its numbers, by quantity, measure and split."""
        found: dict[str, dict[str, dict[str, Fact]]] = {}
        for fact in number_facts(self.column, self.splits):
            measures = found.setdefault(fact.of, {})
            measures.setdefault(fact.measure, {})[fact.split or ""] = fact
        return found

    @property
    def main(self) -> Quantity | None:
        """The quantity that describes it: its values, or the sizes of bytes."""
        return next((each for each in (VALUES, SIZES) if each in self.numbers), None)

    def shown(self, quantity: Quantity) -> list[SplitProfile]:
        """Return the splits that have a color and numbers."""
        own = self.numbers[quantity]
        return [
            each for each in self.splits if series(each) < SERIES and each.name in own
        ]

    def distribution(self, quantity: Quantity) -> Distribution:
        """Return the distribution of a quantity in these."""
        every = [self.numbers[quantity][each.name] for each in self.shown(quantity)]
        if not every:
            return Distribution()
        return distribution_of(every, few=self.column.time_of(quantity) is None)


def column_figure(profile: Profile, found: Described) -> Figure:
    """Draw what varies in a column, and describe it."""
    column = found.column
    drawn = [
        quantity
        for quantity, own in found.numbers.items()
        if merged_numbers([*own.values()]).constant is None
    ]
    return Figure(
        title=column.name,
        kind=column.type if profile.compared is None else "",
        plots=[plot for each in drawn for plot in _plots(found, each)],
        facts=[*_facts(profile, column)],
        tables=dict(
            [*_value_tables(found), *(_statistics(found, each) for each in drawn)]
        ),
    )


def _facts(profile: Profile, column: ColumnProfile) -> Iterator[tuple[str, str]]:
    texts = {fact.measure: fact.text for fact in column_facts(profile, column)}
    if profile.compared is not None:  # these are of both datasets together
        return
    if len(column.kinds) > 1:
        yield "stored as", listed(column.kinds)
    if column.field is None or column.whole.lengths.constant != 1:
        yield column.lengths.title, texts["length"]
    if texts["values"]:
        yield "values", texts["values"]


def _plots(found: Described, quantity: Quantity) -> Iterator[tuple[str, Plot]]:
    """Yield the distribution of a quantity, if it can be drawn."""
    column, splits = found.column, found.shown(quantity)
    distribution, time = found.distribution(quantity), column.time_of(quantity)
    if not distribution.drawn:
        return
    what = "density"
    if distribution.values:
        what = "share of each"
    elif distribution.logarithmic:
        what = "density per factor of 10"
    elif time and not time.duration:
        what = "density per day"
    unit = f" in {UNITS[time.unit][0]}" if time and time.duration else ""
    labels = listed([split.label for split in splits])
    plot = distribution_plot(
        distribution,
        [*map(series, splits)],
        f"Distribution of {quantity.title} of {column.name}, in {labels}",
        whole=not any(each.floats for each in found.numbers[quantity].values()),
        time=time,
    )
    yield f"{quantity.title.capitalize()}{unit}: {what}", plot


def _statistics(found: Described, quantity: Quantity) -> tuple[str, Table]:
    """Return all measures of a quantity, with a column for each split that has numbers."""
    own = found.numbers[quantity]
    splits = [split for split in found.splits if split.name in own]
    rows = [("Values", *(f"{own[split.name].count:,}" for split in splits))]
    for measure, by_split in found.facts[quantity.name].items():
        cells = (text_of(by_split.get(split.name)) for split in splits)
        rows.append((measure[0].upper() + measure[1:], *cells))
    caption = f"{quantity.title.capitalize()} of {found.column.name}; percentiles of many are estimates"
    headings = ("Statistic", *(split.label for split in splits))
    return caption, Table(headings, rows, range(1, len(headings)))


def text_of(fact: Fact | None) -> str:
    """Return a measure for people; a dash without any."""
    return fact.text if fact else "\N{EN DASH}"


_MOST_FREQUENT = 10
_EXTREMES = 5
"""So many of the least, and of the greatest values are listed."""


def _value_tables(found: Described) -> Iterator[tuple[str, Table]]:
    """Yield the most frequent and the extreme values, if all are counted."""
    column, counts = found.column, {}
    for split in found.splits:
        kind = column.kind_in(split)
        held = kind and (kind.numbers or kind.contents)
        if held and held.distinct is None:
            return
        counts[split.name] = held.distinct or {} if held else {}
    total = Counter(summed(counts.values()))
    texts = any(isinstance(value, bytes) for value in total)
    name: Callable[[Any], str] = value_name if texts else column.style.text
    if max(total.values(), default=0) > 1:
        order = sorted(total, key=lambda value: (-total[value], value))
        yield (
            f"Most frequent values of {column.name}",
            _value_table(order[:_MOST_FREQUENT], counts, name, found.splits),
        )
    if len(total) > _MOST_FREQUENT:
        order = (
            sorted(total, key=lambda value: (len(value), value))
            if texts
            else sorted(total)
        )
        ends = "Shortest and longest" if texts else "Lowest and highest"
        some = [*order[:_EXTREMES], *order[-_EXTREMES:]]
        yield (
            f"{ends} values of {column.name}",
            _value_table(some, counts, name, found.splits),
        )


def _value_table(
    values: Sequence[Any],
    counts: Mapping[str, Mapping[Any, int]],
    name: Callable[[Any], str],
    splits: Sequence[SplitProfile],
) -> Table:
    names = unique(map(name, values))
    some = {
        split: {
            label: own.get(value, 0) for label, value in zip(names, values, strict=True)
        }
        for split, own in counts.items()
    }
    totals = {split: sum(own.values()) for split, own in counts.items()}
    return _share_table(names, some, totals, splits)


_MOST_BARS = 12


def _share_figure(
    what: str,
    names: Sequence[str],
    counts: Counts,
    totals: Mapping[str, int],
    splits: Sequence[SplitProfile],
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
        **more,
    )


def _share_table(
    names: Sequence[str],
    counts: Counts,
    totals: Mapping[str, int],
    splits: Sequence[SplitProfile],
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


def class_figure(
    classes: ClassCounts, splits: Sequence[SplitProfile], *, apart: bool = False
) -> Figure:
    """Draw the share of each class in each split.

    Args:
        classes: the classes.
        splits: the splits.
        apart: whether these are of two datasets, which are not counted together.
    """
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
        splits,
        notes=[*_notes(classes, splits if apart else [])],
        title=column.name,
        kind=column.type if column.field else f"{column.type}, looks like a class",
    )


def _notes(classes: ClassCounts, splits: Sequence[SplitProfile]) -> Iterator[str]:
    """Yield what is remarkable about the classes in each of some splits, or in all."""
    if not splits:
        yield from _balance(classes, summed(classes.counts.values()))
    for split in splits:
        for note in _balance(classes, classes.counts.get(split.name, {})):
            yield f"{split.label}: {note}"
    if unknown := classes.classes[classes.known or len(classes.classes) :]:
        yield f"Not in the schema: {listed(unknown)}."


def _balance(classes: ClassCounts, counts: Mapping[str, int]) -> Iterator[str]:
    is_text = not classes.declared and classes.column.whole.contents is not None
    shown: Callable[[str], str] = partial(quoted, limit=60) if is_text else str
    known = classes.classes[: classes.known]
    never = [name for name in known if not counts.get(name)]
    there = sorted((counts[name], name) for name in known if counts.get(name))
    if never:
        yield f"Not in the data: {listed([*map(shown, never)])}."
    if len(there) > 1:
        (least, rare), (most, _) = there[0], there[-1]
        ratio = f"Imbalanced {number(most / least, 2)}:1"
        how = ratio if most >= 1.5 * least else "Balanced"
        one = "label" if classes.declared else "value"
        if classes.column.is_single:
            one = "record"
        yield f"{how}; {shown(rare)} has {plural(least, one)}."


def pixel_figure(
    mask: FieldSpec, overlays: Overlays, splits: Sequence[SplitProfile]
) -> Figure | None:
    """Draw the share of each class among the pixels of the masks that were drawn.

    It is None without any, and if any id is allowed.
    """
    counted = {each.name: overlays.counted[mask.key, each.name] for each in splits}
    some = [each for each in splits if counted[each.name]]
    if not some or mask.kind.count is None:
        return None
    pixels = {each.name: overlays.pixels[mask.key, each.name] for each in some}
    ids = [*dict.fromkeys((*range(mask.kind.count), *sorted(summed(pixels.values()))))]
    labels = unique(mask_class_name(mask, id_) for id_ in ids)
    names = dict(zip(ids, labels, strict=True))
    counts = {
        split: {names[id_]: count for id_, count in own.items()}
        for split, own in pixels.items()
    }
    never = [
        name
        for name in names.values()
        if not any(name in own for own in counts.values())
    ]
    name = one_line(mask.label, 80)
    drawn = plural(sum(counted.values()), "sample")
    return _share_figure(
        f"Share of the pixels of {name}, in the {drawn} drawn",
        [*names.values()],
        counts,
        {split: sum(own.values()) for split, own in counts.items()},
        some,
        notes=[f"Not in the {drawn} drawn: {listed(never)}."] if never else [],
        title=name,
        kind="classes of pixels",
    )


def missing_figure(
    columns: Sequence[ColumnProfile], splits: Sequence[SplitProfile]
) -> Figure:
    """Draw the share of records of each split that lack a key."""

    def missing(column: ColumnProfile) -> int:
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
