"""What is known of data, as facts: every presentation shows facts of this list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ..formatting import number, plural, share, size, sizes
from ..statistics.numbers import BY_NAME, NumericStatistics, measured, merged_numbers
from ..statistics.style import measure_texts
from .associations import INFORMATION, Association, Associations, leakage_text
from .columns import DURATIONS, ColumnProfile, SplitProfile, label_of, quantities_of
from .comparison import Difference
from .duplicates import Duplicate
from .judging import lacking_in
from .notes import notes_of, notes_of_keys, troubles_of
from .profile import Profile
from .words import values_of

Value = int | float | str | tuple[int | float, int | float] | None
"""A number, a text, or the least and the greatest of some numbers."""


DISTANCE = "distance"
"""The unit of differences between distributions."""


@dataclass(frozen=True)
class Fact:
    """One thing that is known of data.

    Attributes:
        subject: the field, or the key without a schema; "" for the records themselves.
        key: the key of the subject in the files; "" likewise.
        split: the split, which is "" for files of none; None for all splits together.
        measure: what is known, such as "records", "mean" or "share".
        value: the value; None if there is none.
        unit: "files", "records", "values", "steps", "bytes", "pixels", "seconds", "Hz",
            "share" (1 is all), "distance" (0 to 1), or "" for numbers of the data and
            texts.
        of: what is measured: "values", "lengths", "steps", "sizes", "heights", "widths",
            "durations", "means" or "presence" of the subject; "" for the subject itself.
        category: the class or the value of which it is, or the target.
        other_split: the split that this one is compared with.
        mark: "leakage", "duplicates", "drift", "missing-classes", "target-leakage" or
            "damage" where a reader should look; else "".
        note: more about it, for people.
        shown: the value for people, where value and unit do not tell: of times, ids and
            bools, and of numbers that differ in their last digits.
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
    shown: str = ""

    @property
    def title(self) -> str:
        """What is known, for people: "mean of values", "share of cat"."""
        if self.measure == SHARED:
            other = f"in {self.other_split or 'all'} too"
            if self.category is not None:
                return f"records with {self.category}, which is {other}"
            if self.subject and self.unit == "records":
                return f"records whose value is {other}"
            return f"{self.of} that are {other}"
        if self.unit == DISTANCE:
            return f"share of {self.category}" if self.category else self.of
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
        if self.shown:
            return self.shown
        match self.value:
            case None:
                return ""
            case str():
                return self.value
            case (low, high) if self.unit == "bytes":
                return sizes(int(low), int(high))
            case (low, high) if low == high:
                return number(low)
            case (low, high):
                return f"{number(low)} to {number(high)}"
            case _ if self.unit == "share":
                return share(self.value)
            case _ if self.unit == DISTANCE or self.measure == INFORMATION:
                return f"{self.value:.2f}"
            case _:
                return (
                    size(self.value) if self.unit == "bytes" else number(self.value, 4)
                )


def facts_of(profile: Profile) -> Iterator[Fact]:
    """Yield all facts that have a value.

    Those of the data come first, then of its splits, its columns, then what is marked.
    """
    return (fact for fact in _facts(profile) if fact.value not in (None, ""))


def _facts(profile: Profile) -> Iterator[Fact]:
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
        yield from sound_facts(column, profile.splits)
    yield from judged_facts(profile)


def judged_facts(profile: Profile) -> Iterator[Fact]:
    """Yield what can be marked: classes, differences, duplicates, and what is wrong."""
    yield from class_facts(profile)
    yield from difference_facts(profile.drifts)
    yield from duplicate_facts(profile.duplicates.found)
    for target in profile.associations:
        yield from association_facts(profile, target, target.features)
    yield from trouble_facts(profile)


