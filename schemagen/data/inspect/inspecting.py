"""From files to statistics: whatever the number of workers, the same."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import reduce
from typing import NamedTuple

import numpy as np

from ...progress import Bar
from ...runtime.reading.decoding import decode
from ...runtime.reading.records import Records
from ...runtime.shared.errors import DatasetError
from ...runtime.shared.processes import in_parallel
from ...runtime.shared.tfrecord import detect_compression
from ..framing import Moved, scan
from ..keyed import Keyed, keyed_of
from ..limits import MAX_RECORD_BYTES
from ..listing import Listing, list_data
from ..parallel import (
    PART_BYTES,
    parts_of,
    usual_workers,
)
from ..records import Damage, Part
from ..remote_path import FilePath
from ..sources import Data, DataFile
from ..statistics.measuring import Measuring
from ..statistics.model import (
    DataStatistics,
    FileStatistics,
    RecordStatistics,
    WrittenBy,
    merged_records,
)

# So many damages of a file are told one by one.
_MOST_DAMAGES = 10

# Small files make one task together, up to so many bytes.
_TASK_BYTES = 1 << 25

# Results are merged when there are so many.
_PARTS = 8


def inspect_data(
    source: str | os.PathLike[str] | Listing,
    split: str | None = None,
    *,
    limit: int | None = None,
    workers: int | None = 1,
    max_record_bytes: int = MAX_RECORD_BYTES,
    digests: bool = False,
) -> DataStatistics:
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

    Raises:
        DatasetError: there are no such files, or a worker died. Damage of the files
            themselves, and of the manifest, is in what is returned.
    """
    listing = source if isinstance(source, Listing) else list_data(source, split)
    data = listing.data
    tasks = list(_tasks(listing, limit, max_record_bytes, digests))
    tasks.sort(key=lambda task: -task.bytes)
    total = sum(task.bytes for task in tasks)
    if workers is None:
        workers = usual_workers(total)
    files: dict[FilePath, list[tuple[Part, FileStatistics]]] = {
        file.path: [] for file in data.files
    }
    records: dict[str, list[RecordStatistics]] = {name: [] for name in data.splits}
    with Bar("inspecting", total) as bar:
        for index, found in in_parallel(_inspect, tasks, workers=workers, moved=bar):
            task = tasks[index]
            for piece, file in zip(task.pieces, found[0], strict=True):
                files[piece.part.path].append((piece.part, file))
            some = records[task.split]
            some.append(found[1])
            if len(some) >= _PARTS:
                some[:] = [merged_records(some)]
    for parts in files.values():
        parts.sort(key=lambda each: each[0].start)
    return DataStatistics(
        where=data.where,
        files=tuple(_joined([file for _, file in some]) for some in files.values()),
        splits={name: merged_records(some) for name, some in records.items()},
        written_by=_written_by(data),
        unlisted=data.unlisted,
        manifest_problem=listing.problem,
        limit=limit,
        gaps=data.gaps,
        passed_over=data.passed_over,
        publishing=data.publishing,
        tfds=data.tfds,
    )


def _written_by(data: Data) -> dict[str, WrittenBy]:
    if data.manifest is None:
        return {}
    return {
        name: WrittenBy(
            data.manifest.record,
            data.manifest.fingerprint_of(name),
            sum(file.shard.records for file in files if file.shard is not None),
            {
                each["key"]: dict(enumerate(each["classes"], each.get("offset", 0)))
                for each in data.manifest.spec_of(name)["fields"]
                if each.get("classes")
            },
        )
        for name, files in data.splits.items()
        if name in data.manifest.splits and all(file.shard for file in files)
    }


class _Piece(NamedTuple):
    """A file or a part of it, the file's place in its split, and the bytes on disk."""

    rank: int
    file: DataFile
    part: Part
    bytes: int


