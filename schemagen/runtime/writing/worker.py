"""A worker process: it carries out tasks, one answer after the other.

A process that was forked from one that uses tensorflow must not use it itself. Nothing
here does; rows that are loaded with tensorflow need another start method.
"""

from __future__ import annotations

import pickle
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from io import BytesIO
from multiprocessing.context import BaseContext
from typing import Any, cast

from ..shared.errors import DatasetError, position
from ..shared.processes import begin_worker
from ..shared.tfrecord import Framed
from .encoding import Chunk, Encoding, encode_rows
from .sources import Indexed, Parts

# Rows that are sent to a worker wait there in memory, this many bytes at a time.
_TASK_BYTES = 1 << 18

# A worker answers when it has records of this many bytes, or after this time.
_ANSWER_BYTES = 1 << 20
_ANSWER_SECONDS = 0.1

# Large memory up to this size goes from process to process without a pipe.
_SLOT_BYTES = 5 << 18


class SharedMemory:
    """Memory of a worker and its parent, with slots that are used in turn.

    The pipes of an executor copy an object three times more, in small pieces.

    Args:
        context: how the processes are started.
        slots: how many objects may be on their way at a time.
    """

    def __init__(self, context: BaseContext, slots: int) -> None:
        self._array = context.RawArray("B", slots * _SLOT_BYTES)
        self._slots = slots
        self._turn = 0  # of each side: the one puts objects in, the other gets them

    def _next(self) -> memoryview:
        start = self._turn % self._slots * _SLOT_BYTES
        self._turn += 1
        return memoryview(self._array).cast("B")[start : start + _SLOT_BYTES]

    def put(self, value: object) -> Packed:
        """Prepare an object for its way; its large memory goes into a slot if it fits."""
        found: list[pickle.PickleBuffer] = []
        head = pickle.dumps(value, protocol=5, buffer_callback=found.append)
        buffers = [buffer.raw() for buffer in found]
        slot = self._next()
        if sum(map(len, buffers)) > _SLOT_BYTES:
            return head, [bytes(buffer) for buffer in buffers]
        end = 0
        for buffer in buffers:
            start, end = end, end + len(buffer)
            slot[start:end] = buffer
        return head, [len(buffer) for buffer in buffers]

    def get(self, packed: Packed) -> Any:
        """Return the next object that was put in, with memory of its own."""
        head, buffers = packed
        slot = self._next()
        end = 0
        found: list[bytes] = []
        for buffer in buffers:
            if isinstance(buffer, int):
                start, end = end, end + buffer
                buffer = bytes(slot[start:end])
            found.append(buffer)
        return pickle.loads(head, buffers=found)


Packed = tuple[bytes, "list[bytes] | list[int]"]
"""The pickle of an object, and its large memory: the bytes, or their sizes in a slot."""


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


@dataclass(frozen=True, slots=True)
class Answer:
    """The next records of the task that a worker is at.

    Attributes:
        chunks: the records, in the order of rows.
        ended: whether the task has ended with them.
        rows: how many rows a task had that has ended, written or refused.
        seconds: how long encoding them took.
        failure: the error that has ended the task.
    """

    chunks: list[Chunk] = field(default_factory=list)
    ended: bool = False
    rows: int = 0
    seconds: float = 0.0
    failure: BaseException | None = None

    @property
    def size(self) -> int:
        """The bytes of the records."""
        return sum(len(chunk.framed.data) for chunk in self.chunks)


class Failed(Exception):
    """An error of a task on its way to the parent, with notes, which some classes lose."""

    @classmethod
    def of(cls, error: BaseException) -> Failed:
        """Return what can be pickled of an error."""
        notes = getattr(error, "__notes__", ())
        try:
            pickle.loads(pickle.dumps(error))  # some can be pickled and not read again
        except Exception:
            return cls(RuntimeError(f"{type(error).__name__}: {error}"), notes)
        return cls(error, notes)

    def error(self) -> BaseException:
        """Return the error as it was raised; its cause has the worker's traceback."""
        error, notes = self.args
        for note in notes:
            if note not in getattr(error, "__notes__", ()):
                error.add_note(note)
        error.__cause__ = self.__cause__
        return cast("BaseException", error)


class _Encoder:
    """Carries out the tasks of a worker process, one after the other."""

    def __init__(self, source: Parts | Indexed | None, encoding: Encoding) -> None:
        self._source = source
        self._encoding = encoding
        self._tasks: deque[Task] = deque()
        self._chunks: Iterator[Chunk] | None = None  # of the first task
        self._failure: BaseException | None = None  # of the first task, to be raised
        self._seconds = 0.0

    def answer(self, task: Task | None) -> Answer:
        """Take another task, if there is one, and encode until there is an answer."""
        if task is not None:
            self._tasks.append(task)
        if not self._tasks:
            return Answer()
        task = self._tasks[0]
        found: list[Chunk] = []
        size = 0
        start = time.perf_counter()
        try:
            if self._failure is not None:
                raise self._failure
            self._chunks = self._chunks or self._encoded(task)
            for chunk in self._chunks:
                found.append(chunk)
                size += len(chunk.framed.data)
                spent = time.perf_counter() - start
                if size >= _ANSWER_BYTES or spent >= _ANSWER_SECONDS:
                    self._seconds += spent
                    return Answer(found)
        except BaseException as error:
            if not found:
                raise Failed.of(error) from error
            self._failure = error
            return Answer(found)
        seconds = self._seconds + time.perf_counter() - start
        rows = found[-1].next_row - task.first if found else 0
        self._tasks.popleft()
        self._chunks, self._seconds = None, 0.0
        return Answer(found, True, rows, seconds)

    def _encoded(self, task: Task) -> Iterator[Chunk]:
        if task.rows is not None:
            rows = _unpickled(task.rows, task.first)
        else:
            assert self._source is not None
            rows = self._source.rows(task.part, task.first, task.stop)
        return encode_rows(
            rows,
            self._encoding,
            part=task.part,
            shard=task.shard,
            first=task.first,
            last=task.last,
        )


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


def _unpickled(rows: bytes, first: int) -> Iterator[object]:
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


@dataclass
class _Process:
    """What this process has, if it is a worker."""

    encoder: _Encoder
    tasks: SharedMemory | None
    answers: SharedMemory


_process: _Process


def begin(
    source: Parts | Indexed | None,
    encoding: Encoding,
    tasks: SharedMemory | None,
    answers: SharedMemory,
) -> None:
    """Prepare a worker process.

    Args:
        source: has the rows; None where they come with the tasks.
        encoding: how rows become records.
        tasks: memory for the tasks that come, if they have rows.
        answers: memory for the answers.
    """
    global _process
    begin_worker()
    _process = _Process(_Encoder(source, encoding), tasks, answers)


def answer(packed: Packed | Task | None) -> Packed:
    """Take another task, if there is one, and return the next answer."""
    task = packed
    if isinstance(task, tuple):
        assert _process.tasks is not None
        task = _process.tasks.get(task)
    found = _process.encoder.answer(task)
    chunks = [
        replace(
            chunk,
            framed=Framed(pickle.PickleBuffer(chunk.framed.data), chunk.framed.ends),  # type: ignore[arg-type]
        )
        for chunk in found.chunks
    ]
    return _process.answers.put(replace(found, chunks=chunks))
