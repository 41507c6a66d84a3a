"""Two datasets compared: schemas, counts, distributions, and records that one of them lacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray

from ...documents import LEFT_OUT, Entries, WithProperties
from ...runtime.compatibility import Change
from ...runtime.shared.errors import DatasetError
from ..formatting import one_line
from ..statistics.digests import Digested
from ..statistics.model import DataStatistics, RecordStatistics
from .columns import Split, latest_of
from .duplicates import Place, Places
from .profile import Profile

if TYPE_CHECKING:
    from ...spec.model import FieldSpec, RecordSpec

_NONE = np.empty(0, np.intp)


@dataclass(frozen=True)
class SplitDiff:
    """A split in both datasets.

    Attributes:
        name: the split.
        records: how many records it has in the first and in the second dataset; None where
            the dataset does not have it.
        only: how many records are in the first one only, and in the second one only: those
            whose bytes, or values of the key, the other one lacks.
        changed: how many records of equal keys have other bytes; 0 without a key.
        places: the first records that are in one only, of each dataset.
        changes: the first records that have changed, in the first and in the second one.
    """

    name: str
    records: tuple[int | None, int | None]
    only: tuple[int, int] = (0, 0)
    changed: int = 0
    places: tuple[tuple[Place, ...], tuple[Place, ...]] = ((), ())
    changes: tuple[tuple[Place, Place], ...] = ()

    @property
    def differs(self) -> bool:
        """Whether the datasets do not have the same records."""
        return self.records[0] != self.records[1] or any((*self.only, self.changed))


@dataclass(frozen=True)
class Diff:
    """Two datasets.

    Attributes:
        names: of the datasets.
        schema: what keeps the schema of the second one from reading the first one;
            None if one has no schema.
        keys: the names of keys that are in the first, and in the second one only.
        classes: the names of classes that only the first, and only the second schema
            has, by the name that the second one gives their field; empty without two
            schemas.
        splits: their splits.
        profile: of both together; its splits are in pairs, each of the first, then of the
            second one.
    """

    names: tuple[str, str]
    schema: tuple[Annotated[Change, WithProperties("plain")], ...] | None
    keys: tuple[list[str], list[str]]
    classes: Annotated[
        Mapping[str, tuple[list[str], list[str]]], Entries("field", "only")
    ]
    splits: tuple[SplitDiff, ...]
    profile: Profile = field(metadata=LEFT_OUT)
    __get_pydantic_core_schema__ = WithProperties("same")

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return not (
            self.schema
            or any(self.keys)
            or self.classes
            or self.profile.drifts
            or any(split.differs for split in self.splits)
        )


def diff_of(one: Profile, other: Profile, names: tuple[str, str], key: str) -> Diff:
    """Compare two datasets. Splits of equal names are compared, or both if each has one.

    Args:
        one: the first dataset, with digests.
        other: the second one, likewise.
        names: what to call them.
        key: a field or key whose values identify records; "" for their bytes.

    Raises:
        DatasetError: the values of the key do not identify records.
    """
    profiles = (one, other)
    firsts, seconds = ({each.name: each for each in p.splits} for p in profiles)
    if len(firsts) == len(seconds) == 1:
        name = "" if firsts.keys() != seconds.keys() else next(iter(firsts))
        firsts, seconds = ({name: each} for each in (one.splits[0], other.splits[0]))
    splits = []
    pairs = [(name, firsts.get(name), seconds.get(name)) for name in firsts | seconds]
    for name, first, second in pairs:
        if first is None or second is None:
            counts = tuple(s.found.records if s else None for s in (first, second))
            splits.append(SplitDiff(name, (counts[0], counts[1])))
        else:
            splits.append(_of_split(name, (first, second), profiles, key))
    specs = (one.spec, other.spec)
    schema = None
    if specs[0] is not None and specs[1] is not None:
        from ...runtime.compatibility import differences
        from ...spec.serial import to_data

        schema = tuple(differences(to_data(specs[0]), to_data(specs[1])))
    own, others = ({c.key: c.name for c in p.columns if c.found} for p in profiles)
    keys = (
        sorted(own[key] for key in own.keys() - others.keys()),
        sorted(others[key] for key in others.keys() - own.keys()),
    )
    both = [pair for _, *pair in pairs]
    together = _together(profiles, names, both)
    classes = dict(_classes(specs)) if schema is not None else {}
    return Diff(names, schema, keys, classes, tuple(splits), together)


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


def _of_split(
    name: str, pair: tuple[Split, Split], profiles: tuple[Profile, Profile], key: str
) -> SplitDiff:
    values = [
        _values(profile, split, key)
        for profile, split in zip(profiles, pair, strict=True)
    ]
    rows = [
        np.flatnonzero(~np.isin(own, others)) for own, others in (values, values[::-1])
    ]
    places = [
        Places.of(split, profile.statistics.files)
        for split, profile in zip(pair, profiles, strict=True)
    ]
    first, second = (
        where.first(some, len(own))
        for where, some, own in zip(places, rows, values, strict=True)
    )
    changed = _changed(pair, values) if key else (_NONE, _NONE)
    sizes = [len(own) for own in values]
    return SplitDiff(
        name,
        (pair[0].found.records, pair[1].found.records),
        (len(rows[0]), len(rows[1])),
        len(changed[0]),
        (first, second),
        places[0].pairs(changed[0], places[1], changed[1], *sizes),
    )


def _values(profile: Profile, split: Split, key: str) -> Digested:
    """Return the digests of records, or of the values of a key.

    Raises:
        DatasetError: they do not identify records.
    """
    digests = split.found.digests
    if not key:
        return digests.records
    named = {column.name: column.key for column in profile.columns}
    found = digests.values.get(named.get(key, key))
    if found is None or len(found) != len(digests.records):
        raise DatasetError(
            f"{profile.where}: split {split.label!r}: the values of {key!r} do not "
            "identify records; expected a single integer or text in each record that "
            "seldom repeats"
        )
    return found


def _changed(
    pair: tuple[Split, Split], values: Sequence[Digested]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows in both splits of equal values whose records differ."""
    one, other = values
    _, ours, theirs = np.intersect1d(one, other, return_indices=True)
    first, second = (split.found.digests.records for split in pair)
    differ = first[ours] != second[theirs]
    order = np.argsort(ours[differ])
    return ours[differ][order], theirs[differ][order]


def _together(
    profiles: tuple[Profile, Profile],
    names: tuple[str, str],
    both: Sequence[Sequence[Split | None]],
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
        labels = []
        for name, profile, split in zip(names, profiles, pair, strict=True):
            if split is not None:
                label = _name(name, split.name)
                splits[label] = split.found
                if split.name in profile.specs:
                    specs[label] = profile.specs[split.name]
                labels.append(label)
        if len(labels) == 2:
            pairs.append((labels[0], labels[1]))
    for name, profile in zip(names, profiles, strict=True):
        found = profile.statistics.files
        files += [replace(file, split=_name(name, file.split)) for file in found]
    statistics = DataStatistics(" and ".join(names), tuple(files), splits)
    known = [profile.spec for profile in profiles if profile.spec is not None]
    return Profile(statistics, specs, latest_of(known), pairs)


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
