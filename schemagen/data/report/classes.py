"""How often each class occurs in each split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...spec.model import LabelSpec, MultiLabelSpec
from ..formatting import listed, number, one_line, percent, plural
from .columns import Part, Subject
from .drawing import Bar, bars
from .view import Column, Figure, Table

MOST_FIGURES = 12
_MOST_BARS = 24
_MOST_ROWS = 1_000

# Without a schema, values look like classes if they are few and come again.
_MOST_GUESSED = 100
_AGAIN = 5


@dataclass(frozen=True)
class ClassCounts:
    """How often each class of a field occurs.

    Attributes:
        subject: the field or key.
        names: of the classes, as the page says them, all different; those that the
            schema has first.
        known: how many of them the schema has; None without one.
        counts: by split, how often each name occurs.
        per_record: whether a record has one class, and not any number.
    """

    subject: Subject
    names: tuple[str, ...]
    known: int | None
    counts: Mapping[str, Mapping[str, int]]
    per_record: bool

    def total(self, part: Part) -> int:
        """Return how many values a split has."""
        return sum(self.counts.get(part.split, {}).values())


def class_counts(subject: Subject, parts: Sequence[Part]) -> ClassCounts | None:
    """Return the counts of what is, or looks like, a class; None of anything else."""
    values = _values(subject, parts)
    if values is None:
        return None
    field = subject.field
    if field is not None and isinstance(field.kind, Label | MultiLabel):
        return _by_schema(subject, field, values)
    if field is not None or subject.steps or not _like_classes(subject, parts, values):
        return None
    order = sorted({value for counts in values.values() for value in counts})
    names = _different([_word(value) for value in order])
    of = dict(zip(order, names, strict=True))
    counts = {
        split: {of[value]: count for value, count in found.items()}
        for split, found in values.items()
    }
    return ClassCounts(subject, tuple(names), None, counts, per_record=True)


def _values(
    subject: Subject, parts: Sequence[Part]
) -> dict[str, Mapping[Any, int]] | None:
    """Return how often each value occurs by split; None where they are too many."""
    found: dict[str, Mapping[Any, int]] = {}
    for part in parts:
        kind = subject.kind_in(part)
        if kind is None:
            continue
        held = kind.numbers or kind.bytes
        if held is None or held.distinct is None:
            return None
        if kind.numbers is not None and kind.numbers.floats:
            return None
        found[part.split] = held.distinct
    kinds = {type(value) for counts in found.values() for value in counts}
    return found if len(kinds) == 1 else None


def _like_classes(
    subject: Subject,
    parts: Sequence[Part],
    values: Mapping[str, Mapping[Any, int]],
) -> bool:
    different = {value for counts in values.values() for value in counts}
    total = sum(sum(counts.values()) for counts in values.values())
    single = all(
        kind.lengths.maximum == 1
        for part in parts
        if (kind := subject.kind_in(part)) is not None
    )
    return (
        single
        and 2 <= len(different) <= _MOST_GUESSED
        and total >= _AGAIN * len(different)
        and all(_named(value) for value in different)
        and _counted_from_the_start(different)
    )


def _counted_from_the_start(different: set[int | bytes]) -> bool:
    """Tell whether numbers begin at 0 or 1, as ids of classes do, and sizes do not."""
    numbers = [value for value in different if isinstance(value, int)]
    return not numbers or min(numbers) <= 1


def _named(value: int | bytes) -> bool:
    if isinstance(value, int):
        return value >= 0
    try:
        return value.decode().isprintable()
    except UnicodeDecodeError:
        return False


def _word(value: int | bytes) -> str:
    if isinstance(value, int):
        return str(value)
    return one_line(value.decode("utf-8", "backslashreplace"), 60)


def _by_schema(
    subject: Subject,
    field: FieldSpec[Label | MultiLabel],
    values: Mapping[str, Mapping[Any, int]],
) -> ClassCounts:
    given = field.kind.class_names or tuple(
        str(index) for index in range(field.kind.count)
    )
    given = given[:_MOST_ROWS]
    names = _different([one_line(name, 60) for name in given])
    by_stored: dict[int | bytes, str] = {}
    for index, (name, shown) in enumerate(zip(given, names, strict=True)):
        by_stored[
            name.encode() if field.kind.stored == "text" else index + field.kind.offset
        ] = shown
    strangers = sorted(
        {value for counts in values.values() for value in counts} - set(by_stored),
        key=str,
    )
    further = _different([*names, *(f"not a class: {_word(v)}" for v in strangers)])
    by_stored |= dict(zip(strangers, further[len(names) :], strict=True))
    counts = {
        split: {by_stored[value]: count for value, count in found.items()}
        for split, found in values.items()
    }
    single = isinstance(field.kind, Label)
    return ClassCounts(subject, tuple(further), len(names), counts, single)


def _different(names: Sequence[str]) -> list[str]:
    """Return names that are all different: those that look alike get a number."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        name = name or '""'
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return found


