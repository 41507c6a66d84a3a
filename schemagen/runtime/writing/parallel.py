"""From a source to its chunks, in this process or in several.

Encoding is a pure function of rows, and the chunks are put in the order of rows, so
that the bytes of all chunks together do not depend on the number of workers.

A process that was forked from one that uses tensorflow must not use it itself. Nothing
here does; rows that are loaded with tensorflow need another start method.
"""

from __future__ import annotations

import multiprocessing
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.reduction import ForkingPickler
from queue import SimpleQueue
from signal import Signals

from ..shared.errors import DatasetError
from ..shared.processes import interrupts_later
from .encoding import Chunk, Encoding, encode_rows
from .plan import check_workers
from .sources import Indexed, Parts, Source, Stream, check_start
from .tasks import Pace, Range, Task, cut_ranges, pickled_rows
from .worker import Answer, Failed, Packed, Worker

# The tasks that a worker may have at a time. Those with rows take time to be received.
_AHEAD = 3
_AHEAD_WITH_ROWS = 4

# The time that a worker may take to end by itself when it has nothing more to do.
_EXIT_SECONDS = 10.0


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
    if isinstance(source, Indexed):
        ranges = _ranges(source, blocks, parts, skip)
        workers = min(workers, sum(stop - start for _, start, stop in ranges))
        if workers <= 1:
            return _here(source, encoding, ranges)
        pace = Pace()
        tasks = cut_ranges(ranges, workers, pace)
        return _Pool(source, encoding, workers, tasks, pace, _AHEAD).chunks()
    if isinstance(source, Parts):
        workers = min(workers, len(parts))
    if workers <= 1:
        return _here(source, encoding, [(part, skip, None) for part in parts])
    if isinstance(source, Stream):
        return _streamed(source, encoding, workers, skip)
    tasks = (Task(part, part, 0, None, last=True) for part in parts)
    return _Pool(source, encoding, workers, tasks, None, 1).chunks()


def _ranges(
    source: Indexed, blocks: int, parts: Sequence[int], skip: int
) -> list[Range]:
    check_start(skip, source.length)
    found = []
    for part in parts:
        block = source.block(part, blocks)
        found.append((part, max(skip, block.start), max(skip, block.stop)))
    return found


def _here(
    source: Source,
    encoding: Encoding,
    ranges: Sequence[tuple[int, int, int | None]],
) -> Iterator[Chunk]:
    for part, start, stop in ranges:
        shard = part if isinstance(source, Parts) else None
        rows = source.rows(part, start, stop)
        yield from encode_rows(rows, encoding, part=part, shard=shard, first=start)


def _streamed(
    source: Stream, encoding: Encoding, workers: int, skip: int
) -> Iterator[Chunk]:
    pace = Pace()
    row = skip
    failure: Exception | None = None

    def tasks() -> Iterator[Task]:
        nonlocal row, failure
        rows, ended = source.rows(0, skip), False
        while not ended:
            pickled, failure, ended = pickled_rows(rows, row, pace.rows)
            first, row = row, row + len(pickled)
            if pickled:
                yield Task(0, None, first, row, last=False, rows=b"".join(pickled))

    pool = _Pool(None, encoding, workers, tasks(), pace, _AHEAD_WITH_ROWS)
    yield from pool.chunks()
    if failure is not None:
        raise failure
    yield from encode_rows((), encoding, first=row)


