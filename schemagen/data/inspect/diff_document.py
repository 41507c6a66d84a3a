"""What `diff --format json` prints, as models."""

from __future__ import annotations

from typing import Literal

from ..profile.diff import Diff
from .as_json import VERSION, compared
from .document import Compared, Part


class Change(Part):
    """What keeps the second schema from reading data of the first one."""

    rule: str
    field: str
    change: str


class Place(Part):
    """A record; its number is -1 in a damaged file."""

    file: str
    record: int


class SplitDiff(Part):
    """A split in both datasets. Pairs are of the first and of the second one."""

    split: str
    records: tuple[int | None, int | None]
    """Null where the dataset lacks the split."""
    only: tuple[int, int]
    """The numbers of records that the other dataset lacks."""
    changed: int
    """How many records of equal keys have other bytes; 0 without a key."""
    places: tuple[list[Place], list[Place]]
    """The first of the records that the other dataset lacks."""
    changes: list[tuple[Place, Place]]
    """The first records that have changed, in both datasets."""


class Classes(Part):
    """A field whose classes differ between the schemas."""

    field: str
    only: tuple[list[str], list[str]]
    """The names of classes that the other schema lacks."""


class DiffDocument(Part):
    """What diff prints to stdout with --format json, unless it exits with 2."""

    version: Literal[1]
    data: tuple[str, str]
    """What the datasets are called."""
    same: bool
    changes: list[Change] | None
    """Of the schema; null if one of the two has none."""
    keys: tuple[list[str], list[str]]
    """The keys that are in one of them only."""
    classes: list[Classes]
    """The fields whose classes differ between the schemas."""
    splits: list[SplitDiff]
    differences: list[Compared]
    """Those that count as drift."""


def diff_document(found: Diff) -> DiffDocument:
    """Return what differs."""
    return DiffDocument.taken(
        found,
        version=VERSION,
        data=found.names,
        changes=None
        if found.schema is None
        else [Change.taken(each, change=each.plain) for each in found.schema],
        classes=[
            Classes(field=name, only=both) for name, both in found.classes.items()
        ],
        splits=[
            SplitDiff.taken(
                split,
                split=split.name,
                places=tuple([*map(Place.taken, some)] for some in split.places),
                changes=[tuple(map(Place.taken, pair)) for pair in split.changes],
            )
            for split in found.splits
        ],
        differences=[*map(compared, found.profile.drifts)],
    )
