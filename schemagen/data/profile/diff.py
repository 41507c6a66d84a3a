"""Two datasets compared: schemas, counts, distributions, and records that one of them lacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from ...documents import LEFT_OUT, Entries, WithProperties
from ...runtime.compatibility import Change
from ..formatting import one_line
from ..statistics.digests import Digested
from ..statistics.model import DataStatistics, RecordStatistics
from .changes import Changes, Dataset, Rows, Shown, Side, Unmatched, changes_of
from .columns import ColumnProfile, SplitProfile, latest_of
from .groups import no_field
from .notes import unread_of
from .profile import Profile

if TYPE_CHECKING:
    from ...spec.model import FieldSpec, RecordSpec

# What tells the second one of equal digests from the first one, and so on: an odd number.
_AGAIN = np.uint64(0x9E37_79B9_7F4A_7C15)


@dataclass(frozen=True)
class SplitDiff:
    """A split in both datasets.

    Attributes:
        split: its name; "" for files of no split.
        records: how many records it has in the first and in the second dataset; None where
            the dataset does not have it.
        only: how many records are in the first one only, and in the second one only: those
            whose bytes, or values of the key, the other one lacks, or has less often.
        unmatched: the first of these, of each dataset.
        changes: the records of equal keys that have other bytes; none without a key.
    """

    split: str
    records: tuple[int | None, int | None]
    only: tuple[int, int] = (0, 0)
    unmatched: tuple[tuple[Unmatched, ...], tuple[Unmatched, ...]] = ((), ())
    changes: Changes = field(default_factory=Changes)

    @property
    def differs(self) -> bool:
        """Whether the datasets do not have the same records."""
        return self.records[0] != self.records[1] or any(
            (*self.only, self.changes.records)
        )


@dataclass(frozen=True)
class Diff:
    """Two datasets.

    Attributes:
        names: of the datasets.
        key: the field whose values match records; "" for all of their bytes.
        schema: what keeps the schema of the second one from reading the first one;
            None if one has no schema.
        keys: the names of keys that are in the first, and in the second one only.
        classes: the names of classes that only the first, and only the second schema
            has, by the name that the second one gives their field; empty without two
            schemas.
        splits: their splits.
        unread: what was not read of each dataset, or cannot be read, in sentences.
        identifying: names of fields whose values identify records that only one dataset
            has, for `--key`; empty if a key was given.
        profiles: of each dataset.
        profile: of both together; its splits are in pairs, each of the first, then of the
            second one.
    """

    names: tuple[str, str]
    key: str
    schema: tuple[Annotated[Change, WithProperties("plain")], ...] | None
    keys: tuple[list[str], list[str]]
    classes: Annotated[
        Mapping[str, tuple[list[str], list[str]]], Entries("field", "only")
    ]
    splits: tuple[SplitDiff, ...]
    unread: tuple[tuple[str, ...], tuple[str, ...]]
    identifying: tuple[str, ...]
    profiles: tuple[Profile, Profile] = field(metadata=LEFT_OUT)
    profile: Profile = field(metadata=LEFT_OUT)
    __get_pydantic_core_schema__ = WithProperties("same")

    @property
    def differs(self) -> bool:
        """Whether anything differs in what was read."""
        return bool(
            self.schema
            or any(self.keys)
            or self.classes
            or self.profile.drifts
            or any(split.differs for split in self.splits)
        )

    @property
    def same(self) -> bool:
        """Whether nothing differs, and all was read."""
        return not (self.differs or any(self.unread))

    @property
    def sound(self) -> bool:
        """Whether no file of either is damaged, as `DataStatistics` says."""
        return all(profile.statistics.sound for profile in self.profiles)


def diff_of(datasets: tuple[Dataset, Dataset], key: str, shown: Shown) -> Diff:
    """Compare two datasets. Splits of equal names are compared, or both if each has one.

    Changed records are read again.

    Args:
        datasets: the first and the second one.
        key: a field or key whose values identify records; "" for their bytes.
        shown: returns the values of a record in a column, for people.

    Raises:
        DatasetError: the values of the key do not identify records, or a file was changed
            since it was read.
    """
    names = (datasets[0].name, datasets[1].name)
    profiles = one, other = (datasets[0].profile, datasets[1].profile)
    first, second = ({each.name: each for each in p.splits} for p in profiles)
    if len(first) == len(second) == 1:
        name = "" if first.keys() != second.keys() else next(iter(first))
        first, second = ({name: each} for each in (one.splits[0], other.splits[0]))
    pairs = {name: (first.get(name), second.get(name)) for name in first | second}
    keys = (_key_in(one, other, key), _key_in(other, one, key))
    splits = []
    for name, pair in pairs.items():
        sides = [
            Side(dataset, split, wire)
            for dataset, split, wire in zip(datasets, pair, keys, strict=True)
            if split is not None
        ]
        if len(sides) == 2:
            splits.append(_of_split(name, (sides[0], sides[1]), shown))
        else:
            before, after = (split.found.records if split else None for split in pair)
            only = (before or 0, after or 0)
            splits.append(SplitDiff(name, (before, after), only))
    specs = (one.spec, other.spec)
    schema = None
    if specs[0] is not None and specs[1] is not None:
        from ...runtime.compatibility import differences
        from ...spec.serial import to_data

        schema = tuple(differences(to_data(specs[0]), to_data(specs[1])))
    own, others = ({c.key: c.name for c in p.columns if c.found} for p in profiles)
    both_lack = any(all(split.only) for split in splits)
    return Diff(
        names=names,
        key=key,
        schema=schema,
        keys=(
            sorted(own[each] for each in own.keys() - others.keys()),
            sorted(others[each] for each in others.keys() - own.keys()),
        ),
        classes=dict(_classes(specs)) if schema is not None else {},
        splits=tuple(splits),
        unread=(tuple(unread_of(one)), tuple(unread_of(other))),
        identifying=_identifying(profiles) if both_lack and not key else (),
        profiles=profiles,
        profile=_together(profiles, names, [*pairs.values()]),
    )


def _key_in(profile: Profile, other: Profile, name: str) -> str:
    """Return the key that a dataset calls by a name, or that the other one does.

    Raises:
        DatasetError: neither has a field or a key of this name.
    """
    named = {each.name: each.key for p in (other, profile) for each in p.columns}
    if name and named and name not in {*named, *named.values()}:
        raise no_field(profile.where, name, [*named])
    return named.get(name, name)


def _identifying(profiles: tuple[Profile, Profile]) -> tuple[str, ...]:
    """Return the names of the columns whose values identify records, short ones first."""

    def identifies(column: ColumnProfile) -> bool:
        return all(
            len(split.found.digests.values.get(column.key, ())) == split.found.records
            for profile in profiles
            for split in profile.splits
        )

    def size(column: ColumnProfile) -> float:
        contents = column.whole.contents
        return contents.sizes.maximum or 0 if contents else 0

    first, second = (profile.duplicates.compared for profile in profiles)
    keys = {column.key for column in first}
    found = [each for each in second if each.key in keys and identifies(each)]
    return tuple(each.name for each in sorted(found, key=size))


def _classes(
    specs: Sequence[RecordSpec | None],
) -> Iterator[tuple[str, tuple[list[str], list[str]]]]:
    """Yield the names of fields whose classes differ, with those of one schema only."""
    first, second = (
        {field.key: field for field in spec.fields if field.codec.of_classes}
        for spec in specs
        if spec is not None
    )
    for key in [key for key in second if key in first]:
        own, other = first[key], second[key]
        only = _more_classes(own, other), _more_classes(other, own)
        if any(only):
            yield other.label, only


def _more_classes(own: FieldSpec, other: FieldSpec) -> list[str]:
    """Return the names of the classes that only the first one of two fields has.

    A class that either of them has renamed is in both. If one has no names, only their
    numbers of classes are compared.
    """
    names, others = (each.kind.classes for each in (own, other))
    if not (names and others):
        ids = range(other.kind.count, own.kind.count)
        return [one_line(names[at], 60) if names else str(at) for at in ids]
    known = {*others, *dict(other.kind.renamed)}
    known |= {today for former, today in own.kind.renamed if former in known}
    return [one_line(name, 60) for name in names if name not in known]


def _of_split(name: str, sides: tuple[Side, Side], shown: Shown) -> SplitDiff:
    one, other = sides
    only, _ = _compared(*(side.split.found.digests.records for side in sides))
    changed = only[0][:0], only[1][:0]
    if one.key:  # records of equal bytes are matched already
        values = one.values[only[0]], other.values[only[1]]
        lacking, both = _compared(*values)
        changed = only[0][both[0]], only[1][both[1]]
        only = only[0][lacking[0]], only[1][lacking[1]]
    return SplitDiff(
        name,
        (one.split.found.records, other.split.found.records),
        (len(only[0]), len(only[1])),
        (one.unmatched(only[0], shown), other.unmatched(only[1], shown)),
        changes_of(sides, changed, shown),
    )


def _compared(
    values: Digested, others: Digested
) -> tuple[tuple[Rows, Rows], tuple[Rows, Rows]]:
    """Return the rows of digests that only one side has, and pairs of equal ones.

    The second one of equal digests is paired with the second one of the other side.
    """
    if np.array_equal(values, others):
        rows = np.arange(len(values))
        return (rows[:0], rows[:0]), (rows, rows)
    own, other = _each_different(values), _each_different(others)
    _, first, second = np.intersect1d(
        own, other, assume_unique=True, return_indices=True
    )
    order = np.argsort(first)
    only = (
        np.setdiff1d(np.arange(len(own)), first, assume_unique=True),
        np.setdiff1d(np.arange(len(other)), second, assume_unique=True),
    )
    return only, (first[order], second[order])


def _each_different(values: Digested) -> Digested:
    """Return digests in which each one of equal values is another one than those before."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    ranks = np.empty(len(values), np.uint64)
    ranks[order] = np.arange(len(values)) - np.searchsorted(ordered, ordered)
    return values + ranks * _AGAIN


