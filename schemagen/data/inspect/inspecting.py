"""From files to statistics: whatever the number of workers, the same."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from ...support.errors import DatasetError
from ...support.tfrecord import detect_compression
from ..decoding import decode
from ..parallel import Moved, ReadingBar, in_parallel, scan_and_tell
from ..records import Damage, Records
from ..sources import Data, DataFile, find_data
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
    source: str | os.PathLike[str],
    split: str | None = None,
    *,
    limit: int | None = None,
    workers: int = 1,
) -> DataStatistics:
    """Tell what the files of a data directory, a glob or a path hold.

    On a terminal a bar shows how far it is.

    Args:
        source: a data directory, with a manifest or without, a glob, or a file.
        split: only this split.
        limit: only so many records of each split, the first ones; None for all.
        workers: how many processes read, each of them its own files.

    Raises:
        DatasetError: there are no such files, or the manifest is damaged. Damage of
            the files themselves is in what is returned.
    """
    data = find_data(source, split)
    return statistics_of(data, limit=limit, workers=workers)


def statistics_of(
    data: Data, *, limit: int | None = None, workers: int = 1
) -> DataStatistics:
    """Do the same for files that have been found."""
    tasks = _tasks(data, limit)
    sizes = [sum(_size(file) for _, file in task.files) for task in tasks]
    order = sorted(range(len(tasks)), key=lambda at: -sizes[at])
    files: dict[tuple[str, int], FileStatistics] = {}
    parts: dict[str, list[RecordStatistics]] = {name: [] for name in data.splits}
    with ReadingBar(sum(sizes), "inspecting") as bar:
        done = in_parallel(
            _inspect, [tasks[at] for at in order], workers=workers, moved=bar
        )
        for index, found in done:
            task = tasks[order[index]]
            for (rank, _), file in zip(task.files, found.files, strict=True):
                files[task.split, rank] = file
            split_parts = parts[task.split]
            split_parts.append(found.records)
            if len(split_parts) >= _PARTS:
                split_parts[:] = [merged_records(split_parts)]
    return DataStatistics(
        where=data.where,
        files=tuple(file for _, file in sorted(files.items())),
        splits={name: merged_records(found) for name, found in parts.items()},
        written_by=_written_by(data),
        unlisted=data.unlisted,
        limit=limit,
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


@dataclass(frozen=True)
class _Task:
    """Files of a split to read: by their place among its files.

    Attributes:
        split: the split's name.
        files: each with its place.
        limit: how many records to read of all of them together.
    """

    split: str
    files: tuple[tuple[int, DataFile], ...]
    limit: int | None


@dataclass(frozen=True)
class _Found:
    """What came of a task."""

    files: tuple[FileStatistics, ...]
    records: RecordStatistics


def _tasks(data: Data, limit: int | None) -> list[_Task]:
    """Cut the work up: with a limit, each split is read by one process."""
    tasks = []
    for split, files in data.splits.items():
        some: list[tuple[int, DataFile]] = []
        size = 0
        for rank, file in enumerate(files):
            # A spec is not looked at, and need not go to another process.
            some.append((rank, replace(file, spec=None)))
            size += _size(file)
            if limit is None and size >= _TASK_BYTES:
                tasks.append(_Task(split, tuple(some), None))
                some, size = [], 0
        if some:
            tasks.append(_Task(split, tuple(some), limit))
    return tasks


def _size(file: DataFile) -> int:
    with suppress(OSError):
        return file.path.stat().st_size
    return 0


def _inspect(task: _Task, moved: Moved) -> _Found:
    measuring = Measuring()
    left = task.limit
    files = []
    for rank, file in task.files:
        found = _inspect_file(file, rank, measuring, left, moved)
        files.append(found)
        if left is not None:
            left -= found.records
    return _Found(tuple(files), measuring.found())


def _inspect_file(
    file: DataFile, rank: int, measuring: Measuring, left: int | None, moved: Moved
) -> FileStatistics:
    records = damaged = 0
    damages: list[Damage] = []
    complete = left != 0
    for run in scan_and_tell(file.path, moved) if complete else ():
        if isinstance(run, Damage):
            damaged += 1
            if len(damages) < _MOST_DAMAGES:
                damages.append(run)
            continue
        if left is not None and records + len(run) > left:
            run = _first(run, left - records)
            complete = False
        if len(run):
            measuring.add(decode(run), rank)
            records += len(run)
        if not complete:
            break
    return FileStatistics(
        path=str(file.path),
        split=file.split,
        bytes=_size(file),
        compression=_compression(file.path),
        records=records,
        listed=None if file.shard is None else file.shard.records,
        damages=tuple(damages),
        damaged=damaged,
        complete=complete,
    )


def _first(run: Records, count: int) -> Records:
    return replace(
        run,
        starts=run.starts[:count],
        stops=run.stops[:count],
        numbers=run.numbers[:count],
        offsets=run.offsets[:count],
    )


def _compression(path: Path) -> str:
    with suppress(OSError, DatasetError), path.open("rb") as file:
        return detect_compression(file.read(12))
    return ""