def data_facts(profile: Profile) -> Iterator[Fact]:
    """Yield the numbers of files, records and bytes."""
    fact = partial(Fact, "", "", None)
    files = profile.statistics.files
    records = sum(each.found.records for each in profile.splits)
    yield fact("files", sum(file.readable for file in files), "files")
    yield fact("records", records, "records")
    yield fact("on disk", sum(file.bytes for file in files), "bytes")


def split_facts(profile: Profile, split: SplitProfile) -> Iterator[Fact]:
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


def declared_facts(column: ColumnProfile) -> Iterator[Fact]:
    """Yield what a schema says of a column. This imports the words of schemas."""
    fact = partial(Fact, column.name, column.key, None)
    declared = column.declared
    optional = declared.optional if declared else False
    text = column.kind + ", optional" * optional
    yield fact("declared as", text if declared else column.part)
    yield fact("optional", "yes" if optional else "no" if declared else None)
    yield fact("in a batch", column.batch)
    yield fact("role", declared.role if declared else None)
    yield fact("description", declared.doc if declared else None)


MISSING = "missing"
"""The records of a split that do not have a column."""


def column_facts(profile: Profile, column: ColumnProfile) -> Iterator[Fact]:
    """Yield what a column is in all splits together, and in which records it is missing."""
    fact = partial(Fact, column.name, column.key, None)
    yield fact("key", column.key if column.is_renamed else None)
    yield fact("kind", column.kinds[0] if column.kinds else "-")
    for split in profile.splits:
        missing, read = column.missing_in(split), split.found.read
        note = share(missing, read) if missing else ""
        yield replace(fact(MISSING, missing, "records", note=note), split=split.name)
    yield _present(column, profile.described)
    if column.steps:
        counts = [_range(each) for each in column.step_counts.values()]
        some = [each for each in counts if each is not None]
        lows, highs = zip(*some, strict=True) if some else ((0,), (0,))
        yield fact("steps", (min(lows), max(highs)), "steps")
    lengths = column.whole.lengths
    yield fact("length", _range(lengths) if column.kinds else None, "values")
    yield fact("values", values_of(column))


def texts_of(facts: Iterable[Fact]) -> dict[str, str]:
    """Return the values of facts about one subject, for people, by measure.

    The records in which it is missing are those of each split that has any.
    """
    facts = [*facts]
    missing = [
        f"{label_of(each.split or '')} {each.count:,} ({each.note})"
        for each in facts
        if each.measure == MISSING and each.value
    ]
    texts = {each.measure: each.text for each in facts}
    return {**texts, MISSING: ", ".join(missing)}


def _present(
    column: ColumnProfile, splits: Sequence[SplitProfile], split: str | None = None
) -> Fact:
    read = sum(split.found.read for split in splits)
    present = sum(column.present.get(split.name, 0) for split in splits)
    note = f"{present:,} of {plural(read, 'record')}"
    part = present / read if read else 0.0
    return Fact(column.name, column.key, split, "present", part, "share", note=note)


def number_facts(
    column: ColumnProfile, splits: Sequence[SplitProfile]
) -> Iterator[Fact]:
    """Yield the measures of a column's values in each split, and of sizes that vary."""
    for quantity, found in quantities_of(column, splits).items():
        style = column.style_of(quantity)
        whole = merged_numbers([*found.values()])
        if not quantity.of_values and whole.constant is not None:
            continue
        for split, numbers in found.items():
            texts = measure_texts(numbers, style)
            for name, value in measured(numbers).items():
                yield Fact(
                    column.name,
                    column.key,
                    split,
                    name,
                    value,
                    BY_NAME[name].unit or quantity.unit,
                    quantity.name,
                    shown=texts[name],
                )


