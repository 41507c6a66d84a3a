"""The splits and columns of data."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from ...documents import ShownAs
from ...runtime.native import INT64
from ...runtime.shared.times import Time
from ...runtime.shared.values import shape_text
from ..formatting import key_name, listed, one_line
from ..layouts import split_order
from ..sources import Data
from ..statistics.model import (
    DataStatistics,
    KeyStatistics,
    KindStatistics,
    RecordStatistics,
    StepsStatistics,
    merged_key,
)
from ..statistics.numbers import NumericStatistics
from ..statistics.style import PLAIN, Style

if TYPE_CHECKING:
    from ...runtime.cells.part import Part
    from ...spec.model import FieldSpec, RecordSpec

    Stored = tuple[Part, FieldSpec, bool]


def label_of(split: str) -> str:
    """Return the name of a split for people."""
    return one_line(split, 40) or "all"


# What the key of ids ends with.
_ID = re.compile(r"(?:(?:^|[\W_])[iI]|(?<=[a-z])I)[dD]s?$")


@dataclass(frozen=True)
class SplitProfile:
    """A split.

    Attributes:
        name: as in the data; "" for files of no split.
        label: the name for people.
        index: its place among the splits.
        found: statistics of its records.
    """

    name: str
    label: str
    index: int
    found: RecordStatistics
    __get_pydantic_core_schema__ = ShownAs(attrgetter("name"), str)

    @cached_property
    def independent(self) -> float:
        """How many independent records it has, by the groups that were asked for, by Kish.

        Records of a group may be the same or nearly so: a group counts as one, and as
        fewer if some groups are much larger than others. At least 1.
        """
        read = max(self.found.read, 1)
        found = [float(read)]
        for group in self.found.digests.groups.values():
            _, sizes = np.unique(group.digests, return_counts=True)
            squares = np.square(sizes).sum() + read - len(group.digests)
            found.append(read**2 / float(squares))
        return min(found)


def splits_of(
    found: Mapping[str, RecordStatistics], *, ordered: bool = False
) -> tuple[SplitProfile, ...]:
    """Return the splits: train or else the largest one, validation, test, and others.

    Args:
        found: statistics of each.
        ordered: whether they keep their order.
    """
    names = [*found] if ordered else sorted(found, key=split_order)
    if names and not ordered and split_order(names[0])[0]:
        largest = max(names, key=lambda name: found[name].records)
        names.sort(key=lambda name: name != largest)
    return tuple(
        SplitProfile(name, label_of(name), index, found[name])
        for index, name in enumerate(names)
    )


@dataclass(frozen=True)
class ColumnName:
    """What a column is called.

    Attributes:
        name: the name of the field, or else the key, for people.
        key: the key.
    """

    name: str
    key: str


@dataclass(frozen=True)
class ColumnProfile:
    """The features of one key, or the feature lists of one key, in each split.

    Attributes:
        name: the name of the field, or else the key, for people.
        key: the key.
        keys: this one, or all numbered keys of its field.
        steps: True for feature lists, whose values are those of the steps.
        declared: the field of the schema; None if it has none.
        part: what it stores of another field, such as "height of image"; or "".
        found: statistics of its values by split, where any record has it.
        present: the number of records that have it by split, likewise.
        step_counts: the numbers of steps in a record, by split; empty without steps.
    """

    name: str
    key: str
    keys: Sequence[str]
    steps: bool
    declared: FieldSpec | None
    part: str
    found: Mapping[str, KeyStatistics]
    present: Mapping[str, int]
    step_counts: Mapping[str, NumericStatistics]
    __get_pydantic_core_schema__ = ShownAs(
        lambda column: ColumnName(column.name, column.key), ColumnName
    )

    @property
    def field(self) -> FieldSpec | None:
        """The field, or the field of a step; None if the schema has none."""
        if self.declared is None or self.steps != self.declared.parts[0].in_list:
            return None
        return self.declared.step if self.steps else self.declared

    def kind_in(self, split: SplitProfile) -> KindStatistics | None:
        """Return the statistics of one kind in a split: the most frequent one of all splits.

        If the split does not have it, it is the most frequent one there.
        """
        found = self.found.get(split.name)
        if found is None or not found.kinds:
            return None
        return found.by_kind.get(self._kind) or found.by_kind[found.kinds[0]]

    @cached_property
    def _kind(self) -> str:
        """The most frequent kind of all splits."""
        present: Counter[str] = Counter()
        for found in self.found.values():
            present.update({kind: found.by_kind[kind].present for kind in found.kinds})
        return max(sorted(present), key=present.__getitem__, default="")

    @cached_property
    def whole(self) -> KindStatistics:
        """The statistics of the most frequent kind of all splits, merged."""
        if not self.found:
            return KindStatistics()
        merged = merged_key([*self.found.values()])
        return merged.by_kind.get(self._kind) or KindStatistics()

    def missing_in(self, split: SplitProfile) -> int:
        """Return how many records lack it."""
        return split.found.read - self.present.get(split.name, 0)

    @property
    def is_renamed(self) -> bool:
        """Whether its field has another name than its key."""
        return self.declared is not None and self.declared.label != self.key

    @property
    def time(self) -> Time | None:
        """What its integers are, if they are times."""
        if self.field is None:
            return None
        from ...runtime.kinds.numbers import time_of

        return time_of(self.field.kind)

    @property
    def of_classes(self) -> bool:
        """Whether the schema says that its values are classes."""
        return self.field is not None and self.field.codec.of_classes

    @cached_property
    def class_names(self) -> Mapping[Any, str]:
        """The names of its classes, by their stored values; empty without classes."""
        return class_names(self.field) if self.field is not None else {}

    @property
    def is_bool(self) -> bool:
        """Whether the schema says that its values are False and True."""
        return self.field is not None and self.field.parts[0].dtype == "bool"

    @property
    def style(self) -> Style:
        """What its numbers are, which tells how they are shown."""
        names = self.of_classes or _ID.search(self.key) is not None
        return Style(self.time, names and self.kinds == (INT64,), self.is_bool)

    def style_of(self, quantity: Quantity) -> Style:
        """Return what the numbers of a quantity are."""
        return self.style if quantity.of_values else PLAIN

    def time_of(self, quantity: Quantity) -> Time | None:
        """What the numbers of a quantity are, if they are times."""
        return self.time if quantity.of_values else None

    @property
    def is_info(self) -> bool:
        """Whether the schema says that no model takes it."""
        return self.field is not None and self.field.role == "info"

    @property
    def is_target(self) -> bool:
        """Whether the schema says that a model predicts it."""
        return self.field is not None and self.field.role == "target"

    @property
    def is_single(self) -> bool:
        """Whether no record has more than one value."""
        return not self.steps and self.whole.lengths.maximum == 1

    @property
    def is_number(self) -> bool:
        """Whether records have a single number, which is not a class."""
        whole = self.whole
        return (
            whole.numbers is not None
            and whole.lengths.maximum == 1
            and whole.numbers.count <= whole.present
            and not self.of_classes
        )

    @property
    def lengths(self) -> Quantity:
        """Its lengths: the numbers of values in a record, or in a step."""
        return STEP_LENGTHS if self.steps else LENGTHS

    @property
    def kinds(self) -> tuple[str, ...]:
        """All kinds that occur: "bytes", "float", "int64"."""
        kinds = (kind for found in self.found.values() for kind in found.kinds)
        return tuple(dict.fromkeys(kinds))

    @property
    def kind(self) -> str:
        """The kind of the field, what it stores of another one, or its types."""
        if self.declared is not None:
            from ...spec.describe import kind_text

            return kind_text(self.declared)
        in_steps = ", in steps" if self.steps else ""
        return self.part or listed(self.kinds) + in_steps

    @property
    def batch(self) -> str:
        """Dtype and shape in a batch; "" without a schema."""
        if self.declared is None:
            return ""
        from ...spec.words import words_of

        return words_of(self.declared.codec).delivers

    @property
    def type(self) -> str:
        """The type in a few words."""
        words = type_of(self.field) if self.field else self.part or listed(self.kinds)
        words = words or "no values"
        return f"{words}, in steps" if self.steps else words


def class_names(field: FieldSpec) -> Mapping[Any, str]:
    """Return the names of a field's classes, or else their ids, by their stored values.

    It is empty if the values are not classes.
    """
    if not field.codec.of_classes:
        return {}
    codec: Any = field.codec
    names = codec.classes or range(codec.count)
    return {
        each: one_line(str(name), 60)
        for each, name in zip(codec.stored_as, names, strict=False)
    }


def type_of(field: FieldSpec) -> str:
    """Return kind, classes or format, shape, dtype and role of a field."""
    from ...spec.describe import kind_text

    words, facts = [kind_text(field)], field.facts()
    if shape := facts.get("shape"):
        words.append(shape_text(shape))
    words.append(facts.get("dtype", ""))
    if field.role != "input":
        words.append(f"({field.role})")
    return " ".join(filter(None, words))


def specs_by_split(data: Data, spec: RecordSpec | None) -> dict[str, RecordSpec]:
    """Return the spec of each split, by the split's name.

    Specs of later versions that this one cannot read are left out.

    Args:
        data: the files.
        spec: of all records; None for those that wrote the splits.
    """
    if spec is not None:
        return dict.fromkeys(data.splits, spec)
    found = {name: _readable(files[0].spec) for name, files in data.splits.items()}
    return {name: spec for name, spec in found.items() if spec is not None}


def keys_named(
    names: Iterable[str], specs: Iterable[RecordSpec | None]
) -> tuple[str, ...]:
    """Return keys that are given as names of fields, or as keys."""
    known = [*specs]
    keys = {
        field.label: field.key
        for spec in known
        if spec is not None
        for field in spec.fields
    }
    return tuple(dict.fromkeys(keys.get(name, name) for name in names))


def spec_of_manifest(data: Data) -> RecordSpec | None:
    """Return the spec of a directory's manifest, which reads all of its splits."""
    return _readable(data.manifest.spec) if data.manifest else None


