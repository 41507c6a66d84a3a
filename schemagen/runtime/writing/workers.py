"""From a source to its chunks, in this process or in several.

Encoding is a pure function of rows, and the chunks are put in the order of rows, so
that the bytes of all chunks together do not depend on the number of workers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from ..shared.errors import DatasetError, position
from .channel import Packed, pack
from .encoding import Chunk, Encoding, encode_rows
from .plan import check_workers
from .pool import Pool
from .sources import Indexed, Parts, Source, Stream, check_start, fields_of
from .worker import Done, Task

# Tasks are to take about this long: much longer than what sending them takes, and
# short enough for all workers to end at about the same time.
_TASK_SECONDS = 0.05
_FIRST_TASK_ROWS = 16
_TASK_ROWS = 4096

# Rows that are sent to a worker wait there in memory, this many bytes at a time.
_TASK_BYTES = 1 << 18

# How many tasks with rows are sent to a worker before it is done with the first: its
# thread that receives them has to wait for the one that encodes.
_AHEAD = 8


def chunks(
    source: Source,
    encoding: Encoding,
    *,
    workers: int = 1,
    blocks: int = 1,
    parts: Sequence[int] | None = None,
    skip: int = 0,
) -> Iterator[Chunk]:
    """Encode the rows of a source.

    Args:
        source: where the rows come from.
        encoding: how rows become records.
        workers: how many processes encode; with 1 it is this one.
        blocks: cut an indexed source into this many parts of nearly equal size.
        parts: the sources or blocks to go through; None for all of them.
        skip: begin at the row at this position; not for a list of sources.

    Yields:
        The chunks of one part after the other, each in the order of its rows. With
        several workers and a source for each shard, chunks of different parts come
        as they are made. The last chunk of each part has `last` set.

    Raises:
        RecordError, TypeError: as `encode_rows`, for the first wrong row. With
            several workers and a source for each shard, for the first that was found.
        DatasetError: a worker has died, or cannot be given what it needs.
        Exception: whatever the source raises, with the position as note.
    """
    check_workers(workers)
    if parts is None:
        parts = range(len(source) if isinstance(source, Parts) else blocks)
    if isinstance(source, Parts):
        workers = min(workers, len(parts))
    ranges: list[_Range] = []
    if isinstance(source, Indexed):
        ranges = _ranges(source, blocks, parts, skip)
        workers = min(workers, sum(stop - start for _, start, stop in ranges))
    if workers > 1:
        if isinstance(source, Stream):
            return _streamed(source, encoding, workers, skip)
        if isinstance(source, Indexed):
            return _indexed(source, encoding, workers, ranges)
        return _parted(source, encoding, workers, parts)
    if isinstance(source, Indexed):
        return _in_ranges(source, encoding, ranges)
    return _here(source, encoding, parts, skip)


# A part, and the positions of its first row and of the row after its last.
_Range = tuple[int, int, int]


def _ranges(
    source: Indexed, blocks: int, parts: Sequence[int], skip: int
) -> list[_Range]:
    check_start(skip, source.length)
    found = []
    for part in parts:
        block = source.block(part, blocks)
        found.append((part, max(skip, block.start), max(skip, block.stop)))
    return found


def _in_ranges(
    source: Indexed, encoding: Encoding, ranges: Sequence[_Range]
) -> Iterator[Chunk]:
    for part, start, stop in ranges:
        rows = source.rows(part, start, stop)
        yield from encode_rows(rows, encoding, part=part, first=start)


def _here(
    source: Parts | Stream, encoding: Encoding, parts: Sequence[int], skip: int
) -> Iterator[Chunk]:
    for part in parts:
        shard = part if isinstance(source, Parts) else None
        rows = source.rows(part, skip)
        yield from encode_rows(rows, encoding, part=part, shard=shard, first=skip)


class _Pace:
    """How many rows make a task."""

    def __init__(self) -> None:
        self.rows = _FIRST_TASK_ROWS

    def learn(self, done: Done) -> None:
        """Take what a task has shown."""
        if done.rows:
            fitting = int(done.rows * _TASK_SECONDS / max(done.seconds, 1e-6))
            self.rows = max(1, min(fitting, 2 * self.rows, _TASK_ROWS))


class _Tasks:
    """Cuts ranges of rows into tasks, smaller ones towards the end."""

    def __init__(self, ranges: Sequence[_Range], workers: int, pace: _Pace) -> None:
        self._ranges = deque(ranges)
        self._left = sum(stop - start for _, start, stop in ranges)
        self._workers = workers
        self._pace = pace

    def next(self) -> Task | None:
        """Return the next task, or None after the last."""
        if not self._ranges:
            return None
        part, start, end = self._ranges.popleft()
        rows = min(self._pace.rows, max(1, self._left // (2 * self._workers)))
        stop = min(start + rows, end)
        self._left -= stop - start
        if stop < end:
            self._ranges.appendleft((part, stop, end))
        return Task(part, None, start, stop, last=stop == end)


def _indexed(
    source: Indexed, encoding: Encoding, workers: int, ranges: Sequence[_Range]
) -> Iterator[Chunk]:
    pace = _Pace()
    tasks = _Tasks(ranges, workers, pace)
    pool = Pool(
        workers,
        source,
        encoding,
        ordered=True,
        ahead=2,
        next_task=tasks.next,
        learn=pace.learn,
    )
    try:
        yield from pool.chunks()
    finally:
        pool.close()


def _parted(
    source: Parts, encoding: Encoding, workers: int, parts: Sequence[int]
) -> Iterator[Chunk]:
    tasks = iter([Task(part, part, 0, None, last=True) for part in parts])
    pool = Pool(
        workers,
        source,
        encoding,
        ordered=False,
        ahead=1,
        next_task=lambda: next(tasks, None),
        learn=lambda done: None,
    )
    try:
        yield from pool.chunks()
    finally:
        pool.close()


def _streamed(
    source: Stream, encoding: Encoding, workers: int, skip: int
) -> Iterator[Chunk]:
    pace = _Pace()
    pool = Pool(
        workers,
        None,
        encoding,
        ordered=True,
        ahead=_AHEAD,
        next_task=None,
        learn=pace.learn,
    )
    try:
        row, failure, ended = skip, None, False
        rows = source.rows(0, skip)
        while not ended:
            yield from pool.chunks()
            packed, failure, ended = _gather(rows, row, pace)
            stop = row + len(packed)
            if packed:
                pool.give(Task.of(packed, row))
            row = stop
        pool.finish()
        yield from pool.chunks()
        if failure is not None:
            raise failure
        yield from encode_rows((), encoding, first=row)
    finally:
        pool.close()


def _gather(
    rows: Iterator[object], first: int, pace: _Pace
) -> tuple[list[Packed], Exception | None, bool]:
    """Take the rows of a task.

    A source may use the memory of a row again for the next one. So rows get memory of
    their own, all but the last, which is sent before the source is asked again: large
    rows, each of them a task, are not copied at all.

    Returns:
        The rows; what has ended them, if it was an error; whether they have ended.
    """
    gathered: list[Packed] = []
    size = 0
    try:
        for row in rows:
            packed = _packed(row, first + len(gathered))
            size += packed.size
            if len(gathered) + 1 >= pace.rows or size >= _TASK_BYTES:
                return [*gathered, packed], None, False
            gathered.append(packed.kept())
    except Exception as error:
        return gathered, error, True
    return gathered, None, True


def _packed(row: Any, number: int) -> Packed:
    """Pickle a row, as a dict if it can be one; a worker says what is wrong if not."""
    if type(row) is not dict:
        with suppress(Exception):
            row = fields_of(row)
    try:
        return pack(row)
    except Exception as error:
        raise DatasetError(
            f"{position(number)} cannot be sent to a worker process ({error}); make "
            "its values arrays, numbers, strings or bytes, or use workers=1"
        ) from error
