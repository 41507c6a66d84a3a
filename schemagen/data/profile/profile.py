"""The profile of data: its splits, columns, classes, and what differs or is repeated."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from operator import attrgetter
from typing import TYPE_CHECKING

from ...documents import ShownAs
from ...rules import Thresholds
from ...runtime.storage import manifest
from ...runtime.storage.directory import open_directory
from ..sources import Data
from ..statistics.model import DataStatistics, RecordStatistics, merged_records
from .associations import Associations, associations_of
from .classes import ClassCounts, class_counts
from .columns import (
    ColumnProfile,
    SplitProfile,
    columns_of,
    latest_of,
    spec_of_manifest,
    splits_of,
)
from .comparison import Difference, differences_of, pairs_of
from .duplicates import Duplicates, duplicates_of

if TYPE_CHECKING:
    from ...spec.model import RecordSpec


@dataclass(frozen=True)
class ManifestFacts:
    """The manifest of a data directory.

    Attributes:
        record: the name of the record that wrote the data.
        fingerprint: of that record.
        format: the version of the manifest's format.
        sha256: the checksum of the file `manifest.json`.
    """

    record: str
    fingerprint: str
    format: int
    sha256: str


@dataclass(frozen=True)
class Profile:
    """What data is like, in the terms of its schema if it has one.

    Attributes:
        statistics: of the data.
        specs: the schema that wrote each split, by its name; none is needed.
        latest: the schema that reads all splits, such as that of the manifest; None if
            there is none, or it is not known.
        compared: the names of each split in two datasets, None where a dataset lacks it,
            if this is the profile of both; None for one dataset, whose first split is
            compared with each other one.
        manifest: what the directory's manifest says; None without one.
        groups: the keys by which records are grouped.
        thresholds: by which it marks drift, missing classes and target leakage.
    """

    statistics: DataStatistics
    specs: Mapping[str, RecordSpec]
    latest: RecordSpec | None = None
    compared: Sequence[tuple[str | None, str | None]] | None = None
    manifest: ManifestFacts | None = None
    groups: Sequence[str] = ()
    thresholds: Thresholds = field(default_factory=Thresholds)
    __get_pydantic_core_schema__ = ShownAs(attrgetter("where"), str)

    @property
    def where(self) -> str:
        """The data, as it was asked for."""
        return self.statistics.where

    @cached_property
    def splits(self) -> tuple[SplitProfile, ...]:
        """Its splits: train, validation, test, and others; as given if some are compared."""
        return splits_of(self.statistics.splits, ordered=self.compared is not None)

    @property
    def described(self) -> tuple[SplitProfile, ...]:
        """Those whose records have keys: not of other messages."""
        foreign = self.statistics.is_foreign
        return tuple(split for split in self.splits if not foreign(split.name))

    @cached_property
    def whole(self) -> RecordStatistics:
        """The records of these together."""
        return merged_records([split.found for split in self.described])

    @cached_property
    def spec(self) -> RecordSpec | None:
        """The schema that describes its fields and names its classes."""
        written = (self.specs.get(split.name) for split in self.splits)
        return self.latest or latest_of(spec for spec in written if spec is not None)

    @cached_property
    def columns(self) -> tuple[ColumnProfile, ...]:
        """Its fields, then further keys."""
        specs = [self.spec, *(self.specs.get(split.name) for split in self.splits)]
        return columns_of(self.splits, [spec for spec in specs if spec is not None])

    @cached_property
    def classes(self) -> tuple[ClassCounts, ...]:
        """The counts of columns that hold classes, or values that look like them."""
        found = (class_counts(each, self.splits) for each in self.columns)
        return tuple(each for each in found if each is not None)

    @property
    def likely_classes(self) -> tuple[ClassCounts, ...]:
        """Those that a schema declares, or that have no schema."""
        return tuple(each for each in self.classes if each.likely)

    @cached_property
    def pairs(self) -> Sequence[tuple[SplitProfile, SplitProfile]]:
        """The splits that are compared with each other."""
        return pairs_of(self.splits, self.compared)

    @cached_property
    def differences(self) -> Sequence[Difference]:
        """The differences between splits, drift first and the largest first."""
        threshold_of = partial(self.thresholds.of, "drift")
        return differences_of(self.columns, self.classes, self.pairs, threshold_of)

    @property
    def drifts(self) -> list[Difference]:
        """Those that count as drift."""
        return [each for each in self.differences if each.drift]

    @cached_property
    def duplicates(self) -> Duplicates:
        """What is repeated; nothing if no digests were taken."""
        files = self.statistics.files
        others = [each for each in self.columns if each.key not in self.groups]
        found = duplicates_of(others, self.splits, files)
        if self.compared is not None:
            return found.of_pairs(self.compared)
        if not self.groups:
            return found
        from .groups import shared_groups

        groups = [each for each in self.columns if each.key in self.groups]
        return found + shared_groups(groups, self.splits, files)

    @cached_property
    def associations(self) -> Sequence[Associations]:
        """How well features tell each target, by the first split."""
        if not self.splits:
            return ()
        limit_of = partial(self.thresholds.of, "target-leakage")
        return associations_of(self.columns, self.splits[0], limit_of)


def profile_of(
    data: Data,
    statistics: DataStatistics,
    specs: Mapping[str, RecordSpec],
    spec: RecordSpec | None,
    groups: Sequence[str] = (),
    thresholds: Thresholds | None = None,
) -> Profile:
    """Return the profile of data.

    Args:
        data: the files.
        statistics: of these.
        specs: of each split, as `specs_by_split` returns them.
        spec: of all records; None for that of the manifest.
        groups: the keys by which records are grouped.
        thresholds: of a project; None for the defaults.

    Raises:
        DatasetError: records cannot be grouped by these.
    """
    found = Profile(
        statistics,
        specs,
        spec or spec_of_manifest(data),
        manifest=_manifest(data),
        groups=groups,
        thresholds=thresholds or Thresholds(),
    )
    if groups:
        from .groups import check_groups

        check_groups(found.where, found.columns, groups)
    return found


def _manifest(data: Data) -> ManifestFacts | None:
    if data.manifest is None or data.directory is None:
        return None
    text = open_directory(str(data.directory)).read(manifest.FILE_NAME) or b"{}"
    return ManifestFacts(
        data.manifest.record,
        data.manifest.fingerprint,
        json.loads(text).get("format", 1),
        hashlib.sha256(text).hexdigest(),
    )
