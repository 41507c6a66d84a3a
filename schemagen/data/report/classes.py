"""How often each class occurs in each split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..formatting import one_line
from ..statistics.histograms import summed
from .charts import unique
from .columns import Column, Split

_MOST_CLASSES = 1_000

# Without a schema, values look like classes if they are few and come again.
_MOST_GUESSED = 100
_AGAIN = 5

Counts = Mapping[str, Mapping[Any, int]]


@dataclass(frozen=True)
class ClassCounts:
    """The frequency of each class of a column.

    Attributes:
        column: the column.
        classes: unique names of the classes; those of the schema first.
        known: the number of classes in the schema; None without a schema.
        counts: the frequency of each name, by split.
    """

    column: Column
    classes: tuple[str, ...]
    known: int | None
    counts: Mapping[str, Mapping[str, int]]

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.column.name

    @property
    def declared(self) -> bool:
        """Whether a schema says that these are classes, and not their values."""
        return self.known is not None


def class_counts(column: Column, splits: Sequence[Split]) -> ClassCounts | None:
    """Return the counts of classes, or of values that look like classes, or None."""
    values = _values(column, splits)
    if values is None:
        return None
    different = {value for counts in values.values() for value in counts}
    field, names, known = column.field, dict[int | bytes, str](), None
    if field is not None and field.codec.of_classes:
        given = (field.kind.class_names or range(field.kind.count))[:_MOST_CLASSES]
        for index, name in enumerate(map(str, given)):
            stored = (
                name.encode()
                if field.kind.stored == "text"
                else index + field.kind.offset
            )
            names[stored] = one_line(name, 60)
        known = len(names)
        unknown = sorted(different - set(names), key=str)
        names |= {value: f"not a class: {_name(value)}" for value in unknown}
    elif field is not None and field.parts[0].dtype == "bool":
        names = {value: str(bool(value)) for value in (0, 1)}
        others = sorted(different - names.keys(), key=str)
        names |= {value: f"not a bool: {value}" for value in others}
    elif _like_classes(column, values):
        names = {value: _name(value) for value in sorted(different)}
    else:
        return None
    names = dict(zip(names, unique(names.values()), strict=True))
    counts = {
        split: {names[value]: count for value, count in found.items()}
        for split, found in values.items()
    }
    return ClassCounts(column, tuple(names.values()), known, counts)


def _values(column: Column, splits: Sequence[Split]) -> Counts | None:
    """Return how often each value occurs by split; None if it is not counted."""
    found: dict[str, Mapping[Any, int]] = {}
    for split in splits:
        kind = column.kind_in(split)
        if kind is None:
            continue
        held = kind.numbers or kind.bytes
        if held is None or held.distinct is None:
            return None
        if kind.numbers is not None and kind.numbers.floats:
            return None
        found[split.name] = held.distinct
    kinds = {type(value) for counts in found.values() for value in counts}
    return found if len(kinds) == 1 else None


def _like_classes(column: Column, values: Counts) -> bool:
    """Tell texts, and without a schema single ids from 0 or 1, that come again."""
    counts = summed(values.values())
    numbers = [value for value in counts if isinstance(value, int)]
    likely = not numbers
    if column.field is None:
        single = not column.steps and column.whole.lengths.maximum == 1
        first = min(numbers, default=0)
        likely = single and len(counts) <= _MOST_GUESSED and first in (0, 1)
    return (
        likely
        and len(counts) >= 2
        and sum(counts.values()) >= _AGAIN * len(counts)
        and all(
            isinstance(value, int)
            or value.decode(errors="surrogateescape").isprintable()
            for value in counts
        )
    )


def _name(value: int | bytes) -> str:
    if isinstance(value, int):
        return str(value)
    return one_line(value.decode("utf-8", "backslashreplace"), 60)