class _Task(NamedTuple):
    """What one process reads at a time: pieces of a split, up to so many records."""

    split: str
    pieces: Sequence[_Piece]
    limit: int | None
    max_record_bytes: int
    digests: bool

    @property
    def bytes(self) -> int:
        """The size on disk."""
        return sum(piece.bytes for piece in self.pieces)


def _tasks(
    listing: Listing, limit: int | None, max_record_bytes: int, digests: bool
) -> Iterator[_Task]:
    """Yield what to read: with a limit, each split by one process.

    Small files go together, and large ones are cut; their sizes alone determine how, so
    sums are rounded alike for any number of processes.
    """
    how = (limit, max_record_bytes, digests)
    for split, files in listing.data.splits.items():
        group: list[_Piece] = []
        grouped = 0
        for rank, each in enumerate(files):
            # A spec is not looked at, and need not go to another process.
            file = replace(each, spec=None)
            size = listing.sizes[file.path] or 0
            if limit is None and size >= 2 * PART_BYTES:
                for part in parts_of(file.path):
                    stop = size if part.stop is None else part.stop
                    piece = _Piece(rank, file, part, stop - part.start)
                    yield _Task(split, [piece], *how)
                continue
            group.append(_Piece(rank, file, Part(file.path), size))
            grouped += size
            if limit is None and grouped >= _TASK_BYTES:
                yield _Task(split, group, *how)
                group, grouped = [], 0
        if group:
            yield _Task(split, group, *how)


def _size(path: FilePath) -> int:
    with suppress(OSError):
        return path.stat().st_size
    return 0


def _joined(parts: list[FileStatistics]) -> FileStatistics:
    """Put the parts of a file together, which are in order."""
    if len(parts) == 1:
        return parts[0]
    damages = [damage for part in parts for damage in part.damages]
    return replace(
        parts[0],
        records=sum(part.records for part in parts),
        damages=tuple(damages[:_MOST_DAMAGES]),
        damaged=sum(part.damaged for part in parts),
        keyed=reduce(Keyed.merged, (part.keyed for part in parts)),
    )


def _inspect(
    task: _Task, moved: Moved
) -> tuple[list[FileStatistics], RecordStatistics]:
    """Return the statistics of the files, or of their parts, and of all records."""
    measuring = Measuring(digests=task.digests)
    left = task.limit
    files = []
    for piece in task.pieces:
        scanned = scan(piece.part, moved=moved, max_record_bytes=task.max_record_bytes)
        found = _inspect_piece(piece, measuring, left, scanned)
        files.append(found)
        if left is not None:
            left -= files[-1].records
    return files, measuring.found()


def _inspect_piece(
    piece: _Piece,
    measuring: Measuring,
    left: int | None,
    scanned: Iterable[Records | Damage],
) -> FileStatistics:
    records = damaged = 0
    keyed = Keyed()
    damages: list[Damage] = []
    complete = left != 0
    for run in scanned if complete else ():
        if isinstance(run, Damage):
            damaged += 1
            if len(damages) < _MOST_DAMAGES:
                damages.append(run)
            continue
        if left is not None and records + len(run) > left:
            run = run.only(np.arange(left - records))
            complete = False
        if len(run):
            columns = decode(run)
            measuring.add(columns, piece.rank)
            keyed = keyed.merged(keyed_of(columns))
            records += len(run)
        if not complete:
            break
    file = piece.file
    return FileStatistics(
        path=str(file.path),
        split=file.split,
        bytes=_size(file.path),
        compression=_compression(file.path),
        records=records,
        listed=None if file.shard is None else file.shard.records,
        listed_bytes=None if file.shard is None else file.shard.bytes,
        damages=tuple(damages),
        damaged=damaged,
        complete=complete,
        keyed=keyed,
    )


def _compression(path: FilePath) -> str:
    with suppress(OSError, DatasetError), path.open("rb") as file:
        return detect_compression(file.read(12) or b"")
    return ""
