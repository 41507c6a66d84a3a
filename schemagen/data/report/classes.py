"""The frequency of each class in each split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...kinds.label import Label
from ...kinds.multilabel import MultiLabel
from ..formatting import listed, number, one_line, plural, share
from ..statistics.histograms import summed
from .charts import Bar, Figure, Table, bars, unique
from .columns import Column, Split

_MOST_BARS = 24
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
        names: unique names of the classes; those of the schema first.
        known: the number of classes in the schema; None without a schema.
        counts: the frequency of each name, by split.
    """

    column: Column
    names: tuple[str, ...]
    known: int | None
    counts: Mapping[str, Mapping[str, int]]

    def of(self, split: Split) -> Mapping[str, int]:
        """Return the frequency of each name in a split."""
        return self.counts.get(split.name, {})


def class_counts(column: Column, splits: Sequence[Split]) -> ClassCounts | None:
    """Return the counts of classes, or of values that look like classes, or None."""
    values = _values(column, splits)
    if values is None:
        return None
    different = {value for counts in values.values() for value in counts}
    field, names, known = column.field, dict[int | bytes, str](), None
    if field is not None and isinstance(field.kind, Label | MultiLabel):
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
    elif field is None and _like_classes(column, values):
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
    """Tell single texts, and ids from 0 or 1, that are few and come again."""
    counts = summed(values.values())
    numbers = [value for value in counts if isinstance(value, int)]
    return (
        not column.steps
        and column.whole.lengths.maximum == 1
        and 2 <= len(counts) <= _MOST_GUESSED
        and sum(counts.values()) >= _AGAIN * len(counts)
        and (not numbers or min(numbers) in (0, 1))
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


def class_figure(classes: ClassCounts, splits: Sequence[Split]) -> Figure:
    """Draw the share of each class in each split."""
    column, whole = classes.column, summed(classes.counts.values())
    names = list(classes.names)
    if len(names) > _MOST_BARS:
        names.sort(key=lambda name: -whole.get(name, 0))
    groups = {name: [name] for name in names[:_MOST_BARS]}
    if rest := names[_MOST_BARS:]:
        groups[f"{len(rest):,} others"] = rest
    shown = [
        split for split in splits if split.drawn and any(classes.of(split).values())
    ]
    drawn = []
    for label, group in groups.items():
        for split in shown:
            counts = classes.of(split)
            count, total = sum(counts.get(n, 0) for n in group), sum(counts.values())
            hint = f"{label}: {count:,} in {split.label}, {share(count, total)}"
            drawn.append(Bar(label, split.series, count / total, hint))
    field = column.field
    several = field is not None and isinstance(field.kind, MultiLabel)
    what = "Share of all labels" if several else "Share of each class"
    label = f"{what} of {column.name}, in {listed([split.label for split in shown])}"
    return Figure(
        title=column.name,
        kind=column.type if column.field else f"{column.type}, looks like a class",
        plots=[(what, bars(drawn, len(shown), label))] if drawn else [],
        notes=_notes(classes, whole),
        table=_table(classes, splits, names),
        wide=len(drawn) > 40,
    )


def _notes(classes: ClassCounts, whole: Mapping[str, int]) -> list[str]:
    notes = []
    known = classes.names[: classes.known]
    never = [name for name in known if not whole.get(name)]
    there = sorted((whole[name], name) for name in known if whole.get(name))
    if never:
        notes.append(f"Never there: {listed(never)}.")
    if len(there) > 1:
        (least, rare), (most, frequent) = there[0], there[-1]
        if most / least >= 1.5:
            notes.append(
                f"{frequent} is {number(round(most / least, 1))} times as frequent as "
                f"{rare}, which is there {plural(least, 'time')}."
            )
        else:
            notes.append(
                f"Balanced: between {least:,} ({rare}) and {most:,} ({frequent})."
            )
    if unknown := classes.names[len(known) :]:
        notes.append(f"Outside of the schema: {listed(unknown)}.")
    return notes


def _table(
    classes: ClassCounts, splits: Sequence[Split], names: Sequence[str]
) -> Table:
    titles = ["Class"]
    rows = [[name] for name in names]
    for split in splits:
        prefix = f"{split.label}: " if len(splits) > 1 else ""
        titles += [f"{prefix}count", f"{prefix}share"]
        counts, total = classes.of(split), sum(classes.of(split).values())
        for row in rows:
            count = counts.get(row[0], 0)
            row += [f"{count:,}", share(count, total)]
    caption = f"How often each class of {classes.column.name} occurs"
    return Table(caption, titles, rows, range(1, len(titles)))
