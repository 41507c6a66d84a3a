"""A worker process: it carries out tasks, one answer after the other.

A process that was forked from one that uses tensorflow must not use it itself. Nothing
here does; rows that are loaded with tensorflow need another start method.
"""

from __future__ import annotations

import copy
import pickle
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from typing import Any, cast

from ..shared.processes import begin_worker
from ..shared.tfrecord import Framed
from .encoding import Chunk, Encoding, encode_rows
from .sources import Indexed, Parts
from .tasks import Task, unpickled_rows

# The bytes of records that may wait for their turn from each worker, and of rows that may
# wait for each worker.
_AHEAD_BYTES = 16 << 20

# The answers that a worker is asked for at a time, at least.
_CALLS = 2

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
            rows = unpickled_rows(task.rows, task.first)
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


class Worker:
    """A process with an executor of its own, which carries out its tasks in order.

    Attributes:
        process: the process, once it has been created.
        receiving: memory for its answers.
        tasks: what it has been given and not finished; the first of them begins at the
            first row that has not come back.
        calls: how many answers it has been asked for that have not come.
        ready: the answers that have come and not been taken.
        ahead: the bytes of their records.
    """

    def __init__(
        self,
        number: int,
        context: BaseContext,
        source: Parts | Indexed | None,
        encoding: Encoding,
        ahead: int,
    ) -> None:
        self._slots = max(ahead, _CALLS) + 1
        self._sending = SharedMemory(context, self._slots) if source is None else None
        self.receiving = SharedMemory(context, self._slots)
        self.process: BaseProcess | None = None
        self.tasks: deque[Task] = deque()
        self.calls = 0
        self.ready: deque[Answer] = deque()
        self.ahead = 0

        def create(*args: Any, **options: Any) -> BaseProcess:
            name = f"encoding-{number}"
            self.process = make(*args, name=name, daemon=True, **options)
            return self.process

        own: Any = copy.copy(context)
        make, own.Process = own.Process, create
        self._executor = ProcessPoolExecutor(
            1,
            mp_context=own,
            initializer=begin,
            initargs=(source, encoding, self._sending, self.receiving),
        )

    def has_room(self, tasks: int) -> bool:
        """Return whether it may be given a task, where it may have this many of them."""
        rows = sum(len(task.rows or b"") for task in self.tasks)
        return (
            len(self.tasks) < tasks
            and self.calls < self._slots
            and max(rows, self.ahead) < _AHEAD_BYTES
        )

    @property
    def lacks_calls(self) -> bool:
        """Whether it has a task and should be asked for another answer."""
        return bool(self.tasks) and self.calls < _CALLS and self.ahead < _AHEAD_BYTES

    def call(self, task: Task | None) -> Future[Packed]:
        """Give the worker a task, if there is one, and ask for its next answer.

        Raises:
            BrokenProcessPool: the process has ended.
        """
        sent: Packed | Task | None = task
        if task is not None and task.rows is not None:
            assert self._sending is not None
            sent = self._sending.put(replace(task, rows=pickle.PickleBuffer(task.rows)))
        future = self._executor.submit(answer, sent)
        self.calls += 1
        if task is not None:
            self.tasks.append(task)
        return future

    def receive(self, answer: Answer) -> None:
        """Keep an answer until it is taken."""
        self.calls -= 1
        self.ahead += answer.size
        self.ready.append(answer)
        if answer.ended:
            self.tasks.popleft()
        elif answer.chunks:
            reached = answer.chunks[-1].next_row
            self.tasks[0] = replace(self.tasks[0], first=reached)

    def kill(self) -> None:
        """End the process at once."""
        if self.process is not None and self.process.pid is not None:
            self.process.kill()

    def join(self) -> None:
        """Wait until the process has ended."""
        self._executor.shutdown(cancel_futures=True)