def _readable(spec: Mapping[str, Any] | None) -> RecordSpec | None:
    if spec is not None:
        from ...spec.serial import from_data

        with suppress(ValueError, KeyError, TypeError):
            return from_data(dict(spec))
    return None


def latest_of(specs: Iterable[RecordSpec]) -> RecordSpec | None:
    """Return the spec with the most fields, and of these with the most classes.

    Later specs have fields and classes that earlier ones lack. It is None without any.
    """
    return max(specs, key=_extent, default=None)


def _extent(spec: RecordSpec) -> tuple[int, int]:
    labels = (field.kind for field in spec.fields if field.codec.of_classes)
    return len(spec.fields), sum(label.count for label in labels)


def title_of(found: DataStatistics, spec: RecordSpec | None) -> str:
    """Return the name of the record's class, or else of the data."""
    if spec is not None:
        return spec.class_name
    return PurePath(found.where.rstrip("/\\")).name or "Data"


def columns_of(
    splits: Sequence[SplitProfile], specs: Iterable[RecordSpec]
) -> tuple[ColumnProfile, ...]:
    """Return the fields in the order of the schema, then further keys.

    Args:
        splits: the splits.
        specs: the spec that describes their fields, then those of further fields.
    """
    fields: dict[str, FieldSpec] = {}
    stored: dict[str, Stored] = {}
    for spec in specs:
        fields = fields | {field.key: field for field in spec.fields} | fields
        stored = stored | spec.parts() | stored
    found = {(key, False) for split in splits for key in split.found.keys}
    found |= {(key, True) for split in splits for key in split.found.steps}
    found |= {(key, field.parts[0].in_list) for key, field in fields.items()}
    rank = {key: index for index, key in enumerate(fields)}
    order = sorted(found, key=lambda each: (rank.get(each[0], len(rank)), each))
    columns = [
        _column(key, steps, fields.get(key), stored.get(key), splits)
        for key, steps in order
    ]
    return tuple(columns)


