"""What a worker process does: task after task, and back go chunks.

A process that was forked from one that uses tensorflow must not use it itself.
Nothing here does; rows that are loaded with tensorflow need another start method.
"""

from __future__ import annotations

import os
import pickle
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from itertools import chain
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import ForkingPickler
from queue import SimpleQueue
from socket import socket
from typing import Any, Self

from ..shared.errors import DatasetError, position
from ..shared.processes import ignore_interrupts
from ..shared.tfrecord import Framed
from .channel import Channel, Packed, pack
from .encoding import Chunk, Encoding, encode_rows
from .sources import Indexed, Parts


@dataclass(frozen=True, slots=True)
class SentRows:
    """Rows on their way to a worker.

    Attributes:
        pickles: of the rows, one after the other.
        buffers: the large memory of all of them, in order.
    """

    pickles: pickle.PickleBuffer | memoryview | bytes
    buffers: tuple[pickle.PickleBuffer | memoryview, ...]

    @classmethod
    def of(cls, packed: Sequence[Packed]) -> Self:
        """Put rows together; their large memory is only referred to."""
        # One piece of memory arrives much sooner than many small ones.
        pickles = pickle.PickleBuffer(b"".join(row.head for row in packed))
        buffers = chain.from_iterable(row.buffers for row in packed)
        return cls(pickles, tuple(map(pickle.PickleBuffer, buffers)))

    def unpickled(self, first: int) -> Iterator[object]:
        """Yield the rows; `first` is the position of the first of them."""
        buffers = iter(self.buffers)
        stream = BytesIO(self.pickles)
        size = memoryview(self.pickles).nbytes
        number = first
        while stream.tell() < size:
            try:
                row = pickle.load(stream, buffers=buffers)
            except Exception as error:
                error.add_note(f"while a worker process unpickled {position(number)}")
                raise
            yield row
            number += 1


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
        rows: the rows; None if the worker has the source.
        size: the bytes of these rows.
    """

    part: int
    shard: int | None
    first: int
    stop: int | None
    last: bool
    rows: SentRows | None = None
    size: int = 0

    @classmethod
    def of(cls, packed: Sequence[Packed], first: int) -> Self:
        """Return the task to encode rows that come with it."""
        size = sum(row.size for row in packed)
        stop = first + len(packed)
        return cls(
            0, None, first, stop, last=False, rows=SentRows.of(packed), size=size
        )


@dataclass(frozen=True, slots=True)
class Done:
    """A task is finished.

    Attributes:
        rows: how many rows it had, written or refused.
        seconds: how long encoding them took.
    """

    rows: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Failed:
    """A task has ended with an error.

    Attributes:
        pickled: the error, if it can be pickled.
        text: the error's class and what it says.
        notes: its notes.
        trace: its traceback, as text.
    """

    pickled: bytes | None
    text: str
    notes: tuple[str, ...]
    trace: str

    def error(self) -> BaseException:
        """Return the error as it was raised, caused by where that was."""
        found: Any = None
        with suppress(Exception):  # its class may not be known here
            found = pickle.loads(self.pickled) if self.pickled else None
        error = found if isinstance(found, BaseException) else RuntimeError(self.text)
        for note in self.notes:
            if note not in getattr(error, "__notes__", ()):
                error.add_note(note)
        error.__cause__ = WorkerTraceback(self.trace)
        return error


class WorkerTraceback(Exception):
    """Where in a worker process an error was raised."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


def chunk_message(chunk: Chunk) -> Packed:
    """Prepare a chunk for its way back; its records are not copied."""
    return pack(
        (
            chunk.part,
            pickle.PickleBuffer(chunk.framed.data),
            chunk.framed.ends,
            chunk.rows,
            chunk.keys,
            chunk.refused,
            chunk.next_row,
            chunk.last,
        )
    )


