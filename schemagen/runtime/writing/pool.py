"""The parent's side of worker processes: tasks out, chunks back, never a hang."""

from __future__ import annotations

import multiprocessing
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from multiprocessing.process import BaseProcess
from signal import Signals
from typing import Any

from ..shared.errors import DatasetError
from ..shared.processes import interrupts_later
from .channel import Channel, Packed, connected, pack
from .encoding import Chunk, Encoding
from .sources import Indexed, Parts
from .worker import Done, Failed, Task, chunk_of, start_process, work

# What may wait from each worker for its turn, and what for each worker, of rows.
_AHEAD_BYTES = 16 << 20

# How long a worker that has nothing more to do may take for what it has opened.
_FAREWELL_SECONDS = 10.0

# How often to see whether a worker has ended without closing its connection, which
# a process that it has started may hold open.
_ROLL_CALL_SECONDS = 5.0

_STOP = Packed(b"", ())


class _Worker:
    """A process, what it has been given, and what it has sent.

    Attributes:
        tasks: what it has been given and not finished, in order.
        ready: what it has sent and no one has taken, with sizes in bytes.
        ahead: how many bytes those are.
        next_row: the position up to which its first task has come back.
        gone: whether its connection has ended.
    """

    def __init__(self, process: BaseProcess, end: socket.socket) -> None:
        self.process = process
        self.channel = Channel(end)
        self.tasks: deque[Task] = deque()
        self.ready: deque[tuple[Any, int]] = deque()
        self.ahead = 0
        self.next_row = 0
        self.gone = False


