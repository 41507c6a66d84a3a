"""How often each class occurs in each split."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from ..formatting import decoded, hexadecimal, one_line, quoted, record_value
from ..statistics.numbers import summed
from .columns import ColumnProfile, SplitProfile

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

    column: ColumnProfile
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

    @property
    def likely(self) -> bool:
        """Whether a schema says so, or there is none that says otherwise."""
        return self.declared or self.column.field is None


def class_counts(
    column: ColumnProfile, splits: Sequence[SplitProfile]
) -> ClassCounts | None:
    """Return the counts of classes, or of values that look like classes, or None."""
    values = _values(column, splits)
    if values is None:
        return None
    different = {value for counts in values.values() for value in counts}
    known = None
    names: dict[int | bytes, str] = {}
    if column.of_classes:
        names = dict(islice(column.class_names.items(), _MOST_CLASSES))
        known = len(names)
    elif column.is_bool:
        names = {0: "False", 1: "True"}
    elif not _like_classes(column, values):
        return None
    prefix = "not in the schema: " if names else ""
    others = sorted(different - names.keys())
    names |= {value: prefix + value_name(value) for value in others}
    names = dict(zip(names, unique(names.values()), strict=True))
    counts = {
        split: {names[value]: count for value, count in found.items()}
        for split, found in values.items()
    }
    return ClassCounts(column, tuple(names.values()), known, counts)


def _values(column: ColumnProfile, splits: Sequence[SplitProfile]) -> Counts | None:
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


def _like_classes(column: ColumnProfile, values: Counts) -> bool:
    """Tell texts, and without a schema single ids from 0 or 1, that come again."""
    counts = summed(values.values())
    numbers = [value for value in counts if isinstance(value, int)]
    likely = not numbers
    if column.field is None:
        first = min(numbers, default=0)
        likely = column.is_single and len(counts) <= _MOST_GUESSED and first in (0, 1)
    return (
        likely
        and len(counts) >= 2
        and sum(counts.values()) >= _AGAIN * len(counts)
        and all(isinstance(each, int) or decoded(each) is not None for each in counts)
    )


def class_text(value: float | bytes, classes: Mapping[Any, str], most: int = 60) -> str:
    """Return the stored value of a class with its name: '3 "cat"'; of a text, the name.

    Args:
        value: the value.
        classes: the names of classes by their values.
        most: so many characters of a name are shown.
    """
    known = value in classes
    if known and classes[value] == str(value):
        return classes[value]
    if isinstance(value, bytes):
        shown = quoted(classes[value] if known else value_name(value), most)
        return shown if known else f"{shown} no class"
    name = quoted(classes[value], most) if known else "no class"
    return f"{record_value(value)} {name}"


def value_name(value: float | bytes) -> str:
    """Return a number, or the beginning of a text."""
    if isinstance(value, bytes):
        return one_line(decoded(value) or hexadecimal(value), 60)
    return record_value(value)


def unique(names: Iterable[str]) -> list[str]:
    """Return names for categories: those that look alike are numbered."""
    found: dict[str, None] = {}
    for name in names:
        label, count = name or '""', 1
        while label in found:
            count += 1
            label = f"{name} ({count})"
        found[label] = None
    return list(found)