def chunk_of(message: tuple[Any, ...]) -> Chunk:
    """Return the chunk that a worker has sent."""
    part, data, ends, *others = message
    data = data if isinstance(data, bytes) else memoryview(data)
    return Chunk(part, Framed(data, ends), *others)


def work(
    end: socket,
    others: Sequence[socket],
    source: Parts | Indexed | None,
    encoding: Encoding,
) -> None:
    """Encode what is asked for until there is nothing more, or no one to ask.

    Args:
        end: this process's end of the connection.
        others: inherited ends that are the parent's. Only if no worker has them
            does a worker notice the end of its parent.
        source: has the rows; None where they come with the tasks.
        encoding: how rows become records.
    """
    for other in others:
        other.close()
    # Ctrl-C goes to all processes of a terminal; the parent ends this one.
    ignore_interrupts()
    channel = Channel(end)
    tasks: SimpleQueue[Packed] = SimpleQueue()
    threading.Thread(target=_listen, args=(channel, tasks), daemon=True).start()
    try:
        while (packed := tasks.get()).head:
            channel.send(_carry_out(channel, packed, source, encoding))
    except OSError:
        os._exit(1)  # there is no parent any more


def _listen(channel: Channel, tasks: SimpleQueue[Packed]) -> None:
    """Take tasks as they come, and end the process if the parent has ended.

    So the parent never waits long when it gives a task, though this process may be
    waiting for the parent to take a chunk.
    """
    try:
        while True:
            packed = channel.receive()
            tasks.put(packed)
            if not packed.head:
                return
    except BaseException:
        os._exit(1)


def _carry_out(
    channel: Channel,
    packed: Packed,
    source: Parts | Indexed | None,
    encoding: Encoding,
) -> Packed:
    """Send the chunks of a task, and return the message that ends it."""
    rows, seconds = 0, 0.0
    started = time.perf_counter()
    try:
        task: Task = packed.unpacked()
        for chunk in _chunks(task, source, encoding):
            message = chunk_message(chunk)
            rows = chunk.next_row - task.first
            seconds += time.perf_counter() - started
            channel.send(message)
            started = time.perf_counter()
    except BaseException as error:
        return pack(_failed(error))
    return pack(Done(rows, seconds))


def _chunks(
    task: Task, source: Parts | Indexed | None, encoding: Encoding
) -> Iterator[Chunk]:
    if task.rows is not None:
        rows = task.rows.unpickled(task.first)
    else:
        assert source is not None
        rows = source.rows(task.part, task.first, task.stop)
    return encode_rows(
        rows,
        encoding,
        part=task.part,
        shard=task.shard,
        first=task.first,
        last=task.last,
    )


def _failed(error: BaseException) -> Failed:
    try:
        pickled = pickle.dumps(error)
        pickle.loads(pickled)  # some can be pickled and not read again
    except Exception:
        pickled = None
    return Failed(
        pickled,
        f"{type(error).__name__}: {error}",
        tuple(getattr(error, "__notes__", ())),
        "".join(traceback.format_exception(error)),
    )


def start_process(
    process: BaseProcess,
    context: BaseContext,
    source: Parts | Indexed | None,
    encoding: Encoding,
) -> None:
    """Start a process of the context that is given the source and the encoding.

    Raises:
        DatasetError: one of them cannot be sent to it.
        OSError: there can be no more processes.
    """
    try:
        process.start()
    except OSError:
        raise
    except Exception as error:
        needs: dict[str, object] = {
            "the source": source and getattr(source, "items", source),
            "serialize": encoding.serialize,
        }
        for name, value in needs.items():
            try:
                ForkingPickler.dumps(value)
            except Exception as refusal:
                raise DatasetError(
                    f"{name} cannot be sent to worker processes, which the start "
                    f"method {context.get_start_method()!r} asks for ({refusal}); "
                    "define its functions and classes at the top level of a module "
                    "that can be imported, or use workers=1"
                ) from error
        raise