class _Pool:
    """Worker processes that carry out tasks.

    Args:
        source: has the rows; None where they come with the tasks.
        encoding: how rows become records.
        workers: how many processes to start.
        tasks: what there is to do, asked for one by one.
        pace: told of what tasks have taken; None for tasks of whole parts, whose chunks
            are given back in the order in which they are made.
        ahead: how many tasks a worker may have at a time.
    """

    def __init__(
        self,
        source: Parts | Indexed | None,
        encoding: Encoding,
        workers: int,
        tasks: Iterator[Task],
        pace: Pace | None,
        ahead: int,
    ) -> None:
        self._source = source
        self._encoding = encoding
        self._tasks: Iterator[Task] | None = tasks
        self._pace = pace
        self._ahead = ahead
        self._context = multiprocessing.get_context()
        self._method = self._context.get_start_method()
        self._count = workers
        self._workers: list[Worker] = []
        self._order: deque[Worker] = deque()  # who has the tasks, in order
        self._answers: SimpleQueue[tuple[Worker, Future[Packed]]] = SimpleQueue()

    def chunks(self) -> Iterator[Chunk]:
        """Yield the chunks of all tasks, and end the processes.

        Raises:
            DatasetError: a worker has died, or cannot be given what it needs.
            BaseException: what encoding a task has raised.
        """
        try:
            self._start()
            while self._tasks is not None or self._order:
                has_given = self._give()
                self._ask()
                worker = self._turn()
                if worker is not None:
                    yield from self._take(worker)
                elif not has_given:
                    self._receive()
                while not self._answers.empty():
                    self._receive()
        finally:
            self._close()

    def _start(self) -> None:
        if multiprocessing.current_process().daemon:
            raise DatasetError(
                f"workers={self._count}: this process is a worker of "
                "multiprocessing itself and may not start others; use workers=1 in it"
            )
        try:
            with interrupts_later(self._method):
                for number in range(self._count):
                    worker = Worker(
                        number, self._context, self._source, self._encoding, self._ahead
                    )
                    self._workers.append(worker)
                    self._call(worker, None)
        except (OSError, DatasetError):
            raise
        except Exception as error:
            self._check_sendable(error)
            raise

    def _check_sendable(self, error: Exception) -> None:
        needs: dict[str, object] = {
            "the source": self._source and getattr(self._source, "items", self._source),
            "serialize": self._encoding.serialize,
        }
        for name, value in needs.items():
            try:
                ForkingPickler.dumps(value)
            except Exception as refusal:
                raise DatasetError(
                    f"{name} cannot be sent to worker processes, which the start "
                    f"method {self._method!r} asks for ({refusal}); define its functions "
                    "and classes at the top level of a module that can be imported, or "
                    "use workers=1"
                ) from error

    def _call(self, worker: Worker, task: Task | None) -> None:
        try:
            future = worker.call(task)
        except BrokenProcessPool:
            raise self._death(worker) from None
        future.add_done_callback(lambda future: self._answers.put((worker, future)))

    def _give(self) -> bool:
        """Give one task to the worker that has the fewest, if it may have more."""
        worker = min(self._workers, key=lambda worker: len(worker.tasks))
        if self._tasks is None or not worker.has_room(self._ahead):
            return False
        task = next(self._tasks, None)
        if task is None:
            self._tasks = None
            return False
        self._order.append(worker)
        self._call(worker, task)
        return True

    def _ask(self) -> None:
        """See that each worker that has a task has been asked for enough answers."""
        for worker in self._workers:
            while worker.lacks_calls:
                self._call(worker, None)

    def _receive(self) -> None:
        """Wait for an answer."""
        worker, future = self._answers.get()
        try:
            answer: Answer = worker.receiving.get(future.result())
        except BrokenProcessPool:
            raise self._death(worker) from None
        except Failed as failed:
            answer = Answer(failure=failed.error())
            self._tasks = None  # nothing after it is wanted
        worker.receive(answer)
        if answer.ended and self._pace is not None:
            self._pace.learn(answer.rows, answer.seconds)

    def _turn(self) -> Worker | None:
        """Return the worker whose answer is to be taken now, if it is there."""
        ready = (worker for worker in self._workers if worker.ready)
        if self._pace is None:
            return next(ready, None)
        return self._order[0] if self._order and self._order[0].ready else None

    def _take(self, worker: Worker) -> Iterator[Chunk]:
        answer = worker.ready.popleft()
        worker.ahead -= answer.size
        yield from answer.chunks
        if answer.failure is not None:
            raise answer.failure
        if answer.ended:
            self._order.remove(worker)

    def _death(self, worker: Worker) -> DatasetError:
        for each in self._workers:
            each.kill()
        worker.join()
        assert worker.process is not None
        code = worker.process.exitcode or 0
        advice = ""
        if code < 0:
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
        doing = (
            f"while encoding {worker.tasks[0]}" if worker.tasks else "while starting"
        )
        return DatasetError(
            f"worker process {worker.process.pid} {ended} {doing}; nothing was "
            f"published{advice}"
        )

    def _close(self) -> None:
        """End the workers: those that have finished by themselves, others at once."""

        def kill() -> None:
            for worker in self._workers:
                worker.kill()

        if self._tasks is not None or self._order:
            kill()
        overdue = threading.Timer(_EXIT_SECONDS, kill)
        overdue.start()
        for worker in self._workers:
            worker.join()
        overdue.cancel()
        overdue.join()


def _signal_name(number: int) -> str:
    try:
        return Signals(number).name
    except ValueError:
        return f"signal {number}"
