"""Reading many files with all cores, a bar that shows how far it is, and no remains."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnContext
from types import TracebackType
from typing import Any, Self, TypeVar

from ..runtime.shared.errors import DatasetError
from ..runtime.writing.processes import interrupts_later
from .framing import scan_pieces
from .limits import MAX_RECORD_BYTES
from .parts import Part
from .records import Damage, Records
from .scanner import RUN_BYTES

Task = TypeVar("Task")
Result = TypeVar("Result")

Moved = Callable[[int], object]
"""Is told how many bytes have been read since it was last told."""

# Below this a process takes longer to start than it helps.
_WORTH_BYTES = 1 << 26

# How often a worker tells how far it is, at most.
_TELL_SECONDS = 0.1


def usual_workers(size: int) -> int:
    """Return how many processes are worth while to read so many bytes: one a core."""
    if size < _WORTH_BYTES:
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def scan_and_tell(
    part: Part, moved: Moved, max_record_bytes: int = MAX_RECORD_BYTES
) -> Iterator[Records | Damage]:
    """Do what `framing.scan` does for a part of a file, and tell of the bytes read."""
    path = part.path
    try:
        with path.open("rb") as file:
            size = path.stat().st_size if part.stop is None else part.stop
            file.seek(part.start)

            def pieces() -> Iterator[bytes]:
                left = size - part.start
                while left > 0 and (piece := file.read(min(RUN_BYTES, left))):
                    left -= len(piece)
                    moved(len(piece))
                    yield piece

            yield from scan_pieces(
                pieces(),
                str(path),
                size,
                first=part.first,
                offset=part.start,
                max_record_bytes=max_record_bytes,
            )
    except OSError as error:
        reason = error.strerror or str(error)
        yield Damage(str(path), 0, 0, "unreadable", reason, "a file that can be read")


def in_parallel(
    work: Callable[[Task, Moved], Result],
    tasks: Iterable[Task],
    *,
    workers: int = 1,
    moved: Moved = lambda size: None,
) -> Iterator[tuple[int, Result]]:
    """Do tasks, and yield which one is done and what came of it, in any order.

    With one worker they are done here, one after the other. Closing the iterator, or
    leaving it by Ctrl-C, ends all workers.

    Args:
        work: a function of a module that can be imported; it is called with a task and
            with what to tell of bytes read.
        tasks: what there is to do, asked for one by one; those that take longest come
            best first.
        workers: how many processes to start at most.
        moved: told of the bytes that any of them has read.

    Raises:
        DatasetError: a worker died.
        Exception: what `work` raises.
    """
    if isinstance(tasks, Sized):
        workers = min(workers, len(tasks))
    if workers <= 1 or multiprocessing.current_process().daemon:
        for index, task in enumerate(tasks):
            yield index, work(task, moved)
        return
    # Forked processes would have the locks of threads that they have not.
    context = multiprocessing.get_context("spawn")
    started: list[_Worker] = []
    try:
        with interrupts_later("spawn"):
            for _ in range(workers):
                started.append(_Worker(context, work))
        yield from _given_out(started, tasks, moved)
    finally:
        for worker in started:
            worker.stop()


def _given_out(
    workers: list[_Worker], tasks: Iterable[Any], moved: Moved
) -> Iterator[tuple[int, Any]]:
    left = iter(enumerate(tasks))
    busy: dict[Any, _Worker] = {}
    for worker in workers:
        if worker.give(next(left, None)):
            busy[worker.end] = worker
    while busy:
        for end in wait(list(busy)):
            worker = busy[end]
            kind, value = worker.received()
            if kind == _MOVED:
                moved(value)
                continue
            if kind == _FAILED:
                raise value
            index = worker.index
            if not worker.give(next(left, None)):
                del busy[end]
            yield index, value


_MOVED, _DONE, _FAILED = "moved", "done", "failed"


class _Worker:
    """A process, and the connection to it.

    Attributes:
        end: this side of the connection.
        index: which task it has.
    """

    def __init__(self, context: SpawnContext, work: Callable[..., Any]) -> None:
        self.index = -1
        self.end, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(work, theirs), daemon=True)
        self._process.start()
        theirs.close()

    def give(self, task: tuple[int, Any] | None) -> bool:
        """Hand a task over; tell whether there was one."""
        if task is not None:
            self.index = task[0]
            with suppress(OSError):  # it is dead, which `received` says
                self.end.send(task[1])
        return task is not None

    def received(self) -> tuple[str, Any]:
        """Return what it has sent."""
        try:
            message: tuple[str, Any] = self.end.recv()
        except (EOFError, OSError):
            self._process.join()
            code = self._process.exitcode
            if code is not None and code < 0:
                raise DatasetError(
                    f"a worker process was killed by signal {-code}, perhaps for want "
                    "of memory; fewer workers need less: --workers 1"
                ) from None
            raise DatasetError(
                f"a worker process ended with exit code {code}; a program that starts "
                "workers needs `if __name__ == '__main__'` around what it does, or "
                "workers=1"
            ) from None
        return message

    def stop(self) -> None:
        """End the process, whatever it does."""
        self.end.close()
        self._process.terminate()
        self._process.join()


def _serve(work: Callable[..., Any], end: Connection) -> None:
    """Do tasks until nobody is there any more to give one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    told = _Told(end)
    with suppress(EOFError, OSError):
        while True:
            task = end.recv()
            try:
                message = (_DONE, work(task, told))
            except Exception as error:
                message = (_FAILED, error)
            told.rest()
            end.send(message)


class _Told:
    """Sends how many bytes have been read, not too often."""

    def __init__(self, end: Connection) -> None:
        self._end = end
        self._bytes = 0
        self._last = time.monotonic()

    def __call__(self, size: int) -> None:
        self._bytes += size
        if time.monotonic() - self._last >= _TELL_SECONDS:
            self.rest()

    def rest(self) -> None:
        """Send what has not been sent."""
        self._last = time.monotonic()
        if self._bytes:
            self._end.send((_MOVED, self._bytes))
            self._bytes = 0


class ReadingBar:
    """A bar on stderr: bytes read, and the time that is left.

    It is there only if stderr is a terminal and tqdm is installed, and the environment
    has no `CI`.

    Args:
        total: how many bytes there are to read.
        title: stands before the bar.
    """

    def __init__(self, total: int, title: str) -> None:
        self._bar: Any = None
        if os.environ.get("CI") or sys.stderr is None or not sys.stderr.isatty():
            return
        with suppress(ImportError):
            from tqdm import tqdm

            self._bar = tqdm(
                total=total,
                desc=title,
                unit="B",
                unit_scale=True,
                leave=False,
                file=sys.stderr,
            )

    def __enter__(self) -> Self:
        return self

    def __call__(self, size: int) -> None:
        """Move on by so many bytes."""
        if self._bar is not None:
            self._bar.update(size)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()
