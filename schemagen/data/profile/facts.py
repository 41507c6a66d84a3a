"""What is known of data, as facts: every presentation shows facts of this list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ..formatting import number, percent, plural, size, sizes
from ..statistics.numbers import Numbers
from .classes import declared_classes
from .columns import Column, Split, measures_of
from .comparison import Difference
from .judging import lacking_in
from .profile import Profile
from .repetitions import Repetition
from .troubles import notes_of, notes_of_keys, troubles_of
from .words import extent, measure_text, measures_in, share, values_text

Value = int | float | str | tuple[float, float] | None
"""A number, a text, or the least and the greatest of some numbers."""


@dataclass(frozen=True)
class Fact:
    """One thing that is known of data.

    Attributes:
        subject: the field, or the key without a schema; "" for the records themselves.
        key: the key of the subject in the files; "" likewise.
        split: the split, which is "" for files of none; None for all splits together.
        name: what is known, such as "records" or "mean of values".
        value: the value; None if there is none.
        unit: "bytes", "share" (1 is all), or "" for counts, numbers of the data and texts.
        mark: "leakage", "duplicates", "drift", "missing-classes" or "damage" where a
            reader should look; else "".
        note: more about it, for people.
    """

    subject: str
    key: str
    split: str | None
    name: str
    value: Value
    unit: str = ""
    mark: str = ""
    note: str = ""

    @property
    def count(self) -> int:
        """The value, of a fact that counts."""
        assert isinstance(self.value, int)
        return self.value

    @property
    def text(self) -> str:
        """The value, for people."""
        match self.value:
            case None:
                return ""
            case str():
                return self.value
            case (low, high) if self.unit == "bytes":
                return sizes(int(low), int(high))
            case (low, high):
                return (
                    number(low) if low == high else f"{number(low)} to {number(high)}"
                )
            case _ if self.unit == "share":
                return share(self.value, 1)
            case _:
                return (
                    size(self.value) if self.unit == "bytes" else number(self.value, 4)
                )


def facts_of(profile: Profile) -> Iterator[Fact]:
    """Yield all facts: of the data, its splits, its columns, then what is marked."""
    yield from data_facts(profile)
    for note in (*notes_of(profile), *notes_of_keys(profile.whole)):
        yield Fact("", "", None, "note", note)
    for split in profile.splits:
        yield from split_facts(profile, split)
    for column in profile.columns:
        yield from declared_facts(column)
        yield from column_facts(profile, column)
        for split in profile.splits:
            if split.name in column.found:
                yield _present(column, [split], split.name)
        yield from number_facts(column, profile.splits)
    yield from class_facts(profile)
    yield from difference_facts(profile.drifts)
    yield from repetition_facts(profile.repetitions.found)
    yield from trouble_facts(profile)


def data_facts(profile: Profile) -> Iterator[Fact]:
    """Yield the numbers of files, records and bytes."""
    fact = partial(Fact, "", "", None)
    files = profile.statistics.files
    yield fact("files", sum(file.readable for file in files))
    yield fact("records", sum(each.found.records for each in profile.splits))
    yield fact("on disk", sum(file.bytes for file in files), "bytes")


def split_facts(profile: Profile, split: Split) -> Iterator[Fact]:
    """Yield the numbers of files, records and bytes of a split, and their extent."""
    fact = partial(Fact, "", "", split.name)
    files = profile.statistics.files_of(split.name)
    compressions = sorted({file.compression or "none" for file in files})
    written = profile.statistics.written_by.get(split.name)
    extent = _range(split.found.sizes)
    yield fact("files", sum(file.readable for file in files))
    yield fact("records", split.found.records)
    yield fact("on disk", sum(file.bytes for file in files), "bytes")
    yield fact("compression", ", ".join(compressions))
    yield fact("record size", extent, "bytes")
    yield fact("fingerprint", written.fingerprint if written else None)


def declared_facts(column: Column) -> Iterator[Fact]:
    """Yield what a schema says of a column. This imports the words of schemas."""
    fact = partial(Fact, column.name, column.key, None)
    declared = column.declared
    optional = ", optional" if declared and declared.optional else ""
    yield fact("declared as", column.kind + optional if declared else column.part)
    yield fact("in a batch", column.batch)
    yield fact("role", declared.role if declared else None)
    yield fact("description", declared.doc if declared else None)


def column_facts(profile: Profile, column: Column) -> Iterator[Fact]:
    """Yield what a column is in all splits together, its values in words."""
    fact = partial(Fact, column.name, column.key, None)
    yield fact("key", column.key if column.key != column.name else None)
    yield fact("kind", column.kinds[0] if column.kinds else "-")
    yield fact("missing", _missing(column, profile.splits))
    yield _present(column, profile.described)
    if column.steps:
        counts = [_range(each) for each in column.step_counts.values()]
        some = [each for each in counts if each is not None]
        lows, highs = zip(*some, strict=True) if some else ((0,), (0,))
        yield fact("steps", (min(lows), max(highs)))
    lengths = column.whole.lengths
    yield fact("length", _range(lengths) if column.kinds else None)
    yield fact("values", values_of(column))


def values_of(column: Column) -> str:
    """Return what the values of a column are, in words."""
    whole, field = column.whole, column.field
    kinds = [each.by_kind for each in column.found.values()]
    total = sum(held.present for each in kinds for held in each.values())
    if not column.found:
        return ""
    if not column.kinds:
        return "no steps" if column.steps and not total else "never a list"
    if whole.bytes and field and field.parts[0].encoding == "raw":
        return f"{extent(whole.bytes.sizes)} bytes"
    classes = declared_classes(field) if field and field.codec.of_classes else None
    text = values_text(whole, classes, column.time)
    if column.steps and whole.present != total:
        return f"in {percent(whole.present, total, space='')} of the steps; {text}"
    return text


def _missing(column: Column, splits: Sequence[Split]) -> str:
    """Return in how many records of which splits it is missing."""
    return ", ".join(
        f"{split.label} {missing:,} ({percent(missing, split.found.read)})"
        for split in splits
        if (missing := column.missing_in(split))
    )


def _present(column: Column, splits: Sequence[Split], split: str | None = None) -> Fact:
    read = sum(split.found.read for split in splits)
    present = sum(column.present.get(split.name, 0) for split in splits)
    note = f"{present:,} of {plural(read, 'record')}"
    part = present / read if read else 0.0
    return Fact(column.name, column.key, split, "in", part, "share", "", note)


def number_facts(column: Column, splits: Sequence[Split]) -> Iterator[Fact]:
    """Yield the measures of a column's values in each split, and of sizes that vary."""
    for what, found in measures_of(column, splits).items():
        time = column.time if what == "values" else None
        for split, numbers in found.items():
            if what != "values" and numbers.constant is not None:
                continue
            for measure, value in measures_in(numbers).items():
                note = measure_text(measure, value, time) if time else ""
                yield Fact(
                    column.name,
                    column.key,
                    split,
                    f"{measure} of {what}",
                    value,
                    note=note,
                )


