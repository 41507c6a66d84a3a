"""Inspecting: from files to statistics, whatever the number of workers the same."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...progress import Bar
from ...runtime.shared.tfrecord import MOST_RECORD_BYTES
from ...runtime.sources.shards import File
from ..one_pass import FileGroup, Pass, Scanned, Wanted, read_data
from ..profile.associations import keys_of
from ..profile.columns import keys_named, specs_by_split
from ..profile.profile import Profile, profile_of
from ..sources import Data, find_data
from ..statistics.model import DataStatistics, FileStatistics, WrittenBy

if TYPE_CHECKING:
    from ...rules import Thresholds
    from ...spec.model import RecordSpec
    from ..statistics.declared import Numbered


def inspect_data(
    source: str | os.PathLike[str] | Data,
    split: str | None = None,
    *,
    limit: int | None = None,
    workers: int | None = 1,
    max_record_bytes: int = MOST_RECORD_BYTES,
    digests: bool = True,
    rows: bool = True,
    spec: RecordSpec | None = None,
    groups: Sequence[str] = (),
    thresholds: Thresholds | None = None,
    numbered: Numbered | None = None,
) -> Profile:
    """Tell what the files of a data directory, a glob or a path hold.

    Args:
        source: a data directory, with a manifest or without, a glob, or a file; or the
            URL of one; or the files, already found.
        split: only this split.
        limit: only so many records of each split, the first ones; None for all.
        workers: how many processes read; None for one each core, if there is enough to
            do. Programs that are started as scripts need the usual
            `if __name__ == "__main__"` around the call.
        max_record_bytes: longer records are damages and are not read.
        digests: also take digests of records and values, in which duplicates show.
        rows: also take a sample of rows, which tells how well features predict targets.
        spec: of all records; None for those that the manifest lists.
        groups: fields or keys by whose values records are grouped; values in two splits
            are found.
        thresholds: of a project; None for the defaults.
        numbered: fields under numbered keys, further than those of the specs.

    Raises:
        DatasetError: there are no such files or groups, or a worker died. Damage of the files
            themselves, and of the manifest, is in what is returned.
    """
    data = source if isinstance(source, Data) else find_data(source, split)
    specs = specs_by_split(data, spec)
    read = [
        FileGroup(name, specs.get(name), files) for name, files in data.splits.items()
    ]
    wanted = Wanted(
        statistics=True,
        digests=digests,
        limit=limit,
        max_record_bytes=max_record_bytes,
        rows=keys_of(specs.values()) if rows else (),
        groups=keys_named(groups, specs.values()),
        numbered=numbered or {},
    )
    with Bar("inspecting") as bar:
        found = read_data(data, read, wanted, workers=workers, progress=bar)
    statistics = statistics_of(data, found, limit)
    return profile_of(
        data, statistics, specs, spec, groups=wanted.groups, thresholds=thresholds
    )


def statistics_of(data: Data, found: Pass, limit: int | None) -> DataStatistics:
    """Return what is known of files that were read and measured."""
    return DataStatistics(
        where=data.where,
        files=tuple(_file(file, found.files[file.path]) for file in data.files),
        splits={name: found.statistics[name] for name in data.splits},
        written_by=_written_by(data),
        unlisted=data.unlisted,
        manifest_problem=data.problem,
        limit=limit,
        gaps=data.gaps,
        other_files=data.other_files,
        publishing=tuple(sorted(data.manifest.unsettled)) if data.manifest else (),
        tfds=data.tfds,
    )


def _file(file: File, scanned: Scanned) -> FileStatistics:
    shard = file.listed
    return FileStatistics(
        path=file.path,
        split=file.split,
        bytes=file.size,
        compression=scanned.compression or "",
        records=scanned.tally.records,
        listed=None if shard is None else shard.records,
        listed_bytes=None if shard is None else shard.bytes,
        damages=tuple(scanned.damages),
        damaged=scanned.damaged,
        complete=scanned.complete,
        keyed=scanned.tally.keyed,
    )


def _written_by(data: Data) -> dict[str, WrittenBy]:
    if data.manifest is None:
        return {}
    return {
        name: WrittenBy(
            data.manifest.record,
            data.manifest.fingerprint_of(name),
            sum(file.listed.records for file in files if file.listed is not None),
        )
        for name, files in data.splits.items()
        if name in data.manifest.splits and all(file.listed for file in files)
    }
