"""Values and lengths under each key: histograms, facts, and which are missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..formatting import decoded, listed, number, one_line, percent, plural, share, size
from ..statistics.histograms import merged_histogram, summed, width_exponent
from ..statistics.model import KindStatistics
from ..statistics.numbers import Numbers, merged_numbers, quantile
from .charts import Bar, Figure, Line, Plot, Table, bars, histogram, unique
from .columns import Column, Split

_BINS = 32
_MOST_TEXTS = 8
_MOST_MISSING = 24

# The most frequent texts are drawn if they are so large a part of all.
_WORTH = 0.25
_QUANTILES = {"Least": 0.0, "5 %": 0.05, "Median": 0.5, "95 %": 0.95, "Greatest": 1.0}

Bins = list[tuple[float, float, float]]
BySplit = Mapping[str, Numbers]


def column_figure(column: Column, splits: Sequence[Split]) -> Figure | None:
    """Draw what is known of a column; None if that is nothing."""
    plots: list[tuple[str, Plot]] = []
    facts: list[tuple[str, str]] = []
    drawn: dict[str, BySplit] = {}
    for what, found in _measures(column, splits).items():
        constant = merged_numbers(list(found.values())).constant
        if constant is not None:
            facts += _constant_fact(column, what, constant)
        elif plot := numbers_plot(f"{what} of {column.name}", splits, found):
            plots.append((what.capitalize(), plot))
            drawn[what] = found
    if texts := _texts(column, splits):
        plots.append(("Most frequent", texts))
    facts += _facts(column)
    if not plots and not facts:
        return None
    return Figure(
        title=column.name,
        kind=column.type,
        plots=plots,
        facts=facts,
        table=_table(column, splits, drawn) if drawn else None,
    )


def _measures(column: Column, splits: Sequence[Split]) -> dict[str, dict[str, Numbers]]:
    """Return values, lengths and sizes by split, where any is finite."""
    per = "values in a step" if column.steps else "values in a record"
    measures: dict[str, dict[str, Numbers]] = {}
    for split in splits:
        kind = column.kind_in(split)
        if kind is None:
            continue
        if kind.bytes is None:
            found = {"values": kind.numbers or Numbers(), per: kind.lengths}
        else:
            found = {
                per: kind.lengths,
                "sizes in bytes": kind.bytes.sizes,
                "heights in pixels": kind.bytes.heights,
                "widths in pixels": kind.bytes.widths,
            }
        for what, numbers in found.items():
            by_split = measures.setdefault(what, {})
            if numbers.finite:
                by_split[split.name] = numbers
    return measures


def _constant_fact(
    column: Column, what: str, constant: int | float
) -> list[tuple[str, str]]:
    value = number(constant)
    if what.startswith("values in"):
        single = constant == 1 and column.field is not None
        return [] if single else [(what.replace(" a ", " each "), value)]
    if what == "sizes in bytes":
        return [("each", size(constant))]
    if what.endswith("in pixels"):
        return [("every " + what.split("s in")[0], f"{value} pixels")]
    return [("always", value)]


def numbers_plot(what: str, splits: Sequence[Split], found: BySplit) -> Plot | None:
    """Draw histograms of the numbers of each split; None if no split has any."""
    shown = [split for split in splits if split.drawn and split.name in found]
    if not shown:
        return None
    every = [found[split.name] for split in shown]
    bins, logarithmic = common_bins(every)
    lines = [
        Line(split.series, [(low, high, n / numbers.count) for low, high, n in some])
        for split, numbers, some in zip(shown, every, bins, strict=True)
    ]
    label = f"Histogram of {what}, in {listed([split.label for split in shown])}"
    whole = not every[0].floats
    return histogram(lines, label, logarithmic=logarithmic, whole=whole)


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
    # Whole numbers of a bin each stand in the middle of it.
    middle = 0.5 if exponent == 0 and not every[0].floats else 0.0
    return [
        [(one.low - middle, one.high - middle, one.values) for one in each.bins()]
        for each in merged
    ], False


def _texts(column: Column, splits: Sequence[Split]) -> Plot | None:
    """Draw the most frequent texts, where some come again."""
    found: list[tuple[Split, Mapping[bytes, int]]] = []
    for split in splits:
        kind = column.kind_in(split) if split.drawn else None
        if kind is not None and kind.bytes is not None:
            if kind.bytes.distinct is None:
                return None
            found.append((split, kind.bytes.distinct))
    counts = summed(distinct for _, distinct in found)
    top = sorted(counts, key=lambda value: (-counts[value], value))[:_MOST_TEXTS]
    some = sum(counts[value] for value in top)
    if not top or counts[top[0]] < 2 or some < _WORTH * sum(counts.values()):
        return None
    texts = [decoded(value) for value in top]
    if None in texts:
        return None
    drawn = []
    names = unique(one_line(text or "", 40) or "empty" for text in texts)
    for value, name in zip(top, names, strict=True):
        for split, distinct in found:
            count, whole = distinct.get(value, 0), sum(distinct.values())
            hint = f"{name}: {count:,} in {split.label}, {share(count, whole)}"
            drawn.append(Bar(name, split.series, count / max(1, whole), hint))
    return bars(drawn, len(found), f"Most frequent values of {column.name}")


def _facts(column: Column) -> list[tuple[str, str]]:
    facts = []
    if len(column.kinds) > 1:
        facts.append(("stored as", listed(column.kinds)))
    if numbers := column.whole.numbers:
        odd = {"NaN": numbers.nan, "infinite": sum(numbers.infinite)}
        if numbers.zeros >= numbers.count / 10:
            odd = {"zeros": numbers.zeros, **odd}
        facts += [(name, share(n, numbers.count)) for name, n in odd.items() if n]
    if held := column.whole.bytes:
        formats = sorted(held.formats, key=lambda name: -held.formats[name])
        if len(formats) > 1:
            formats = [f"{n} {share(held.formats[n], held.count)}" for n in formats]
        facts.append(("contents", listed(formats)))
        if held.distinct and len(held.distinct) > 1:
            facts.append(("different", f"{len(held.distinct):,}"))
    return facts


def _table(
    column: Column, splits: Sequence[Split], measures: Mapping[str, BySplit]
) -> Table:
    rows = []
    for what, found in measures.items():
        for split in splits:
            if numbers := found.get(split.name):
                name = what if len(splits) == 1 else f"{what}, {split.label}"
                spread = [_quantile(numbers, at) for at in _QUANTILES.values()]
                mean = number(numbers.mean or 0.0)
                rows.append((name, f"{numbers.count:,}", *spread, mean))
    return Table(
        f"What the values of {column.name} are like; percentiles between the least "
        "and the greatest are estimates where values are many",
        ("What", "Values", *_QUANTILES, "Mean"),
        rows,
        range(1, 8),
    )


def _quantile(numbers: Numbers, at: float) -> str:
    ends = {0.0: numbers.minimum, 1.0: numbers.maximum}
    value = ends.get(at, quantile(numbers, at)) or 0
    return number(value if numbers.floats else int(value))


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
                _range(kind.lengths),
                _contents(kind),
            )
        )
    return Table(
        "Every key: what it is, who has it, how many values, and which",
        ("Name", "Key", "What", "Present", "Length", "Values"),
        rows,
        numeric=(3, 4),
    )


def _range(found: Numbers) -> str:
    if found.minimum is None or found.maximum is None:
        return "–"
    low, high = number(found.minimum), number(found.maximum)
    return low if low == high else f"{low} to {high}"


def _contents(kind: KindStatistics) -> str:
    if kind.numbers is not None:
        return _range(kind.numbers)
    if kind.bytes is None or kind.bytes.sizes.mean is None:
        return "none"
    mean = size(kind.bytes.sizes.mean)
    return f"{listed(list(kind.bytes.formats))}, {mean} each on average"


def missing_figure(columns: Sequence[Column], splits: Sequence[Split]) -> Figure:
    """Draw the share of records of each split that lack a key."""
    read = [split for split in splits if split.found.read]
    lacking = sorted(
        (each for each in columns if any(each.missing_in(split) for split in read)),
        key=lambda each: -max(each.missing_in(split) for split in read),
    )
    complete = len(columns) - len(lacking)
    notes = []
    if not lacking:
        every = "the one key is" if complete == 1 else f"all {complete:,} keys are"
        notes.append(f"Nothing is missing: {every} in every record.")
    elif complete:
        others = plural(complete, "other key is", "other keys are")
        notes.append(f"{others} in every record.")
    if len(lacking) > _MOST_MISSING:
        notes.append(
            f"{len(lacking) - _MOST_MISSING:,} keys that are missing less often are "
            "in the table only."
        )
    drawn = []
    shown = [split for split in read if split.drawn]
    names = unique(column.name for column in lacking[:_MOST_MISSING])
    for column, name in zip(lacking, names, strict=False):
        for split in shown:
            value = column.missing_in(split)
            hint = f"{name}: missing in {percent(value)} of {split.label}"
            drawn.append(Bar(name, split.series, value, hint))
    label = "Share of the records in which a key is missing"
    return Figure(
        plots=[(label, bars(drawn, len(shown), label))] if drawn else [],
        notes=notes,
        table=_missing_table(lacking, splits) if lacking else None,
        wide=len(lacking) > 12,
    )


def _missing_table(lacking: Sequence[Column], splits: Sequence[Split]) -> Table:
    titles = ["Name", "Schema"]
    for split in splits:
        prefix = f"{split.label}: " if len(splits) > 1 else ""
        titles += [f"{prefix}missing", f"{prefix}empty"]
    rows = []
    for column in lacking:
        required = "required" if column.field is not None else ""
        cells = [column.name, "optional" if column.optional else required]
        for split in splits:
            if not split.found.read:
                cells += ["–", "–"]
                continue
            kind = None if column.steps else column.kind_in(split)
            empty = kind.lengths.zeros if kind is not None else 0
            cells += [percent(column.missing_in(split)), share(empty, split.found.read)]
        rows.append(cells)
    caption = "Keys that are missing in some record, and lists that are there but empty"
    return Table(caption, titles, rows, range(2, len(titles)))
