"""Which features tell a target: the associations of a target with each input."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..statistics.samples import MISSING, NUMBER, TEXT, Cells
from .chance import chance_level
from .classes import declared_classes, unique, value_name
from .columns import Column, Split

if TYPE_CHECKING:
    from ...spec.model import RecordSpec


MOST = 6
"""So many features are returned for a target."""

_MOST_KEYS = 200

# Rarer classes are left out, in records: with fewer, a coincidence looks strong.
_FEWEST_OF_CLASS = 10

# Cohen calls weaker correlations negligible.
_LEAST = 0.1

# From this Cramér's V, η² or ρ² on, a feature tells its target on its own.
_ALONE = 0.98

# Whole numbers identify records if so many of them are different.
_DIFFERENT = 0.95

MISSING_CLASS = "missing"

CORRELATION_RATIO = "correlation ratio"
CRAMERS_V = "Cramér's V"
SPEARMAN = "Spearman's correlation"

Ids = NDArray[np.int64]
Values = NDArray[np.float64]


@dataclass(frozen=True)
class Classes:
    """A column of a sample whose values are classes.

    Attributes:
        column: the column.
        names: of the classes.
        ids: [N], the class of each record; -1 if it has none.
        presence: whether the classes are only "missing" and "present".
    """

    column: Column
    names: Sequence[str]
    ids: Ids
    presence: bool = False

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.column.name


@dataclass(frozen=True)
class Numeric:
    """A column of a sample whose values are numbers.

    Attributes:
        column: the column.
        values: [N]; NaN if a record has none.
    """

    column: Column
    values: Values

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.column.name


Variable = Classes | Numeric


@dataclass(frozen=True)
class Association:
    """How strongly a feature and a target are associated.

    Attributes:
        feature: the feature.
        measure: CRAMERS_V of two columns of classes, SPEARMAN of two of numbers, and
            else CORRELATION_RATIO, which is η, and not its square. The first and the
            last are corrected for bias.
        strength: its value: -1 to 1 of SPEARMAN, else 0 to 1.
        records: how many records have both values.
        every_class: False if the feature has fewer different values than the target has
            classes, so that it cannot tell all of them.
    """

    feature: Variable
    measure: str
    strength: float
    records: int
    every_class: bool = True

    @property
    def alone(self) -> bool:
        """Whether the feature tells the target, or some of its classes, on its own."""
        power = 1 if self.measure == CRAMERS_V else 2
        return abs(self.strength) ** power > _ALONE


@dataclass(frozen=True)
class Associations:
    """A target and the features that tell the most about it.

    Attributes:
        target: the target.
        records: how many records the sample has.
        features: the associations, the strongest first; at most MOST.
    """

    target: Variable
    records: int
    features: Sequence[Association]


def keys_of(specs: Iterable[RecordSpec]) -> tuple[str, ...]:
    """Return the keys of targets and inputs of schemas: the first ones, targets first.

    There are none without a target.
    """
    found: dict[str, dict[str, None]] = {"target": {}, "input": {}}
    for spec in specs:
        for field in spec.fields:
            if field.role in found and not field.parts[0].in_list:
                found[field.role][field.key] = None
    targets = [*found["target"]]
    return (*targets, *found["input"])[:_MOST_KEYS] if targets else ()


def associations_of(columns: Sequence[Column], split: Split) -> list[Associations]:
    """Return the targets of which any feature tells something, by a split's sample.

    Args:
        columns: all columns.
        split: the split.
    """
    rows = split.found.rows
    if rows is None:
        return []
    cells = [
        (each, rows.cells[each.key])
        for each in columns
        if each.field is not None and not each.steps and each.key in rows.cells
    ]
    features = [
        (each, list(_features(each, held)))
        for each, held in cells
        if each.field is not None and each.field.role == "input"
    ]
    found = []
    for column, held in cells:
        target = _target(column, held)
        if target is not None:
            some = [_strongest(target, variables) for _, variables in features]
            ranked = sorted(filter(None, some), key=lambda each: -abs(each.strength))
            if ranked:
                found.append(Associations(target, len(rows), ranked[:MOST]))
    return found


def _strongest(target: Variable, some: Sequence[Variable]) -> Association | None:
    found = [each for each in (associated(target, one) for one in some) if each]
    return max(found, key=lambda each: abs(each.strength), default=None)


def _target(column: Column, cells: Cells) -> Variable | None:
    field = column.field
    if field is None or field.role != "target":
        return None
    if field.codec.of_classes or _holds(cells, NUMBER):
        return _variable(column, cells, missing=False)
    return None


def _features(column: Column, cells: Cells) -> Iterator[Variable]:
    """Yield the values of a column, and whether it has one."""
    found = _variable(column, cells, missing=True)
    if found is not None and not _identifies(found):
        yield found
    lacking = cells.held == MISSING
    if not isinstance(found, Classes) and lacking.any() and not lacking.all():
        there = (~lacking).astype(np.int64)
        yield Classes(column, (MISSING_CLASS, "present"), there, presence=True)


def _variable(column: Column, cells: Cells, *, missing: bool) -> Variable | None:
    """Return the values of a column; None if any of them is no number and no text.

    Args:
        column: the column.
        cells: its cells.
        missing: whether records without a value are a class of their own.
    """
    field = column.field
    numbers = _holds(cells, NUMBER)
    if field is None or not (numbers or _holds(cells, TEXT)):
        return None
    names: Mapping[Any, str] = {}
    if field.codec.of_classes:
        names = declared_classes(field)
    elif field.parts[0].dtype == "bool":
        names = {0: "False", 1: "True"}
    elif numbers:
        values = np.where(np.isfinite(cells.numbers), cells.numbers, np.nan)
        return Numeric(column, values)
    there = np.isfinite(cells.numbers) if numbers else cells.held == TEXT
    values = (cells.numbers if numbers else cells.texts).tolist()
    some = [
        (int(value) if numbers else value) if has else None
        for value, has in zip(values, there, strict=True)
    ]
    return _classes(column, some, names, missing=missing)


def _classes(
    column: Column, values: Sequence[Any], names: Mapping[Any, str], *, missing: bool
) -> Classes:
    others = sorted({each for each in values if each is not None} - names.keys())
    shown = {**names, **{each: value_name(each) for each in others}}
    if missing and None in values:
        shown[None] = MISSING_CLASS
    ids = {value: at for at, value in enumerate(shown)}
    found = np.array([ids.get(value, -1) for value in values], np.int64)
    return Classes(column, unique(shown.values()), found)


def _holds(cells: Cells, kind: int) -> bool:
    """Return whether all values are of a kind, and there is one."""
    there = cells.held[cells.held != MISSING]
    return len(there) > 0 and bool((there == kind).all())


def _identifies(found: Variable) -> bool:
    """Return whether numbers look like ids: they are whole, and nearly all different."""
    if isinstance(found, Classes):
        return False  # classes with one record each are left out below
    values = found.values[~np.isnan(found.values)]
    whole = bool((values == np.rint(values)).all())
    return whole and len(np.unique(values)) >= _DIFFERENT * len(values)


def associated(target: Variable, feature: Variable) -> Association | None:
    """Return the association of two columns; None if it is weak or may be by chance."""
    both = (_usable(target) & _usable(feature)).nonzero()[0]
    one, other = _at(target, both), _at(feature, both)
    if isinstance(target, Classes) and isinstance(feature, Classes):
        measure, strength = CRAMERS_V, cramers_v(one, other)
    elif isinstance(target, Classes):
        measure, strength = CORRELATION_RATIO, correlation_ratio(one, other)
    elif isinstance(feature, Classes):
        measure, strength = CORRELATION_RATIO, correlation_ratio(other, one)
    else:
        measure, strength = SPEARMAN, spearman(one, other)
    if abs(strength) < _LEAST:
        return None
    every_class = isinstance(target, Numeric) or bool(
        len(np.unique(other)) >= len(np.unique(one))
    )
    return Association(feature, measure, strength, len(both), every_class)


def _usable(found: Variable) -> NDArray[np.bool_]:
    """Return which records have a number, or a class that is not rare: bool [N]."""
    if isinstance(found, Numeric):
        return ~np.isnan(found.values)
    counts = np.bincount(found.ids + 1, minlength=1)
    counts[0] = 0
    return counts[found.ids + 1] >= _FEWEST_OF_CLASS


def _at(found: Variable, rows: NDArray[np.intp]) -> NDArray[Any]:
    return found.ids[rows] if isinstance(found, Classes) else found.values[rows]


def correlation_ratio(ids: Ids, values: Values) -> float:
    """Return η, the square root of the share of variance between classes.

    The share is corrected for bias, as by Kelley. It is 0 if the ranks of the values
    differ by chance, as by Kruskal and Wallis.

    Args:
        ids: [N], classes.
        values: [N], finite.
    """
    groups, count = _compact(ids), len(ids)
    classes = int(groups.max(initial=-1)) + 1
    if classes < 2 or count <= classes or values.min() == values.max():
        return 0.0
    by_chance = (count - 1) * _between(groups, _ranks(values))
    if by_chance <= chance_level(classes - 1):
        return 0.0
    # A common scale keeps squares of large values finite.
    share = _between(groups, values / np.abs(values).max())
    corrected = 1 - (1 - share) * (count - 1) / (count - classes)
    return math.sqrt(min(max(corrected, 0.0), 1.0))


def _between(groups: Ids, values: Values) -> float:
    """Return the share of variance that is between groups: η²."""
    differences = values - values.mean()
    sums = np.bincount(groups, differences)
    return float((sums**2 / np.bincount(groups)).sum() / (differences**2).sum())


def cramers_v(one: Ids, other: Ids) -> float:
    """Return Cramér's V of classes, corrected for bias, as by Bergsma.

    It is 0 if the classes are associated by chance, as by Pearson's χ².

    Args:
        one: [N], classes.
        other: [N], classes.
    """
    rows, columns, count = _compact(one), _compact(other), len(one)
    height, width = (int(ids.max(initial=-1)) + 1 for ids in (rows, columns))
    if height < 2 or width < 2:
        return 0.0
    table = np.bincount(rows * width + columns, minlength=height * width)
    table = table.reshape(height, width)
    expected = np.outer(table.sum(1), table.sum(0)) / count
    squares = float(((table - expected) ** 2 / expected).sum())
    freedom = (height - 1) * (width - 1)
    if squares <= chance_level(freedom):
        return 0.0
    share = max(0.0, squares / count - freedom / (count - 1))
    sides = [side - (side - 1) ** 2 / (count - 1) for side in (height, width)]
    return min(1.0, math.sqrt(share / (min(sides) - 1)))


def spearman(one: Values, other: Values) -> float:
    """Return Spearman's rank correlation, 0 if it may be by chance.

    Args:
        one: [N], finite.
        other: [N], finite.
    """
    if not len(one) or one.min() == one.max() or other.min() == other.max():
        return 0.0
    found = float(np.corrcoef(_ranks(one), _ranks(other))[0, 1])
    return found if (len(one) - 1) * found**2 > chance_level(1) else 0.0


def _compact(ids: Ids) -> Ids:
    """Return the ids of the classes that occur, from 0 on."""
    found: Ids = np.unique(ids, return_inverse=True)[1]
    return found


def _ranks(values: Values) -> Values:
    """Return ranks; equal values have the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Values = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    return ranks
