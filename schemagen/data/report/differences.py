"""Effect sizes between splits, and records that are repeated."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from ..formatting import listed, number, plural, share
from ..statistics.digests import Digested
from ..statistics.numbers import Numbers
from .charts import Figure, Table
from .classes import ClassCounts, value_name
from .columns import Column, Split
from .values import measures_of

# A split of fewer records, and a value that occurs less often, differ by chance.
_FEWEST = 30
_FEWEST_OF_VALUE = 10

# From here on an effect is marked: Cohen's "medium" for shares and means.
_SHARES, _MEANS, _SPREADS = 0.5, 0.5, 1.5

# A key identifies records if so many of its values are different.
_DIFFERENT = 0.8


class Comparison(NamedTuple):
    """One measure of one column in two splits.

    Attributes:
        size: of the effect, in units of its threshold; it is marked from 1 on.
        row: the name of the column, the measure, its value in both splits, the effect.
    """

    size: float
    row: tuple[str, str, str, str, str]


def differences_figure(
    columns: Sequence[Column], classes: Sequence[ClassCounts], splits: Sequence[Split]
) -> Figure:
    """Compare the first split with each other one."""
    large = [split for split in splits if split.found.read >= _FEWEST]
    counted = {each.column.key: each.counts for each in classes}
    compared = [
        (f"{large[0].label} and {other.label}", each)
        for other in large[1:]
        for column in columns
        for each in _comparisons(column, counted.get(column.key, {}), (large[0], other))
    ]
    marked = sorted((c for c in compared if c[1].size >= 1), key=lambda c: -c[1].size)
    some = (
        plural(len(marked), "marked difference") if marked else "No marked differences"
    )
    verdict = f"{some} in {plural(len(compared), 'comparison')}."
    if not compared:
        verdict = (
            f"No comparison: it requires two splits of at least {_FEWEST} records."
        )
    small = [
        f"{split.label} ({plural(split.found.read, 'record')})"
        for split in splits
        if split.found.read < _FEWEST
    ]
    left_out = listed([*small, "correlations", *_contents(columns, counted)])
    notes = [
        f"{verdict} Not compared: {left_out}.",
        f"Differences are marked from these effects on: Cohen's h of {_SHARES} for shares, "
        f"{_MEANS} standard deviations for means, and a factor of {_SPREADS} for standard "
        "deviations.",
    ]
    titles = ("Splits", "Name", "Measure", "First", "Second", "Effect")
    rows = [(both, *found.row) for both, found in marked]
    table = Table("Marked differences, the largest first", titles, rows, (3, 4))
    return Figure(notes=notes, table=table if rows else None, folded=False, wide=True)


def _contents(columns: Sequence[Column], counted: Collection[str]) -> list[str]:
    """Return the columns of bytes of which only sizes are compared, as one item."""
    names = [
        column.name
        for column in columns
        if (held := column.whole.bytes) is not None
        and column.key not in counted
        and max((held.distinct or {}).values(), default=0) < _FEWEST_OF_VALUE
    ]
    return [f"the contents of {listed(names)}"] if names else []


def _comparisons(
    column: Column, counts: Mapping[str, Mapping[str, int]], pair: tuple[Split, Split]
) -> Iterator[Comparison]:
    """Yield the measures of a column in two splits, of frequencies the largest effect."""
    missing = [(column.missing_in(split), split.found.read) for split in pair]
    if any(count for count, _ in missing):
        yield _shares(column.name, "missing", missing)
    frequencies: list[Mapping[Any, int]] = [
        counts.get(split.name, {}) if counts else _texts(column, split)
        for split in pair
    ]
    totals = [sum(each.values()) for each in frequencies]
    if all(totals):
        shares = []
        for value in sorted({value for each in frequencies for value in each}):
            both = [each.get(value, 0) for each in frequencies]
            if max(both) >= _FEWEST_OF_VALUE:
                parts = [*zip(both, totals, strict=True)]
                shown = value if isinstance(value, str) else value_name(value)
                what = f"share of {shown}"
                shares.append(_shares(column.name, what, parts))
        yield from sorted(shares, key=lambda each: -each.size)[:1]
    for what, found in measures_of(column, pair).items():
        if len(found) == len(pair) and not (counts and what == "values"):
            yield from _numbers(column.name, what, [*found.values()])


def _texts(column: Column, split: Split) -> Mapping[bytes, int]:
    """Return how often each text occurs; nothing if there are too many to count."""
    kind = column.kind_in(split)
    return (kind and kind.bytes and kind.bytes.distinct) or {}


def _shares(name: str, what: str, counts: Sequence[tuple[int, int]]) -> Comparison:
    one, other = (2 * math.asin(math.sqrt(part / whole)) for part, whole in counts)
    first, second = (share(part, whole) for part, whole in counts)
    h = abs(one - other)
    return Comparison(h / _SHARES, (name, what, first, second, f"Cohen's h {h:.1f}"))


def _numbers(name: str, what: str, found: Sequence[Numbers]) -> Iterator[Comparison]:
    """Yield the shares of NaN, and means and spreads unless both are the same constant."""
    if any(each.nan for each in found):
        yield _shares(
            name, f"NaN in {what}", [(each.nan, each.count) for each in found]
        )
    one, other = (each.mean or 0.0 for each in found)
    spreads = [each.deviation or 0.0 for each in found]
    if one == other and not any(spreads):
        return
    pooled, apart = math.hypot(*spreads) / math.sqrt(2), abs(one - other)
    by = apart / pooled if pooled else math.inf
    effect = f"{number(by, 2)} standard deviations" if pooled else "two constants"
    row = (name, f"mean of {what}", number(one, 4), number(other, 4), effect)
    yield Comparison(by / _MEANS, row)
    least, most = sorted(spreads)
    factor = most / least if least else math.inf if most else 1.0
    effect = f"a factor of {number(factor, 2)}" if least else "a constant in one split"
    first, second = (number(each, 4) for each in spreads)
    row = (name, f"standard deviation of {what}", first, second, effect)
    yield Comparison(factor / _SPREADS, row)


def repetitions_figure(columns: Sequence[Column], splits: Sequence[Split]) -> Figure:
    """Count records, and values that identify them, that are there more than once."""
    digests = {split.label: split.found.digests for split in splits}
    records = {split: held.records for split, held in digests.items()}
    rows, compared = _repeated("records", records, _unique(records)), ["records"]
    for column in columns:
        values = {
            split: held.values[column.key]
            for split, held in digests.items()
            if column.key in held.values
        }
        unique = _unique(values)
        if _identify(values, unique):
            rows += _repeated(f"values of {column.name}", values, unique)
            compared.append(column.name)
    if not rows:
        notes = [f"No repetitions. Compared: {listed(compared, 12)}."]
        return Figure(notes=notes)
    first = [f"{count} {name} {where}" for name, where, count in rows]
    notes = [f"Repeated: {listed(first, 3)}. Compared: {listed(compared, 12)}."]
    table = Table("Repetitions", ("What", "Where", "How many"), rows, (2,))
    return Figure(notes=notes, table=table, folded=False)


def _unique(found: Mapping[str, Digested]) -> dict[str, Digested]:
    return {split: np.unique(each) for split, each in found.items()}


def _identify(values: Mapping[str, Digested], unique: Mapping[str, Digested]) -> bool:
    """Return whether values of a key differ from record to record, in each split."""
    total = sum(map(len, values.values()))
    different = sum(map(len, unique.values()))
    return (
        total >= _FEWEST
        and all(map(len, values.values()))
        and different >= _DIFFERENT * total
    )


def _repeated(
    name: str, found: Mapping[str, Digested], unique: Mapping[str, Digested]
) -> list[tuple[str, str, str]]:
    """Return what is there more than once in a split, and what is in two."""
    counts = {
        f"more than once in {split}": len(found[split]) - len(each)
        for split, each in unique.items()
    }
    for one, other in combinations(unique, 2):
        both = np.intersect1d(unique[one], unique[other], assume_unique=True)
        counts[f"in {one} and in {other}"] = len(both)
    return [(name, where, f"{count:,}") for where, count in counts.items() if count]
