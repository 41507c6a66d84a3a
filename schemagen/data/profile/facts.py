"""What is known of data, as facts: every presentation shows facts of this list.

Values, troubles and what is unusual are facts in words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from ...display.blocks import printable
from ...runtime.cells.columns import WRITE_EXAMPLES
from ...runtime.cells.tensor_proto import TensorHead
from ...runtime.shared.times import Time
from ..foreign import NO_KEY
from ..formatting import key_name, number, percent, plural, quoted, size, sizes
from ..framing import Damage
from ..layouts import listed_names
from ..statistics.bytes_values import (
    EMPTY,
    IMAGES,
    TENSOR,
    TEXT,
    BytesValues,
    Picture,
    content_of,
)
from ..statistics.model import (
    MOST_KEYS,
    DataStatistics,
    FileStatistics,
    KindStatistics,
    RecordStatistics,
)
from ..statistics.numbers import DISTINCT, Numbers, quantile
from .classes import declared_classes
from .columns import Column, Split, measures_of
from .comparison import Difference
from .judging import lacking_in
from .profile import Profile
from .repetitions import Repetition

# So many different values are listed with their shares, and so many texts, of which
# each takes so many columns.
_LISTED = 6
_TEXTS = 4
_TEXT_COLUMNS = 24

# Above this share it is worth a word that values are zero.
_MANY_ZEROS = 0.5


MEASURES: Mapping[str, Callable[[Numbers], int | float | None]] = {
    "minimum": lambda found: found.minimum,
    "5 %": lambda found: quantile(found, 0.05),
    "median": lambda found: quantile(found, 0.5),
    "95 %": lambda found: quantile(found, 0.95),
    "maximum": lambda found: found.maximum,
    "mean": lambda found: found.mean,
    "standard deviation": lambda found: found.deviation,
}
"""What is stated of finite numbers. Quantiles of many values are estimates."""

# The measures that a line of text has.
_IN_WORDS = ("mean",)

# Measures that are no values themselves, but distances between some.
_SPREADS = ("standard deviation",)


def measures_in(found: Numbers) -> dict[str, int | float]:
    """Return the measures of numbers by name; those of integers are whole, if they are."""
    measured = {name: of(found) for name, of in MEASURES.items()}
    return {
        name: value if found.floats or value != int(value) else int(value)
        for name, value in measured.items()
        if value is not None
    }


def measure_text(name: str, value: float, time: Time | None = None) -> str:
    """Return a measure of numbers, or of times, for people."""
    if time is None:
        return number(value, 4)
    return time._replace(duration=time.duration or name in _SPREADS).text(value)


def extent(found: Numbers, shown: Callable[[float], str] = number) -> str:
    """Return from where to where numbers reach: "5", "0 to 32"."""
    if found.minimum is None or found.maximum is None:
        return "none"
    low, high = shown(found.minimum), shown(found.maximum)
    return low if found.minimum == found.maximum else f"{low} to {high}"


def share(part: float, whole: float) -> str:
    """Return a part as "all", or in percent."""
    return "all" if part == whole else percent(part, whole, space="")


def values_text(
    found: KindStatistics,
    classes: Mapping[int, str] | None = None,
    time: Time | None = None,
) -> str:
    """Describe the values of a key and kind.

    Args:
        found: what is known of them.
        classes: the names of integers, if they are ids of classes.
        time: what integers are, if they are times.
    """
    parts = []
    if classes and found.numbers is not None and found.numbers.distinct:
        parts += _ids(found.numbers.distinct, classes)
    elif found.numbers is not None:
        parts += _numbers(found.numbers, time.text if time else number)
    if found.contents is not None:
        parts += _bytes(found.contents)
    if found.lengths.zeros and found.lengths.maximum:
        parts.append(plural(found.lengths.zeros, "empty list"))
    return "; ".join(parts)


def _ids(counts: Mapping[int, int], classes: Mapping[int, str]) -> list[str]:
    """Return the most frequent classes, with their ids and names."""
    total = sum(counts.values())
    most = sorted(counts, key=lambda value: (-counts[value], value))
    shown = []
    for value in most[:_LISTED]:
        known = value in classes
        name = quoted(classes[value], _TEXT_COLUMNS) if known else "no class"
        shown.append(f"{value} {name} ({share(counts[value], total)})")
    return [", ".join(shown) + (", ..." if len(most) > _LISTED else "")]


def _numbers(found: Numbers, shown: Callable[[float], str]) -> list[str]:
    parts = []
    distinct = found.distinct
    if found.constant is not None:
        parts.append(f"always {shown(found.constant)}")
    elif distinct is not None and 1 < len(distinct) <= _LISTED:
        shares = (
            f"{shown(value)} ({share(count, found.finite)})"
            for value, count in sorted(distinct.items())
        )
        parts.append(", ".join(shares))
    elif found.minimum is not None and found.minimum == found.maximum:
        parts.append(shown(found.minimum))
    elif found.minimum is not None:
        measures = ""
        if shown is number:
            measures = "".join(
                f", {name} {number(MEASURES[name](found) or 0.0, 4)}"
                for name in _IN_WORDS
            )
        parts.append(f"{extent(found, shown)}{measures}")
        parts += _diversity(found)
    if found.nan:
        parts.append(f"{found.nan:,} NaN")
    for many, name in zip(found.infinite, ("-inf", "inf"), strict=True):
        if many:
            parts.append(f"{many:,} {name}")
    return parts


def _diversity(found: Numbers) -> list[str]:
    parts = []
    if found.distinct is not None:
        parts.append(f"{len(found.distinct):,} different")
    elif not found.floats:
        parts.append(f"more than {DISTINCT:,} different")
    if found.floats and found.whole == found.finite:
        parts.append("whole numbers")
    if found.zeros > _MANY_ZEROS * found.finite:
        parts.append(f"{share(found.zeros, found.finite)} zeros")
    return parts


def _bytes(found: BytesValues) -> list[str]:
    if not found.count:
        return []
    parts = []
    formats = sorted(found.formats.items(), key=lambda each: (-each[1], each[0]))
    for format_, count in formats:
        text = _format(found, format_)
        several = len(formats) > 1
        parts.append(f"{text} ({share(count, found.count)})" if several else text)
    few = found.distinct is not None and len(found.distinct) <= _TEXTS
    all_listed = few and set(found.formats) <= {TEXT, EMPTY}
    low, high = int(found.sizes.minimum or 0), int(found.sizes.maximum or 0)
    if high and not all_listed:
        same = f"always {plural(high, 'byte')}"
        parts.append(same if low == high else sizes(low, high))
    if found.troubles is None:
        parts.append("many that are not complete images")
    else:
        parts += [f"{many:,} {why}" for why, many in sorted(found.troubles.items())]
    if found.orientations:
        parts.append(f"{sum(found.orientations.values()):,} turned by EXIF")
    return parts


def _format(found: BytesValues, format_: str) -> str:
    if format_ in IMAGES:
        return _pictures(found, format_)
    if format_ == TENSOR:
        return _tensors(found.tensors)
    return _texts(found) if format_ == TEXT else format_


def _pictures(found: BytesValues, format_: str) -> str:
    """Describe the pictures of a format, by the sizes of all formats."""
    if found.pictures is not None:
        some = [each for each in found.pictures if each.format == format_]
        if len(some) < 2:
            return picture_text(some[0]) if some else format_
    high, wide = extent(found.heights), extent(found.widths)
    many = " or ".join(map(str, sorted(found.channels)))
    return f"{format_} {high} high, {wide} wide, {many} channels"


def picture_text(found: Picture) -> str:
    deep = f", {found.bits} bits" if found.bits != 8 else ""
    return f"{found.format} {found.height}x{found.width}x{found.channels}{deep}"


def _tensors(tensors: Mapping[TensorHead, int] | None) -> str:
    if tensors is None:
        return "tensors of many shapes"
    if len(tensors) == 1:
        return tensor_text(next(iter(tensors)))
    dtypes = "/".join(sorted({tensor.dtype for tensor in tensors}))
    return f"tensor {dtypes} of {len(tensors):,} shapes"


def tensor_text(head: TensorHead) -> str:
    if head.shape is None:
        return f"tensor {head.dtype} of unknown rank"
    return f"tensor {head.dtype} [{', '.join(map(str, head.shape))}]"


def _texts(found: BytesValues) -> str:
    if found.distinct is None:
        return "text"
    texts = {
        value.decode(): count
        for value, count in sorted(found.distinct.items())
        if content_of(value).format == TEXT
    }
    total = sum(texts.values())
    most = sorted(texts, key=lambda text: -texts[text])
    if len(most) == 1:
        return f"text, always {quoted(most[0], _TEXT_COLUMNS)}"
    if texts[most[0]] == 1 and total > _TEXTS:
        return f"text, all {len(most):,} different"
    shown = ", ".join(
        f"{quoted(text, _TEXT_COLUMNS)} ({share(texts[text], total)})"
        for text in most[:_TEXTS]
    )
    if len(most) <= _TEXTS:
        return f"text {shown}"
    return f"text, {len(most):,} different: {shown}, ..."


LISTED = 20
"""So many rows, files and damages are listed for people."""


def notes_of(profile: Profile) -> Iterator[str]:
    """Yield what else is known of all files."""
    found = profile.statistics
    if found.limit is not None:
        yield f"read: the first {plural(found.limit, 'record')} of each split"
    for record, fingerprint in dict.fromkeys(
        (written.record, written.fingerprint) for written in found.written_by.values()
    ):
        yield (
            f"written by the record {printable(record)}, "
            f"fingerprint {printable(fingerprint)}, says manifest.json"
        )
    if found.unlisted:
        names = ", ".join(key_name(name) for name in found.unlisted[:LISTED])
        more = ", ..." if len(found.unlisted) > LISTED else ""
        yield f"not in manifest.json, and not read: {names}{more}"
    if found.other_files:
        yield f"not looked at: {listed_names(found.other_files)}"
    for gap in found.gaps[:LISTED]:
        yield f"note: {key_name(gap.split)}: {gap.text}"


def notes_of_keys(found: RecordStatistics) -> Iterator[str]:
    """Yield what is unusual about the keys."""
    if found.more_keys:
        yield f"There are more than {MOST_KEYS:,} keys; the others are left out."
    both = sorted(set(found.keys) & set(found.steps))
    for key in both[:LISTED]:
        yield f"{key_name(key)} is a key of the context and of the feature lists."
    values = [*found.keys.values(), *(lists.values for lists in found.steps.values())]
    for each in [each for each in values if len(each.kinds) > 1][:LISTED]:
        kinds = " and ".join(
            f"{kind} in {each.by_kind[kind].present:,}" for kind in each.kinds
        )
        yield f"{key_name(each.key)} is {kinds}: a reader can ask for one kind only."
    if any("" in each.by_kind for each in values):
        yield "A feature without a list is read as missing."
    for name, count in list(found.repeated.items())[:LISTED]:
        many = plural(count, "record")
        yield f"{key_name(name)} occurs twice in {many}; the last one counts."
    for name, count in list(found.unknown.items())[:LISTED]:
        many = plural(count, "record")
        yield f"{printable(name)} in {many}: tf.train.Example does not have it, and readers skip it."


def troubles_of(found: DataStatistics) -> list[str]:
    """Say what is wrong with the files, with no more than the first things."""
    lines: list[str] = []
    if found.manifest_problem:
        lines.append(printable(found.manifest_problem))
    for file in found.files:
        lines += _of_file(file, found.where)
    for name, split in found.splits.items():
        if split.malformed and not found.is_foreign(name):
            lines += _malformed(split)
    if len(lines) > LISTED:
        lines[LISTED:] = [f"... {len(lines) - LISTED:,} more"]
    return lines


def _of_file(file: FileStatistics, where: str) -> list[str]:
    below = file.path.removeprefix(f"{where.rstrip('/')}/")
    name = key_name(below if below != file.path else Path(file.path).name)
    lines = [f"{name}: {_damage(damage)}" for damage in file.damages]
    if file.foreign:
        lines.append(
            f"{name}: {NO_KEY}: found {printable(file.foreign)}; {WRITE_EXAMPLES}"
        )
    elif file.keyed.other:
        lines.append(
            f"{name}: {plural(file.records - file.keyed.records, 'record')} without a "
            f"key: found {printable(file.keyed.other)}"
        )
    if file.damaged > len(file.damages):
        lines.append(f"{name}: {file.damaged - len(file.damages):,} more such places")
    if file.resized:
        lines.append(
            f"{name}: {file.bytes:,} bytes, and manifest.json lists {file.listed_bytes:,}"
        )
    if file.miscounted and not file.damaged:
        lines.append(
            f"{name}: {plural(file.records, 'record')}, "
            f"and manifest.json lists {file.listed:,}"
        )
    if not (file.records or file.damages) and file.complete and not file.listed:
        empty = "an empty file" if not file.bytes else "no records"
        lines.append(f"{name}: {empty}")
    return lines


def _damage(damage: Damage) -> str:
    if damage.kind == "unreadable":
        return printable(damage.found)
    place = f"record {damage.record:,} at byte {damage.offset:,}"
    where = "" if damage.kind == "foreign" else f"{place}: "
    text = (
        f"{where}found {printable(damage.found)}, expected {printable(damage.expected)}"
    )
    if damage.kind == "limit":
        text += f"; {printable(damage.cause)}"
    elif damage.skipped:
        text += f"; {size(damage.skipped)} skipped"
    elif damage.skipped is None:
        text += "; nothing after it can be read"
    return text


def _malformed(found: RecordStatistics) -> list[str]:
    lines = [
        f"{key_name(Path(file).name)}: record {number:,} is not a tf.train.Example: "
        f"{printable(reason)}"
        for (file, number), reason in list(found.malformed_reasons.items())[:3]
    ]
    if found.malformed > len(lines):
        lines.append(f"{found.malformed:,} records are not a tf.train.Example.")
    return lines


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
    raw = field is not None and field.parts[0].encoding == "raw"
    if raw and whole.contents:
        return f"{extent(whole.contents.sizes)} bytes"
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