def _together(
    profiles: tuple[Profile, Profile],
    names: tuple[str, str],
    both: Sequence[tuple[SplitProfile | None, SplitProfile | None]],
) -> Profile:
    """Return the profile of two datasets, whose splits have the dataset in their names.

    Args:
        profiles: of the datasets.
        names: of the datasets.
        both: each split in the first and in the second one; None where it is not.
    """
    splits: dict[str, RecordStatistics] = {}
    specs: dict[str, RecordSpec] = {}
    files = []
    pairs = []
    for pair in both:
        labels: list[str | None] = []
        for name, profile, split in zip(names, profiles, pair, strict=True):
            label = None if split is None else _name(name, split.name)
            labels.append(label)
            if split is not None and label is not None:
                splits[label] = split.found
                if split.name in profile.specs:
                    specs[label] = profile.specs[split.name]
        pairs.append((labels[0], labels[1]))
    for name, profile in zip(names, profiles, strict=True):
        found = profile.statistics.files
        files += [replace(file, split=_name(name, file.split)) for file in found]
    statistics = DataStatistics(" and ".join(names), tuple(files), splits)
    known = [profile.spec for profile in profiles if profile.spec is not None]
    return Profile(
        statistics,
        specs,
        latest_of(known),
        pairs,
        thresholds=profiles[0].thresholds,
    )


def _name(dataset: str, split: str) -> str:
    return f"{dataset} {split}".rstrip()


def names_of(one: str, other: str) -> tuple[str, str]:
    """Return short names of two datasets: the last parts of their paths that differ."""
    parts = [path.rstrip("/").split("/") for path in (one, other)]
    for count in range(1, max(map(len, parts)) + 1):
        first, second = ("/".join(each[-count:]) for each in parts)
        if first != second:
            return first, second
    return f"{one} (first)", f"{other} (second)"