def _column(
    key: str,
    steps: bool,
    declared: FieldSpec | None,
    stored: Stored | None,
    splits: Sequence[SplitProfile],
) -> ColumnProfile:
    found: dict[str, KeyStatistics] = {}
    present: dict[str, int] = {}
    counts: dict[str, NumericStatistics] = {}
    numbered = {k: v for split in splits for k, v in split.found.numbered.items()}
    for split in splits:
        held = split.found.steps.get(key) if steps else split.found.keys.get(key)
        if held is not None:
            if isinstance(held, StepsStatistics):
                counts[split.name] = held.steps
                found[split.name] = held.values
            else:
                found[split.name] = held
            present[split.name] = held.present
    return ColumnProfile(
        name=key_name(declared.label if declared else key, 80),
        key=key,
        keys=[key] if steps else numbered.get(key, [key]),
        steps=steps,
        declared=declared,
        part=_part_of(stored) if stored and not declared else "",
        found=found,
        present=present,
        step_counts=counts,
    )


def _part_of(stored: Stored) -> str:
    part, field, _ = stored
    content = part.content if part.holds == "size" else part.holds
    content = "an image" if part.is_media else content  # under a numbered key
    return f"{content} of {one_line(field.label, 80)}"


@dataclass(frozen=True)
class Quantity:
    """Numbers that a column has in each split.

    Attributes:
        name: "values", "lengths", "steps", "sizes", "heights", "widths" or "durations".
        unit: "" of values, else "values", "steps", "bytes", "pixels" or "seconds".
        title: what they are, for people, such as "sizes in bytes".
    """

    name: str
    unit: str
    title: str
    __get_pydantic_core_schema__ = ShownAs(attrgetter("name"), str)

    @property
    def of_values(self) -> bool:
        """Whether they are the values themselves."""
        return self.name == VALUES.name


