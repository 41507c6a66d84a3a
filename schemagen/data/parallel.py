"""Reading many files with all cores, a bar that shows how far it is, and no remains."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from itertools import islice
from types import TracebackType
from typing import Any, Self, TypeVar

from ..runtime.shared.errors import DatasetError
from ..runtime.shared.processes import begin_worker, interrupts_later
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

# How often progress is told.
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
    Ctrl-C, ends the workers as soon as they have read their next bytes.

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
    # A forked process would have locks of threads that do not exist in it.
    context = multiprocessing.get_context("spawn")
    read, stop = context.Value("q", 0), context.Event()
    pool = ProcessPoolExecutor(
        workers, mp_context=context, initializer=_begin, initargs=(read, stop)
    )
    left = enumerate(tasks)
    running: dict[Future[Result], int] = {}
    told = 0
    try:
        while True:
            for index, task in islice(left, 2 * workers - len(running)):
                with interrupts_later("spawn"):  # it may start a process
                    running[pool.submit(_do, work, task)] = index
            if not running:
                return
            done, _ = wait(running, _TELL_SECONDS, return_when=FIRST_COMPLETED)
            total = read.value  # it grows meanwhile
            moved(total - told)
            told = total
            for future in done:
                yield running.pop(future), future.result()
    except BrokenProcessPool:
        raise DatasetError(
            "a worker process ended before its work was done: it was killed, perhaps for "
            "want of memory, where fewer workers need less (--workers 1); or the program "
            "that starts workers has no `if __name__ == '__main__'` around what it does"
        ) from None
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)


# What a worker process shares with the one that started it: the number of bytes that all
# have read, and whether to stop.
_shared: tuple[Any, Any]


def _begin(read: Any, stop: Any) -> None:
    """Prepare a worker process."""
    global _shared
    _shared = read, stop
    begin_worker()


def _do(work: Callable[[Task, Moved], Result], task: Task) -> Result:
    """Do a task in a worker process."""
    read, stop = _shared

    def moved(size: int) -> None:
        if stop.is_set():
            raise SystemExit
        with read.get_lock():
            read.value += size

    return work(task, moved)


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
