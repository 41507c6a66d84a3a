"""Values and lengths under each key: histograms, and what they are in few words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...display.blocks import Table
from ...runtime.shared.times import UNITS, Time
from ..formatting import listed
from ..profile.columns import Column, Split, measures_of
from ..profile.facts import column_facts
from ..profile.profile import Profile
from ..profile.words import MEASURES, measure_text, measures_in
from ..statistics.histograms import merged_histogram, width_exponent
from ..statistics.numbers import Numbers, merged_numbers
from .charts import SERIES, Bins, Figure, Plot, histogram, series

_BINS = 32

BySplit = Mapping[str, Numbers]


def column_figure(profile: Profile, column: Column) -> Figure:
    """Draw what varies in a column, and describe it."""
    splits = profile.splits
    drawn = {
        what: found
        for what, found in measures_of(column, splits).items()
        if merged_numbers(list(found.values())).constant is None
    }
    return Figure(
        title=column.name,
        kind=column.type,
        plots=[*_plots(column, splits, drawn)],
        facts=[*_facts(profile, column)],
        tables={
            f"{what.capitalize()} of {column.name}; percentiles of many are estimates": (
                _table(found, splits, column.time_of(what))
            )
            for what, found in drawn.items()
        },
    )


def _facts(profile: Profile, column: Column) -> Iterator[tuple[str, str]]:
    texts = {fact.name: fact.text for fact in column_facts(profile, column)}
    if len(column.kinds) > 1:
        yield "stored as", listed(column.kinds)
    if column.field is None or column.whole.lengths.constant != 1:
        yield column.lengths, texts["length"]
    if texts["values"]:
        yield "values", texts["values"]


def _plots(
    column: Column, splits: Sequence[Split], measures: Mapping[str, BySplit]
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
            what.capitalize() + unit,
            histogram(
                lines,
                f"Histogram of {what} of {column.name}, in {labels}",
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


def _table(found: BySplit, splits: Sequence[Split], time: Time | None) -> Table:
    """Return a column for each split that has numbers."""
    own = {split.label: found[split.name] for split in splits if split.name in found}
    rows = [("Values", *(f"{each.count:,}" for each in own.values()))]
    measured = {label: measures_in(each) for label, each in own.items()}
    rows += [
        (
            name.capitalize(),
            *(measure_text(name, each[name], time) for each in measured.values()),
        )
        for name in MEASURES
    ]
    return Table(("Statistic", *own), rows, range(1, len(own) + 1))
