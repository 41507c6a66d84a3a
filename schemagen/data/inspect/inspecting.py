"""From files to statistics: whatever the number of workers, the same."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path

import numpy as np

from ...runtime.shared.errors import DatasetError
from ...runtime.shared.tfrecord import detect_compression
from ..decoding import decode
from ..framing import Moved, scan
from ..limits import MAX_RECORD_BYTES
from ..parallel import (
    ReadingBar,
    in_parallel,
    parts_of,
    usual_workers,
)
from ..records import Damage, Part, Records
from ..sources import Data, DataFile, find_data, has_damaged_manifest
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
    workers: int | None = 1,
    max_record_bytes: int = MAX_RECORD_BYTES,
) -> DataStatistics:
    """Tell what the files of a data directory, a glob or a path hold.

    On a terminal a bar shows how far it is.

    Args:
        source: a data directory, with a manifest or without, a glob, or a file.
        split: only this split.
        limit: only so many records of each split, the first ones; None for all.
        workers: how many processes read; None for one each core, if there is enough to
            do. Programs that are started as scripts need the usual
            `if __name__ == "__main__"` around the call.
        max_record_bytes: longer records, and those of so many values that decoding
            takes more memory, are damages and are not read.

    Raises:
        DatasetError: there are no such files. Damage of the files themselves, and of
            the manifest, is in what is returned.
    """
    where = os.fspath(source)
    try:
        data, problem = find_data(where, split), ""
    except DatasetError as error:
        if not has_damaged_manifest(where):
            raise
        data, problem = find_data(where, split, use_manifest=False), str(error)
    tasks = _tasks(data, limit, max_record_bytes)
    tasks.sort(key=lambda task: -task.bytes)
    total = sum(task.bytes for task in tasks)
    if workers is None:
        workers = usual_workers(total)
    files: dict[tuple[str, int], list[tuple[int, FileStatistics]]] = {}
    records: dict[str, list[RecordStatistics]] = {name: [] for name in data.splits}
    with ReadingBar(total, "inspecting") as bar:
        for index, found in in_parallel(_inspect, tasks, workers=workers, moved=bar):
            task, parts = tasks[index], records[tasks[index].split]
            for piece, file in zip(task.pieces, found[0], strict=True):
                place = task.split, piece.rank
                files.setdefault(place, []).append((piece.part.start, file))
            parts.append(found[1])
            if len(parts) >= _PARTS:
                parts[:] = [merged_records(parts)]
    return DataStatistics(
        where=data.where,
        files=tuple(
            _joined([file for _, file in sorted(some, key=itemgetter(0))])
            for _, some in sorted(files.items(), key=itemgetter(0))
        ),
        splits={name: merged_records(parts) for name, parts in records.items()},
        written_by=_written_by(data),
        unlisted=data.unlisted,
        manifest_problem=problem,
        limit=limit,
        gaps=data.gaps,
        passed_over=data.passed_over,
        publishing=data.publishing,
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
class _Piece:
    """A file, or a part of it.

    Attributes:
        rank: the file's place among those of its split.
        file: the file.
        part: which of its records to read.
    """

    rank: int
    file: DataFile
    part: Part

    @property
    def bytes(self) -> int:
        """The size on disk."""
        stop = self.part.stop
        return (_size(self.file.path) if stop is None else stop) - self.part.start


@dataclass(frozen=True)
class _Task:
    """What one process reads at a time.

    Attributes:
        split: the split's name.
        pieces: of its files.
        limit: how many records to read of all of them together.
        max_record_bytes: the most bytes of a record.
    """

    split: str
    pieces: tuple[_Piece, ...]
    limit: int | None
    max_record_bytes: int

    @property
    def bytes(self) -> int:
        """The size on disk."""
        return sum(piece.bytes for piece in self.pieces)


def _tasks(data: Data, limit: int | None, max_record_bytes: int) -> list[_Task]:
    """Cut the work up: with a limit, each split is read by one process."""
    tasks = []
    for split, files in data.splits.items():
        some: list[_Piece] = []
        size = 0
        for rank, file in enumerate(files):
            # A spec is not looked at, and need not go to another process.
            file = replace(file, spec=None)
            for part in parts_of(file.path) if limit is None else [Part(file.path)]:
                some.append(_Piece(rank, file, part))
                size += some[-1].bytes
                if limit is None and size >= _TASK_BYTES:
                    tasks.append(_Task(split, tuple(some), None, max_record_bytes))
                    some, size = [], 0
        if some:
            tasks.append(_Task(split, tuple(some), limit, max_record_bytes))
    return tasks


def _size(path: Path) -> int:
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
    )


def _inspect(
    task: _Task, moved: Moved
) -> tuple[list[FileStatistics], RecordStatistics]:
    """Return the statistics of the files, or of their parts, and of all records."""
    measuring = Measuring()
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
            measuring.add(decode(run), piece.rank)
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
    )


def _compression(path: Path) -> str:
    with suppress(OSError, DatasetError), path.open("rb") as file:
        return detect_compression(file.read(12))
    return ""
