"""Tasks of worker processes: how rows are divided into them, and rows that they bring."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from ..shared.errors import DatasetError, position

# Tasks take about this long: much longer than sending them, and short enough for all
# workers to end at about the same time.
_TASK_SECONDS = 0.05
_FIRST_TASK_ROWS = 16
_TASK_ROWS = 4096

# Rows that are sent to a worker wait there in memory, this many bytes at a time.
_TASK_BYTES = 1 << 18

# A part, and the positions of its first row and of the row after its last.
Range = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Task:
    """Rows that one worker encodes, one after the other.

    Attributes:
        part: which of the sources or blocks they are from.
        shard: what errors call the source that rows are counted in, if there are
            several.
        first: the position of the first row.
        stop: the position after the last row; None for all that there are.
        last: whether the part ends with them.
        rows: the pickled rows, one after the other; None if the worker has the source.
    """

    part: int
    shard: int | None
    first: int
    stop: int | None
    last: bool
    rows: Any = None

    def __str__(self) -> str:
        shard = "" if self.shard is None else f"shard {self.shard}, "
        stop = "on" if self.stop is None else f"to {self.stop - 1}"
        return f"{shard}rows {self.first} {stop}"


class Pace:
    """The number of rows that make a task."""

    def __init__(self) -> None:
        self.rows = _FIRST_TASK_ROWS

    def learn(self, rows: int, seconds: float) -> None:
        """Take note of how long a task has taken."""
        if rows:
            fitting = int(rows * _TASK_SECONDS / max(seconds, 1e-6))
            self.rows = max(1, min(fitting, 2 * self.rows, _TASK_ROWS))


def cut_ranges(ranges: Sequence[Range], workers: int, pace: Pace) -> Iterator[Task]:
    """Cut ranges of rows into tasks, smaller ones towards the end."""
    left = sum(stop - start for _, start, stop in ranges)
    for part, start, end in ranges:
        while True:
            rows = min(pace.rows, max(1, left // (2 * workers)))
            stop = min(start + rows, end)
            left -= stop - start
            yield Task(part, None, start, stop, last=stop == end)
            start = stop
            if stop == end:
                break


def pickled_rows(
    rows: Iterator[object], first: int, most: int
) -> tuple[list[bytes], Exception | None, bool]:
    """Take up to `most` rows and pickle each: the source may use its memory again.

    Returns:
        The rows; what has ended them, if it was an error; whether they have ended.
    """
    gathered: list[bytes] = []
    size = 0
    try:
        for row in rows:
            gathered.append(_pickled(row, first + len(gathered)))
            size += len(gathered[-1])
            if len(gathered) >= most or size >= _TASK_BYTES:
                return gathered, None, False
    except Exception as error:
        return gathered, error, True
    return gathered, None, True


def _pickled(row: Any, number: int) -> bytes:
    """Pickle a row, as a dict if it can be one; a worker says what is wrong if not."""
    if type(row) is not dict:
        with suppress(Exception):
            row = dict(row)
    try:
        return pickle.dumps(row, protocol=5)
    except Exception as error:
        raise DatasetError(
            f"{position(number)} cannot be sent to a worker process ({error}); make "
            "its values arrays, numbers, strings or bytes, or use workers=1"
        ) from error


def unpickled_rows(rows: bytes, first: int) -> Iterator[object]:
    stream = BytesIO(rows)
    number = first
    while stream.tell() < len(rows):
        try:
            row = pickle.load(stream)
        except Exception as error:
            error.add_note(f"while a worker process unpickled {position(number)}")
            raise
        yield row
        number += 1
