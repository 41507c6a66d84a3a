"""How well each feature tells a target alone: normalised mutual information."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..formatting import listed
from ..statistics.samples import MISSING, NUMBER, TEXT, SampledValues
from ..statistics.style import PLAIN, Style
from .classes import unique, value_name
from .columns import ColumnProfile, SplitProfile
from .information import (
    ALONE,
    FEWEST_OF_BIN,
    Ids,
    Values,
    binned,
    frequent,
    normalised_information,
    separated_classes,
)

if TYPE_CHECKING:
    from ...spec.model import RecordSpec


SHOWN = 6
"""So many features are shown for a target, and those that are marked."""

# Weaker ones are not shown.
_LEAST_SHOWN = 0.01

_MOST_KEYS = 200

# At most so many bins of a feature's numbers, of a target's, and of classes and texts.
_BINS, _TARGET_BINS, _CLASSES = 16, 10, 64

# Numbers that tell nearly all of a target are binned again: its classes, or the bins of a
# target of numbers, end within one of the few bins.
_NEARLY, _RECORDS_OF_FINE_BIN = 0.75, 12

# A feature adds something to its presence if it is stronger by this.
_MORE = 0.01

# Whole numbers identify records if so many of them are different.
_DIFFERENT = 0.95

NAMES = {
    "values": "{}",
    "lengths": "length of {}",
    "steps": "steps of {}",
    "means": "mean of {}",
    "presence": "{}, missing or not",
}
"""What a feature is called, by what of its column it is."""


@dataclass(frozen=True)
class Variable:
    """What the records of a sample have of a column, in bins.

    Attributes:
        column: the column.
        of: what of it: "values", "lengths", "steps", "means" or "presence".
        ids: [N], the bin of each record; -1 if it is in none.
        names: of the bins of classes and texts; empty for those of numbers.
        numbers: [N], NaN if a record has none; None of classes and texts.
    """

    column: ColumnProfile
    of: str
    ids: Ids
    names: Sequence[str] = ()
    numbers: Values | None = None

    @property
    def name(self) -> str:
        """The name for people, such as "length of tokens"."""
        return NAMES[self.of].format(self.column.name)

    @property
    def style(self) -> Style:
        """What its numbers are, which tells how they are shown."""
        return self.column.style if self.of == "values" else PLAIN


@dataclass(frozen=True)
class Association:
    """How well a feature tells a target alone.

    Attributes:
        feature: the feature.
        strength: the normalised mutual information, 0 to 1.
        bins: how many bins the feature has.
        records: how many records are in a bin of both.
        separated: the classes of the target that it separates from all others alone.
        limit: it is marked if it is stronger.
    """

    feature: Variable
    strength: float
    bins: int
    records: int
    separated: Sequence[str] = ()
    limit: float = ALONE

    @property
    def alone(self) -> bool:
        """Whether it tells the target on its own."""
        return self.strength > ALONE

    @property
    def marked(self) -> bool:
        """Whether it tells too much of the target, or some of its classes on its own."""
        return self.strength > self.limit or (bool(self.separated) and self.limit < 1)


@dataclass(frozen=True)
class Associations:
    """A target, and how well each feature tells it.

    Attributes:
        target: the target.
        records: how many records the sample has.
        features: the associations, the strongest first.
    """

    target: Variable
    records: int
    features: Sequence[Association]

    @property
    def shown(self) -> list[Association]:
        """The strongest, and those that are marked."""
        strong = [each for each in self.features if each.strength >= _LEAST_SHOWN]
        return [*strong[:SHOWN], *(each for each in strong[SHOWN:] if each.marked)]


def keys_of(specs: Iterable[RecordSpec]) -> tuple[str, ...]:
    """Return the keys of targets and inputs of schemas: the first ones, targets first.

    There are none without a target.
    """
    found: dict[str, dict[str, None]] = {"target": {}, "input": {}}
    for spec in specs:
        for field in spec.fields:
            if field.role in found:
                found[field.role][field.key] = None
    targets = [*found["target"]]
    return (*targets, *found["input"])[:_MOST_KEYS] if targets else ()


INFORMATION = "normalised mutual information"
"""How well a feature tells a target alone."""


def leakage_text(target: Variable, found: Association) -> str:
    """Return what a feature tells: the target, classes of it, or a share of it."""
    if not (found.alone or found.separated):
        return f"tells {found.strength:.2f} of {target.name}"
    what = target.name if found.alone else listed(found.separated)
    return f"tells {what} on its own"


def associations_of(
    columns: Sequence[ColumnProfile],
    split: SplitProfile,
    limit_of: Callable[[str], float],
) -> list[Associations]:
    """Return how well features tell each target, by a split's sample of records.

    Args:
        columns: all columns.
        split: the split.
        limit_of: returns how much a field may tell of the target.
    """
    rows = split.found.rows
    if rows is None:
        return []
    cells = [
        (each, rows.cells[each.key])
        for each in columns
        if each.field is not None and each.key in rows.cells
    ]
    features = [
        [*_features(column, held)]
        for column, held in cells
        if column.declared is not None and column.declared.role == "input"
    ]
    found, independent = [], split.independent / max(split.found.read, 1)
    for column, held in cells:
        target = _target(column, held)
        if target is not None:
            some = (
                each
                for own in features
                for each in _associations_with(target, own, independent)
            )
            ranked = sorted(
                (
                    replace(each, limit=limit_of(each.feature.column.name))
                    for each in some
                ),
                key=lambda each: -each.strength,
            )
            if ranked:
                found.append(Associations(target, len(rows), ranked))
    return found


def _associations_with(
    target: Variable, features: Iterable[Variable], independent: float
) -> list[Association]:
    """Return the associations of a column's features.

    Records without a value are a bin of each, so that presence is of interest only where
    no other feature adds to it.
    """
    every = (_finely_associated(target, one, independent) for one in features)
    found = [each for each in every if each]
    presence = [each for each in found if each.feature.of == "presence"]
    others = [each for each in found if each.feature.of != "presence"]
    least = presence[0].strength + _MORE if presence and presence[0].strength else 0.0
    return [each for each in others if each.strength >= least] or presence


def _target(column: ColumnProfile, cells: SampledValues) -> Variable | None:
    field = column.field
    if column.steps or field is None or field.role != "target":
        return None
    if column.of_classes or _holds(cells, NUMBER):
        return _of_values(column, cells, _TARGET_BINS, missing=False)
    return None


def _features(column: ColumnProfile, cells: SampledValues) -> Iterator[Variable]:
    """Yield what can be judged of a column: values, sizes, means; presence comes last."""
    values = _of_values(column, cells, _BINS, missing=True)
    if values is not None and not _identifies(values):
        yield values
    if cells.counts.max(initial=0) > 1 or column.steps:
        counts = np.where(cells.counts < 0, np.nan, cells.counts)
        yield _numeric(column, "steps" if column.steps else "lengths", counts)
        if not column.of_classes and np.isfinite(cells.means).any():
            yield _numeric(column, "means", cells.means)
    lacking = cells.held == MISSING
    if lacking.any() and not lacking.all():
        ids = frequent((~lacking).astype(np.int64))
        yield Variable(column, "presence", ids, ("missing", "present"))


def _of_values(
    column: ColumnProfile, cells: SampledValues, bins: int, *, missing: bool
) -> Variable | None:
    """Return the values of a column; None if any of them is no number and no text.

    Args:
        column: the column.
        cells: its cells.
        bins: how many bins numbers have at most.
        missing: whether records without a value are a bin.
    """
    field = column.field
    numbers = _holds(cells, NUMBER)
    if field is None or not (numbers or _holds(cells, TEXT)):
        return None
    names: Mapping[Any, str] = {}
    if column.of_classes:
        names = column.class_names
    elif column.is_bool:
        names = {0: "False", 1: "True"}
    elif numbers:
        return _numeric(column, "values", cells.numbers, bins, missing=missing)
    there = np.isfinite(cells.numbers) if numbers else cells.held == TEXT
    values = cells.numbers[there].astype(np.int64) if numbers else cells.texts[there]
    different, first, inverse, counts = np.unique(
        values, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.lexsort((first, -counts))
    order = order[counts[order] >= FEWEST_OF_BIN][:_CLASSES]
    rank = np.full(len(different), -1)
    rank[order] = np.arange(len(order))
    ids = np.full(len(there), -1)
    ids[there] = rank[inverse]
    shown = [names.get(one) or value_name(one) for one in different[order].tolist()]
    if missing and not there.all():
        ids[~there] = len(shown)
        shown.append("missing")
    return Variable(column, "values", frequent(ids), unique(shown))


def _numeric(
    column: ColumnProfile,
    of: str,
    numbers: Values,
    bins: int = _BINS,
    *,
    missing: bool = True,
) -> Variable:
    """Return numbers in bins; records without one are a further bin, if that is wanted."""
    numbers = np.where(np.isfinite(numbers), numbers, np.nan)
    there = ~np.isnan(numbers)
    ids = np.full(len(numbers), -1)
    ids[there] = binned(numbers[there], bins)
    if missing:
        ids[~there] = ids.max(initial=0) + 1
    return Variable(column, of, frequent(ids), numbers=numbers)


def _holds(cells: SampledValues, kind: int) -> bool:
    """Return whether all values are of a kind, and there is one."""
    there = cells.held[cells.held != MISSING]
    return len(there) > 0 and bool((there == kind).all())


def _identifies(found: Variable) -> bool:
    """Return whether numbers look like ids: they are whole, and nearly all different."""
    if found.numbers is None:
        return False  # Texts that are nearly all different have no bin.
    values = found.numbers[~np.isnan(found.numbers)]
    whole = bool((values == np.rint(values)).all())
    return whole and len(np.unique(values)) >= _DIFFERENT * len(values)


def _finely_associated(
    target: Variable, feature: Variable, independent: float
) -> Association | None:
    """Return the association of two variables; None if either of them has one bin.

    Args:
        target: the target.
        feature: what may tell it.
        independent: the share of independent records.
    """
    found = _associated(target, feature, independent)
    if (
        found is not None
        and feature.numbers is not None
        and _NEARLY < found.strength <= ALONE
    ):
        most = len(feature.ids) // _RECORDS_OF_FINE_BIN
        fine = _numeric(feature.column, feature.of, feature.numbers, most)
        finer = _associated(target, fine, independent)
        return finer if finer and finer.alone else found
    return found


def _associated(
    target: Variable, feature: Variable, independent: float
) -> Association | None:
    both = (target.ids >= 0) & (feature.ids >= 0)
    classes, one = np.unique(target.ids[both], return_inverse=True)
    bins, other = np.unique(feature.ids[both], return_inverse=True)
    if len(classes) < 2 or len(bins) < 2:
        return None
    table = np.bincount(one * len(bins) + other, minlength=len(classes) * len(bins))
    table = table.reshape(len(classes), len(bins))
    strength = normalised_information(table, independent)
    separated = ()
    if strength and len(classes) > 2 and target.names:
        separated = tuple(target.names[at] for at in classes[separated_classes(table)])
    return Association(feature, strength, len(bins), len(one), separated)