VALUES = Quantity("values", "", "values")
LENGTHS = Quantity("lengths", "values", "values in a record")
STEP_LENGTHS = replace(LENGTHS, title="values in a step")
STEPS = Quantity("steps", "steps", "steps in a record")
SIZES = Quantity("sizes", "bytes", "sizes in bytes")
HEIGHTS = Quantity("heights", "pixels", "heights in pixels")
WIDTHS = Quantity("widths", "pixels", "widths in pixels")
DURATIONS = Quantity("durations", "seconds", "durations in seconds")


def quantities_of(
    column: ColumnProfile, splits: Sequence[SplitProfile]
) -> dict[Quantity, dict[str, NumericStatistics]]:
    """Return the numbers of a column by split, where any is finite."""
    quantities: dict[Quantity, dict[str, NumericStatistics]] = {}
    for split in splits:
        found, kind = {}, column.kind_in(split)
        if kind is not None:
            found = {
                VALUES: kind.numbers or NumericStatistics(),
                column.lengths: kind.lengths,
            }
        if split.name in column.step_counts:
            found[STEPS] = column.step_counts[split.name]
        if kind is not None and kind.contents is not None:
            found[SIZES] = kind.contents.sizes
            found[HEIGHTS] = kind.contents.heights
            found[WIDTHS] = kind.contents.widths
            found[DURATIONS] = kind.contents.seconds
        for quantity, numbers in found.items():
            if numbers.finite:
                quantities.setdefault(quantity, {})[split.name] = numbers
    return quantities
