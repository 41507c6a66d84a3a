"""What is known of data, as facts: every presentation shows facts of this list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from ..formatting import number, percent, plural, size, sizes
from ..statistics.measures import BY_NAME, measure_text, measured
from ..statistics.numbers import Numbers, merged_numbers
from .columns import Column, Split, quantities_of
from .comparison import Difference
from .duplicates import Duplicate
from .judging import lacking_in
from .notes import notes_of, notes_of_keys, troubles_of
from .profile import Profile
from .words import share, values_of

Value = int | float | str | tuple[float, float] | None
"""A number, a text, or the least and the greatest of some numbers."""


@dataclass(frozen=True)
class Fact:
    """One thing that is known of data.

    Attributes:
        subject: the field, or the key without a schema; "" for the records themselves.
        key: the key of the subject in the files; "" likewise.
        split: the split, which is "" for files of none; None for all splits together.
        measure: what is known, such as "records", "mean" or "share".
        value: the value; None if there is none.
        unit: "files", "records", "values", "steps", "bytes", "pixels", "share" (1 is all),
            or "" for numbers of the data and texts.
        of: what is measured: "values", "lengths", "steps", "sizes", "heights" or "widths"
            of the subject; "" for the subject itself.
        category: the class, or the value, of which it is.
        other_split: the split that this one is compared with.
        mark: "leakage", "duplicates", "drift", "missing-classes" or "damage" where a
            reader should look; else "".
        note: more about it, for people.
    """

    subject: str
    key: str
    split: str | None
    measure: str
    value: Value
    unit: str = ""
    of: str = ""
    category: str | None = None
    other_split: str | None = None
    mark: str = ""
    note: str = ""

    @property
    def title(self) -> str:
        """What is known, for people: "mean of values", "share of cat"."""
        if self.measure == SHARED:
            return f"{self.of} that are in {self.other_split or 'all'} too"
        of = " of ".join(filter(None, (self.of, self.category)))
        return f"{self.measure} of {of}" if of else self.measure

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
    yield from judged_facts(profile)


def judged_facts(profile: Profile) -> Iterator[Fact]:
    """Yield what can be marked: classes, differences, duplicates, and what is wrong.

    What two datasets have in common is no duplicate.
    """
    yield from class_facts(profile)
    yield from difference_facts(profile.drifts)
    if profile.compared is None:
        yield from duplicate_facts(profile.duplicates.found)
    yield from trouble_facts(profile)


def data_facts(profile: Profile) -> Iterator[Fact]:
    """Yield the numbers of files, records and bytes."""
    fact = partial(Fact, "", "", None)
    files = profile.statistics.files
    records = sum(each.found.records for each in profile.splits)
    yield fact("files", sum(file.readable for file in files), "files")
    yield fact("records", records, "records")
    yield fact("on disk", sum(file.bytes for file in files), "bytes")


def split_facts(profile: Profile, split: Split) -> Iterator[Fact]:
    """Yield the numbers of files, records and bytes of a split, and their extent."""
    fact = partial(Fact, "", "", split.name)
    files = profile.statistics.files_of(split.name)
    compressions = sorted({file.compression or "none" for file in files})
    written = profile.statistics.written_by.get(split.name)
    yield fact("files", sum(file.readable for file in files), "files")
    yield fact("records", split.found.records, "records")
    yield fact("on disk", sum(file.bytes for file in files), "bytes")
    yield fact("compression", ", ".join(compressions))
    yield fact("record size", _range(split.found.sizes), "bytes")
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
        yield fact("steps", (min(lows), max(highs)), "steps")
    lengths = column.whole.lengths
    yield fact("length", _range(lengths) if column.kinds else None, "values")
    yield fact("values", values_of(column))


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
    return Fact(column.name, column.key, split, "present", part, "share", note=note)


def number_facts(column: Column, splits: Sequence[Split]) -> Iterator[Fact]:
    """Yield the measures of a column's values in each split, and of sizes that vary."""
    for quantity, found in quantities_of(column, splits).items():
        time = column.time_of(quantity)
        whole = merged_numbers([*found.values()])
        if not quantity.of_values and whole.constant is not None:
            continue
        for split, numbers in found.items():
            for name, value in measured(numbers).items():
                yield Fact(
                    column.name,
                    column.key,
                    split,
                    name,
                    value,
                    BY_NAME[name].unit or quantity.unit,
                    quantity.name,
                    note=measure_text(name, value, time) if time else "",
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
                    "share",
                    count / total,
                    "share",
                    category=name,
                    mark="missing-classes" if name in lacking else "",
                    note=f"{count:,} of {total:,}",
                )


def difference_facts(differences: Sequence[Difference]) -> Iterator[Fact]:
    """Yield measures of a split that differ from those of another one."""
    for each in differences:
        first, second = each.splits
        before, now = each.texts
        yield Fact(
            each.column.name,
            each.column.key,
            second.name,
            each.measure,
            each.values[1],
            "share" if each.unit == "Cohen's h" else "",
            each.of,
            each.category,
            first.name,
            "" if each.column.is_info else "drift",
            f"{now}, {before} in {first.label}; {each.effect_text}",
        )


DUPLICATES, SHARED = "duplicates", "shared"
"""Records, or values of a column, that are twice in one split, and that are in two."""


def duplicate_facts(found: Sequence[Duplicate]) -> Iterator[Fact]:
    """Yield how many records, or values of a column, are in two splits or twice in one."""
    for each in found:
        what = "values" if each.column else "records"
        both = len(each.splits) == 2
        yield Fact(
            each.column.name if each.column else "",
            each.column.key if each.column else "",
            each.splits[-1].name,
            SHARED if both else DUPLICATES,
            each.count,
            what,
            what,
            other_split=each.splits[0].name if both else None,
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