def class_figure(classes: ClassCounts, parts: Sequence[Part]) -> Figure:
    """Draw how the classes share the values of each split."""
    shown = [part for part in parts if part.drawn and classes.total(part)]
    totals = {part.split: classes.total(part) for part in parts}
    whole = _whole(classes)
    ordered = list(classes.names)
    if len(ordered) > _MOST_BARS:
        ordered.sort(key=lambda name: -whole.get(name, 0))
    top, rest = ordered[:_MOST_BARS], ordered[_MOST_BARS:]
    drawn = []
    for name in top:
        for part in shown:
            count = classes.counts[part.split].get(name, 0)
            drawn.append(_bar(name, part, count, totals[part.split]))
    if rest:
        for part in shown:
            count = sum(classes.counts[part.split].get(name, 0) for name in rest)
            word = f"{len(rest):,} others"
            drawn.append(_bar(word, part, count, totals[part.split]))
    subject = classes.subject
    what = "Share of each class" if classes.per_record else "Share of all labels"
    label = f"{what} of {subject.name}, in {listed([part.name for part in shown])}"
    plot = bars(drawn, max(1, len(shown)), label) if drawn else None
    return Figure(
        title=subject.name,
        kind=subject.words if subject.field else f"{subject.words}, looks like a class",
        plots=((what, plot),) if plot else (),
        facts=(),
        notes=tuple(_notes(classes, whole)),
        table=_table(classes, parts, ordered),
        wide=len(drawn) > 40,
    )


def _bar(name: str, part: Part, count: int, total: int) -> Bar:
    hint = f"{name}: {count:,} in {part.name}, {percent(count / total)}"
    return Bar(name, part.series, count / total, hint)


def _whole(classes: ClassCounts) -> dict[str, int]:
    found: dict[str, int] = {}
    for counts in classes.counts.values():
        for name, count in counts.items():
            found[name] = found.get(name, 0) + count
    return found


def _notes(classes: ClassCounts, whole: Mapping[str, int]) -> list[str]:
    notes = []
    known = classes.names[: classes.known] if classes.known else classes.names
    never = [name for name in known if not whole.get(name)]
    there = sorted((whole[name], name) for name in known if whole.get(name))
    if never:
        notes.append(f"Never there: {listed(never)}.")
    if len(there) > 1:
        (least, rare), (most, frequent) = there[0], there[-1]
        ratio = most / least
        if ratio >= 1.5:
            notes.append(
                f"{frequent} is {number(round(ratio, 1))} times as frequent as {rare}, "
                f"which is there {plural(least, 'time')}."
            )
        else:
            notes.append(
                f"Balanced: between {least:,} ({rare}) and {most:,} ({frequent})."
            )
    if classes.known is not None and len(classes.names) > classes.known:
        strangers = classes.names[classes.known :]
        notes.append(f"Outside of the schema: {listed(strangers)}.")
    return notes


def _table(
    classes: ClassCounts, parts: Sequence[Part], ordered: Sequence[str]
) -> Table:
    rows = []
    for name in ordered[:_MOST_ROWS]:
        cells = [name]
        for part in parts:
            count = classes.counts.get(part.split, {}).get(name, 0)
            total = classes.total(part)
            cells += [f"{count:,}", percent(count / total) if total else "–"]
        rows.append(tuple(cells))
    columns = [Column("Class")]
    for part in parts:
        prefix = f"{part.name}: " if len(parts) > 1 else ""
        columns += [Column(f"{prefix}count", True), Column(f"{prefix}share", True)]
    return Table(
        f"How often each class of {classes.subject.name} occurs",
        tuple(columns),
        tuple(rows),
        max(0, len(ordered) - _MOST_ROWS),
    )