class Pool:
    """Worker processes that encode tasks.

    Args:
        workers: how many.
        source: has the rows; None where they come with the tasks.
        encoding: how rows become records.
        ordered: give back chunks in the order in which tasks were given out.
        ahead: how many tasks a worker may have at a time.
        next_task: called to get another task, under a lock, in any thread; None
            if there is none any more. Without it tasks come by `give`.
        learn: told what came of each task.

    Raises:
        DatasetError: the processes cannot be started, or be given what they need.
    """

    def __init__(
        self,
        workers: int,
        source: Parts | Indexed | None,
        encoding: Encoding,
        *,
        ordered: bool,
        ahead: int,
        next_task: Callable[[], Task | None] | None,
        learn: Callable[[Done], None],
    ) -> None:
        self._ordered = ordered
        self._ahead = ahead
        self._next_task = next_task
        self._learn = learn
        self._exhausted = False
        self._closed = False
        self._changed = threading.Condition()
        self._order: deque[_Worker] = deque()  # who has the tasks, in order
        self._broken: BaseException | None = None
        self._workers: list[_Worker] = []
        self._threads: list[threading.Thread] = []
        try:
            self._start(workers, source, encoding)
        except BaseException:
            self.close()
            raise

    def _start(
        self, workers: int, source: Parts | Indexed | None, encoding: Encoding
    ) -> None:
        if multiprocessing.current_process().daemon:
            raise DatasetError(
                f"workers={workers}: this process is a worker of multiprocessing "
                "itself and may not start others; use workers=1 in it"
            )
        context = multiprocessing.get_context()
        forked = context.get_start_method() == "fork"
        self._method = context.get_start_method()
        ends: list[socket.socket] = []
        # All processes start before the first thread: a forked one has no threads.
        with interrupts_later(self._method):
            for number in range(workers):
                mine, theirs = connected()
                ends.append(mine)
                process = context.Process(
                    target=work,
                    args=(theirs, tuple(ends) if forked else (), source, encoding),
                    name=f"encoding-{number}",
                    daemon=True,
                )
                try:
                    start_process(process, context, source, encoding)
                except BaseException:
                    mine.close()
                    raise
                finally:
                    theirs.close()
                self._workers.append(_Worker(process, mine))
        for waiting in range(self._ahead):
            for worker in self._workers:
                self._refill(worker, waiting + 1)
        with interrupts_later(self._method):
            for worker in self._workers:
                thread = threading.Thread(
                    target=self._serve, args=(worker,), daemon=True
                )
                self._threads.append(thread)
                thread.start()

    def _refill(self, worker: _Worker, most: int) -> None:
        """Give a worker tasks until it has enough, if the pool is to ask for them."""
        if self._next_task is None:
            return
        while len(worker.tasks) < most:
            with self._changed:
                if self._exhausted:
                    return
                task = self._next_task()
                if task is None:
                    self._exhausted = True
                    self._changed.notify_all()
                    return
                self._assign(worker, task)
            self._send(worker, pack(task))

    def _assign(self, worker: _Worker, task: Task) -> None:
        if not worker.tasks:
            worker.next_row = task.first
        worker.tasks.append(replace(task, rows=None))  # they are on their way
        self._order.append(worker)

    def _send(self, worker: _Worker, packed: Packed) -> None:
        with suppress(OSError):  # it has died: who receives from it will notice
            worker.channel.send(packed)

    def _serve(self, worker: _Worker) -> None:
        """Take what a worker sends, in a thread of its own, while there is room."""
        try:
            while True:
                packed = worker.channel.receive()
                message = packed.unpacked()
                with self._changed:
                    self._changed.wait_for(
                        lambda: self._closed or worker.ahead < _AHEAD_BYTES
                    )
                    if self._closed:
                        return
                    worker.ready.append((message, packed.size))
                    worker.ahead += packed.size
                    if isinstance(message, (Done, Failed)):
                        worker.tasks.popleft()
                        if worker.tasks:
                            worker.next_row = worker.tasks[0].first
                        if isinstance(message, Done):
                            self._learn(message)
                        else:
                            self._exhausted = True  # nothing after it is wanted
                    else:
                        worker.next_row = chunk_of(message).next_row
                    self._changed.notify_all()
                self._refill(worker, self._ahead)
        except EOFError:
            with self._changed:
                worker.gone = True
                self._changed.notify_all()
        except BaseException as error:
            # Callers that wait for this thread must be told.
            with self._changed:
                self._broken = error
                self._changed.notify_all()

    def give(self, task: Task) -> None:
        """Give a task to a worker that has room for it; see `has_room`.

        The rows are in the task: they are sent before this returns.
        """
        packed = pack(task)
        with self._changed:
            worker = self._roomy()
            assert worker is not None
            self._assign(worker, task)
        self._send(worker, packed)

    def has_room(self) -> bool:
        """Return whether some worker can be given a task."""
        with self._changed:
            return self._roomy() is not None

    def _roomy(self) -> _Worker | None:
        worker = min(self._workers, key=lambda worker: len(worker.tasks))
        waiting = worker.tasks
        full = sum(task.size for task in waiting) >= _AHEAD_BYTES
        return None if full or len(waiting) >= self._ahead else worker

    def finish(self) -> None:
        """Say that no more tasks will be given."""
        with self._changed:
            self._exhausted = True

    def chunks(self) -> Iterator[Chunk]:
        """Yield what has come, waiting for more until all tasks are finished.

        Where tasks come by `give`, this ends as soon as one more can be given and
        nothing is there to be yielded.

        Raises:
            DatasetError: a worker has died.
            BaseException: what encoding a task has raised.
        """
        while True:
            message = self._take()
            if message is None:
                return
            if isinstance(message, Failed):
                raise message.error()
            if not isinstance(message, Done):
                yield chunk_of(message)

    def _take(self) -> Any:
        """Return the next message, or None if it is time to give another task."""
        with self._changed:
            while True:
                if self._broken is not None:
                    raise self._broken
                gone = [worker for worker in self._workers if worker.gone]
                if gone:
                    raise self._death(gone[0])
                worker = self._next_worker()
                if worker is not None:
                    message, size = worker.ready.popleft()
                    worker.ahead -= size
                    if isinstance(message, (Done, Failed)):
                        self._order.remove(worker)
                    self._changed.notify_all()
                    return message
                if self._exhausted and not self._order:
                    return None
                if self._next_task is None and not self._exhausted and self._roomy():
                    return None
                if not self._changed.wait(_ROLL_CALL_SECONDS):
                    self._call_the_roll()

    def _next_worker(self) -> _Worker | None:
        """Return the worker whose message is to be taken now, if there is one."""
        if self._ordered:
            first = self._order[0] if self._order else None
            return first if first is not None and first.ready else None
        for worker in self._workers:
            if worker.ready:
                # The others first next time.
                self._workers.remove(worker)
                self._workers.append(worker)
                return worker
        return None

    def _call_the_roll(self) -> None:
        for worker in self._workers:
            if worker.process.exitcode is not None:
                worker.channel.shut()

    def _death(self, worker: _Worker) -> DatasetError:
        worker.process.join(_FAREWELL_SECONDS)
        code = worker.process.exitcode
        advice = ""
        if code is None:
            ended = "has closed its connection"
        elif code < 0:
            ended = f"was ended by {_signal_name(-code)}"
            if _signal_name(-code) == "SIGKILL":
                advice = (
                    "; usually the system does that when memory runs out: use fewer "
                    "workers, or see what a single row takes"
                )
        else:
            ended = f"has ended with exit code {code}"
            if self._method != "fork":
                advice = (
                    "; if it says above that it could not start: a script must start "
                    'its work under `if __name__ == "__main__":`'
                )
        doing = "with nothing to do"
        if worker.tasks:
            doing = f"while encoding {_rows_of(worker.tasks[0], worker.next_row)}"
        return DatasetError(
            f"worker process {worker.process.pid} {ended} {doing}; nothing was "
            f"published{advice}"
        )

    def close(self) -> None:
        """End the workers: those that have finished by themselves, others at once."""
        with self._changed:
            finished = self._exhausted and not self._order
            self._closed = True
            self._changed.notify_all()
        for worker in self._workers:
            if finished:
                self._send(worker, _STOP)
            else:
                worker.process.kill()
        for worker in self._workers:
            worker.process.join(_FAREWELL_SECONDS)
            if worker.process.exitcode is None:
                worker.process.kill()
                worker.process.join()
            worker.channel.shut()
        for thread in self._threads:
            thread.join()
        for worker in self._workers:
            worker.channel.close()
            worker.process.close()
        self._workers.clear()


def _rows_of(task: Task, first: int) -> str:
    stop = "on" if task.stop is None else f"to {task.stop - 1}"
    shard = "" if task.shard is None else f"shard {task.shard}, "
    return f"{shard}rows {first} {stop}"


def _signal_name(number: int) -> str:
    try:
        return Signals(number).name
    except ValueError:
        return f"signal {number}"
