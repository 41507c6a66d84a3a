"""What the page is about: splits, and what stands under each key in each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...spec.model import (
    FieldSpec,
    ImageSpec,
    LabelSpec,
    MultiLabelSpec,
    RecordSpec,
    StepsSpec,
)
from ..formatting import listed, one_line
from ..statistics.model import KeyStatistics, KindStatistics, RecordStatistics
from .palette import SERIES

# As people name splits, in the order in which they come.
_NAMES = (
    ("train", "training"),
    ("validation", "valid", "val", "dev", "eval"),
    ("test", "testing"),
)


@dataclass(frozen=True)
class Part:
    """A split.

    Attributes:
        name: as the page says it.
        split: as the data says it; "" for files of no split.
        series: its colour and line; SERIES if it has none.
        found: what its records are like.
    """

    name: str
    split: str
    series: int
    found: RecordStatistics

    @property
    def drawn(self) -> bool:
        """Whether plots show it."""
        return self.series < SERIES


def parts_of(splits: Mapping[str, RecordStatistics]) -> tuple[Part, ...]:
    """Return the splits: what the others are compared with first.

    That is what is called train, or else the one with most records; behind it come
    validation, test and others by name.
    """
    names = sorted(splits, key=lambda name: (_rank(name), name))
    if names and not _rank(names[0]):
        order = names
    else:
        first = sorted(names, key=lambda name: -splits[name].records)[:1]
        order = [*first, *(name for name in names if name not in first)]
    return tuple(
        Part(one_line(name, 40) or "all", name, min(index, SERIES), splits[name])
        for index, name in enumerate(order)
    )


def _rank(split: str) -> int:
    return next((i for i, names in enumerate(_NAMES) if split in names), len(_NAMES))


@dataclass(frozen=True)
class Subject:
    """What stands under one key, in each split.

    Attributes:
        name: the field's name, or else the key, as the page says it.
        key: the wire key.
        steps: whether it is a feature list; values are of its steps then.
        field: what the schema says of it, of a step if it is a feature list.
        optional: whether the schema lets it be absent.
        found: its statistics, by split, where any record has it.
        steps_found: how many steps the records have, likewise.
    """

    name: str
    key: str
    steps: bool
    field: FieldSpec | None
    optional: bool
    found: Mapping[str, KeyStatistics]

    def kind_in(self, part: Part) -> KindStatistics | None:
        """Return the statistics of the kind that most records of a split have."""
        found = self.found.get(part.split)
        if found is None or not found.kinds:
            return None
        return found.by_kind[found.kinds[0]]

    @property
    def wire_kind(self) -> str:
        """The kind that it mostly has: "bytes", "float", "int64", or ""."""
        for found in self.found.values():
            if found.kinds:
                return found.kinds[0]
        return ""

    @property
    def kinds(self) -> tuple[str, ...]:
        """All the kinds that occur."""
        kinds = (kind for found in self.found.values() for kind in found.kinds)
        return tuple(dict.fromkeys(kinds))

    @property
    def words(self) -> str:
        """What it is, in a few words."""
        if self.field is not None:
            words = _of_field(self.field)
        else:
            words = listed(self.kinds) or "no values"
        return f"{words}, in steps" if self.steps else words


def _of_field(field: FieldSpec) -> str:
    shape = getattr(field.kind, "shape", None)
    dtype = getattr(field.kind, "dtype", None)
    words = [field.kind.name]
    if isinstance(field.kind, Label | MultiLabel):
        words.append(f"of {field.kind.count:,} classes")
    if shape is not None:
        words.append("×".join("?" if size is None else f"{size}" for size in shape))
    if isinstance(field.kind, Image) and field.kind.encoding != "raw":
        words.append(field.kind.encoding.upper())
    elif dtype is not None:
        words.append(dtype)
    if field.role != "input":
        words.append(f"({field.role})")
    return " ".join(words)


def name_of(field: FieldSpec) -> str:
    """Return a field's name as the page says it."""
    return one_line(".".join(field.path) or field.name, 80)


def subjects_of(parts: Sequence[Part], spec: RecordSpec | None) -> tuple[Subject, ...]:
    """Return what is stored: fields in the order of the schema, then further keys."""
    fields = {field.key: field for field in (spec.fields if spec else ())}
    keys = {key for part in parts for key in part.found.keys}
    lists = {key for part in parts for key in part.found.steps}
    for field in fields.values():
        (lists if isinstance(field.kind, Steps) else keys).add(field.key)
    order = {key: index for index, key in enumerate(fields)}
    every = sorted(
        [(order.get(key, len(order)), key, False) for key in keys]
        + [(order.get(key, len(order)), key, True) for key in lists]
    )
    return tuple(
        _subject(key, steps, fields.get(key), parts) for _, key, steps in every
    )


def _subject(
    key: str, steps: bool, field: FieldSpec | None, parts: Sequence[Part]
) -> Subject:
    found = {}
    for part in parts:
        if steps and key in part.found.steps:
            found[part.split] = part.found.steps[key].values
        elif not steps and key in part.found.keys:
            found[part.split] = part.found.keys[key]
    inner = field
    if field is not None and isinstance(field.kind, Steps):
        inner = field.step if steps else None
    elif steps:
        inner = None
    return Subject(
        name=name_of(field) if field else one_line(key, 80) or '""',
        key=key,
        steps=steps,
        field=inner,
        optional=field.optional if field else False,
        found=found,
    )


def holders(subject: Subject, part: Part) -> int:
    """Return how many records of a split have it, be it empty or not."""
    if subject.steps:
        found = part.found.steps.get(subject.key)
        return found.present if found else 0
    keys = part.found.keys.get(subject.key)
    return keys.present if keys else 0