def class_facts(profile: Profile) -> Iterator[Fact]:
    """Yield the share of each class in each split."""
    for counted in profile.classes:
        for split in profile.splits:
            counts = counted.counts.get(split.name, {})
            total = sum(counts.values())
            lacking = {*lacking_in(counted, split)} if counted.likely else set()
            for name in counted.classes if total else ():
                count = counts.get(name, 0)
                yield Fact(
                    counted.name,
                    counted.column.key,
                    split.name,
                    f"share of {name}",
                    count / total,
                    "share",
                    "missing-classes" if name in lacking else "",
                    f"{count:,} of {total:,}",
                )


def difference_facts(differences: Sequence[Difference]) -> Iterator[Fact]:
    """Yield measures of a split that differ from those of another one."""
    for each in differences:
        fact = partial(Fact, each.column.name, each.column.key)
        first, second = each.splits
        time = each.column.time_of(each.measure.partition(" of ")[2])
        unit = "share" if each.unit == "Cohen's h" else ""
        mark = "" if each.column.is_info else "drift"
        before, now = (
            fact(second.name, each.measure, value, unit, mark)
            for value in (each.texts if time else each.values)
        )
        note = f"{before.text} in {first.label}; {each.effect_text}"
        yield replace(now, note=note)


def repetition_facts(repetitions: Sequence[Repetition]) -> Iterator[Fact]:
    """Yield how many records, or values of a column, are in two splits or twice in one."""
    for each in repetitions:
        what = "values" if each.column else "records"
        name = f"{what} repeated"
        if len(each.splits) == 2:
            name = f"{what} that are in {each.splits[0].label} too"
        yield Fact(
            each.column.name if each.column else "",
            each.column.key if each.column else "",
            each.splits[-1].name,
            name,
            each.count,
            mark=each.mark,
            note=each.example,
        )


def trouble_facts(profile: Profile) -> Iterator[Fact]:
    """Yield what is wrong with files."""
    mark = "" if profile.statistics.sound else "damage"
    for text in troubles_of(profile.statistics):
        yield Fact("", "", None, "trouble", text, mark=mark)


def _range(found: Numbers) -> tuple[float, float] | None:
    if found.minimum is None or found.maximum is None:
        return None
    return found.minimum, found.maximum