def sound_facts(
    column: ColumnProfile, splits: Sequence[SplitProfile]
) -> Iterator[Fact]:
    """Yield rates and channels of sound, how long it is, and what is clipped or silent."""
    for split in splits:
        kind = column.kind_in(split)
        found = kind.contents if kind else None
        if found is None or not found.seconds.count:
            continue
        fact = partial(Fact, column.name, column.key, split.name)
        unit = "records" if column.is_single else "values"
        for name, what in (("rate", "Hz"), ("channels", "")) if found.sounds else ():
            every = [getattr(sound, name) for sound in found.sounds or ()]
            yield fact(name, (min(every), max(every)), what)
        yield fact("total", float(found.seconds.total), "seconds", DURATIONS.name)
        if found.heard:
            note = f"of {plural(found.heard, 'sound')} that were decoded"
            yield fact("clipped", found.clipped, unit, note=note)
            yield fact("silent", found.silent, unit, note=note)


def class_facts(profile: Profile) -> Iterator[Fact]:
    """Yield how often each class is in each split, and its share of all."""
    for counted in profile.classes:
        missing = lacking_in(profile, counted)
        for split in profile.splits:
            counts = counted.counts.get(split.name, {})
            total = sum(counts.values())
            lacking = missing.get(split.name, [])
            unit = "records" if counted.column.is_single else "values"
            for name in counted.classes if total else ():
                count = counts.get(name, 0)
                fact = partial(
                    Fact,
                    counted.name,
                    counted.column.key,
                    split.name,
                    category=name,
                )
                yield fact(unit, count, unit)
                yield fact(
                    "share",
                    count / total,
                    "share",
                    mark="missing-classes" if name in lacking else "",
                    note=f"{count:,} of {total:,}",
                )


def difference_facts(differences: Sequence[Difference]) -> Iterator[Fact]:
    """Yield how far the distributions of a split are from those of another one."""
    for each in differences:
        first, second = each.splits
        yield Fact(
            each.column.name,
            each.column.key,
            second.name,
            each.measure,
            each.distance,
            DISTANCE,
            each.of,
            each.category,
            first.name,
            "drift" if each.marked else "",
            each.in_words,
        )


DUPLICATES, SHARED = "duplicates", "shared"
"""Records, or values of a column, that are twice in one split, and that are in two."""


def duplicate_facts(found: Sequence[Duplicate]) -> Iterator[Fact]:
    """Yield how many records, or values of a column, are in two splits or twice in one.

    Of groups, also in how many records of the later split they are, together and each.
    """
    for each in found:
        what = "values" if each.column else "records"
        both = len(each.splits) == 2
        fact = partial(
            Fact,
            each.column.name if each.column else "",
            each.column.key if each.column else "",
            each.splits[-1].name,
            SHARED if both else DUPLICATES,
            of=what,
            other_split=each.splits[0].name if both else None,
        )
        note = each.named or each.example
        yield fact(value=each.count, unit=what, mark=each.mark, note=note)
        if each.values:
            yield fact(value=each.records, unit="records", note=each.example)
        for value in each.values:
            yield fact(value=value.records, unit="records", category=value.name)


def association_facts(
    profile: Profile, target: Associations, found: Sequence[Association]
) -> Iterator[Fact]:
    """Yield how well features tell a target, the strongest first."""
    for each in found:
        column = each.feature.column
        bins = f"{plural(each.bins, 'bin')}, {plural(each.records, 'record')}"
        words = leakage_text(target.target, each) if each.marked else ""
        yield Fact(
            column.name,
            column.key,
            profile.splits[0].name,
            INFORMATION,
            each.strength,
            of=each.feature.of,
            category=target.target.column.name,
            mark="target-leakage" if each.marked else "",
            note="; ".join(filter(None, (bins, words))),
        )


def trouble_facts(profile: Profile) -> Iterator[Fact]:
    """Yield what is wrong with files."""
    mark = "" if profile.statistics.sound else "damage"
    for text in troubles_of(profile.statistics):
        yield Fact("", "", None, "trouble", text, mark=mark)


def _range(found: NumericStatistics) -> tuple[float, float] | None:
    if found.minimum is None or found.maximum is None:
        return None
    return found.minimum, found.maximum
