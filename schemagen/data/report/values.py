"""Values and lengths under each key: histograms, and what they are in few words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...runtime.shared.times import Time
from ..formatting import listed, number, one_line, plural, share
from ..profile.columns import Column, Split, measures_of
from ..profile.words import extent, values_text
from ..statistics.histograms import merged_histogram, width_exponent
from ..statistics.numbers import Numbers, merged_numbers, quantile
from .charts import SERIES, Figure, Line, Plot, Table, histogram, series

_BINS = 32
_QUANTILES = {"Least": 0.0, "5 %": 0.05, "Median": 0.5, "95 %": 0.95, "Greatest": 1.0}

Bins = list[tuple[float, float, float]]
BySplit = Mapping[str, Numbers]


def column_figure(column: Column, splits: Sequence[Split]) -> Figure:
    """Draw what varies in a column, and describe it."""
    drawn = {
        what: found
        for what, found in measures_of(column, splits).items()
        if merged_numbers(list(found.values())).constant is None
    }
    plots = [
        (what.capitalize(), plot)
        for what, found in drawn.items()
        if (
            plot := numbers_plot(
                f"{what} of {column.name}",
                splits,
                found,
                column.time if what == "values" else None,
            )
        )
    ]
    return Figure(
        title=column.name,
        kind=column.type,
        plots=plots,
        facts=_facts(column),
        table=_table(column, splits, drawn) if drawn else None,
    )


def _facts(column: Column) -> list[tuple[str, str]]:
    facts = []
    if len(column.kinds) > 1:
        facts.append(("stored as", listed(column.kinds)))
    lengths = column.whole.lengths
    if column.field is None or lengths.constant != 1:
        facts.append((column.lengths, extent(lengths)))
    if text := values_text(column.whole, time=column.time):
        facts.append(("values", text))
    return facts


def numbers_plot(
    what: str, splits: Sequence[Split], found: BySplit, time: Time | None = None
) -> Plot | None:
    """Draw histograms of the numbers of each split; None if no split has any."""
    shown = [
        split for split in splits if series(split) < SERIES and split.name in found
    ]
    if not shown:
        return None
    every = [found[split.name] for split in shown]
    bins, logarithmic = common_bins(every)
    lines = [
        Line(series(split), [(low, high, n / numbers.count) for low, high, n in some])
        for split, numbers, some in zip(shown, every, bins, strict=True)
    ]
    label = f"Histogram of {what}, in {listed([split.label for split in shown])}"
    whole = not every[0].floats
    return histogram(lines, label, logarithmic=logarithmic, whole=whole, time=time)


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


def _table(
    column: Column, splits: Sequence[Split], measures: Mapping[str, BySplit]
) -> Table:
    rows = []
    for what, found in measures.items():
        for split in splits:
            if numbers := found.get(split.name):
                name = what if len(splits) == 1 else f"{what}, {split.label}"
                time = column.time if what == "values" else None
                shown = time.text if time else number
                spread = [_quantile(numbers, at, shown) for at in _QUANTILES.values()]
                mean = shown(numbers.mean or 0.0)
                rows.append((name, f"{numbers.count:,}", *spread, mean))
    return Table(
        f"What the values of {column.name} are like; percentiles between the least "
        "and the greatest are estimates where values are many",
        ("What", "Values", *_QUANTILES, "Mean"),
        rows,
        range(1, 8),
    )


def _quantile(numbers: Numbers, at: float, shown: Callable[[float], str]) -> str:
    ends = {0.0: numbers.minimum, 1.0: numbers.maximum}
    value = ends.get(at, quantile(numbers, at)) or 0
    return shown(value if numbers.floats else int(value))


def key_table(columns: Sequence[Column], splits: Sequence[Split]) -> Table:
    """Return a row for each key."""
    rows = []
    read = sum(split.found.read for split in splits)
    for column in columns:
        kind = column.whole
        steps = plural(kind.present, "step")
        rows.append(
            (
                column.name,
                one_line(column.key, 80) if column.name != column.key else "",
                column.type,
                steps if column.steps else share(kind.present, read),
                extent(kind.lengths),
                values_text(kind, time=column.time),
            )
        )
    return Table(
        "All keys: type, records that have them, numbers of values, and values",
        ("Name", "Key", "What", "Present", "Length", "Values"),
        rows,
        numeric=(3, 4),
    )
