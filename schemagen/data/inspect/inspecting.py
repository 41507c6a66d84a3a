"""From files to statistics: whatever the number of workers, the same."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ...progress import Bar
from ...runtime.shared.tfrecord import MOST_RECORD_BYTES
from ..listing import Listing, list_data
from ..one_pass import Group, Pass, Scanned, Wanted, read_data
from ..profile.profile import Profile, profile_of
from ..sources import Data, DataFile
from ..statistics.model import DataStatistics, FileStatistics, WrittenBy

if TYPE_CHECKING:
    from ...spec.model import RecordSpec


def inspect_data(
    source: str | os.PathLike[str] | Listing,
    split: str | None = None,
    *,
    limit: int | None = None,
    workers: int | None = 1,
    max_record_bytes: int = MOST_RECORD_BYTES,
    digests: bool = True,
    spec: RecordSpec | None = None,
) -> Profile:
    """Tell what the files of a data directory, a glob or a path hold.

    Args:
        source: a data directory, with a manifest or without, a glob, or a file; or the
            URL of one; or the files, already listed.
        split: only this split.
        limit: only so many records of each split, the first ones; None for all.
        workers: how many processes read; None for one each core, if there is enough to
            do. Programs that are started as scripts need the usual
            `if __name__ == "__main__"` around the call.
        max_record_bytes: longer records are damages and are not read.
        digests: also take digests of records and values, in which repetitions show.
        spec: of all records; None for those that the manifest lists.

    Raises:
        DatasetError: there are no such files, or a worker died. Damage of the files
            themselves, and of the manifest, is in what is returned.
    """
    listing = source if isinstance(source, Listing) else list_data(source, split)
    groups = [Group(name, None, files) for name, files in listing.data.splits.items()]
    wanted = Wanted(
        statistics=True,
        digests=digests,
        limit=limit,
        max_record_bytes=max_record_bytes,
    )
    with Bar("inspecting") as bar:
        found = read_data(listing, groups, wanted, workers=workers, progress=bar)
    return profile_of(listing, statistics_of(listing, found, limit), spec)


def statistics_of(listing: Listing, found: Pass, limit: int | None) -> DataStatistics:
    """Return what is known of files that were read and measured."""
    data = listing.data
    return DataStatistics(
        where=data.where,
        files=tuple(
            _file(file, found.files[file.path], listing.sizes[file.path] or 0)
            for file in data.files
        ),
        splits={name: found.statistics[name] for name in data.splits},
        written_by=_written_by(data),
        unlisted=data.unlisted,
        manifest_problem=listing.problem,
        limit=limit,
        gaps=data.gaps,
        other_files=data.other_files,
        publishing=tuple(sorted(data.manifest.unsettled)) if data.manifest else (),
        tfds=data.tfds,
    )


def _file(file: DataFile, scanned: Scanned, size: int) -> FileStatistics:
    shard = file.shard
    return FileStatistics(
        path=str(file.path),
        split=file.split,
        bytes=size,
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
            sum(file.shard.records for file in files if file.shard is not None),
        )
        for name, files in data.splits.items()
        if name in data.manifest.splits and all(file.shard for file in files)
    }
