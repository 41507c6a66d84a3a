"""Reading files with all cores: parts of large files, and worker processes."""

from __future__ import annotations

import mmap
import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ..runtime.shared.errors import DatasetError
from ..runtime.shared.processes import begin_worker, interrupts_later
from ..runtime.shared.tfrecord import FRAMING, HEADER_SIZE, are_headers
from .frames import length_at
from .framing import Moved
from .records import Part
from .remote_path import FilePath, RemotePath
from .stream import compression_of

Task = TypeVar("Task")
Result = TypeVar("Result")

PART_BYTES = 1 << 26
"""About how many bytes of one file make a part."""

# How many headers are held and checked at a time: a part may have millions.
_HEADERS = 1 << 14

# Below this a process takes longer to start than it helps.
_WORTH_BYTES = 1 << 26

# How often progress is reported.
_REPORT_SECONDS = 0.1


def parts_of(path: FilePath, part_bytes: int = PART_BYTES) -> Iterator[Part]:
    """Cut a file at the beginnings of records.

    Files that are small, compressed, remote or unreadable are one part. So is all that follows
    a damaged length, as the next record is not known.
    """
    if isinstance(path, RemotePath):
        yield Part(path)
        return
    try:
        size = path.stat().st_size
        if size < 2 * part_bytes:
            yield Part(path)
            return
        with path.open("rb") as file:
            if compression_of(file.read(HEADER_SIZE)) != "":
                yield Part(path)
                return
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                yield from _cut(path, data, part_bytes)
    except (OSError, ValueError):
        yield Part(path)


def _cut(path: Path, data: mmap.mmap, part_bytes: int) -> Iterator[Part]:
    start = first = 0
    while len(data) - start >= 2 * part_bytes:
        stop, count = _follow(data, start, part_bytes)
        if stop is None:
            break
        yield Part(path, start, stop, first)
        start, first = stop, first + count
    yield Part(path, start, None, first)


def _follow(data: mmap.mmap, start: int, part_bytes: int) -> tuple[int | None, int]:
    """Follow lengths for a part, and return where it ends and its number of records.

    None if a length on the way is damaged, or the one that follows the part.
    """
    at, count = start, 0
    headers = [data[at : at + HEADER_SIZE]]
    while at < start + part_bytes:
        at += length_at(data, at) + FRAMING
        if at + HEADER_SIZE > len(data):
            return None, 0
        count += 1
        headers.append(data[at : at + HEADER_SIZE])
        if len(headers) >= _HEADERS:
            if not _all_right(headers):
                return None, 0
            headers.clear()
    return (at, count) if _all_right(headers) else (None, 0)


def _all_right(headers: list[bytes]) -> bool:
    table = np.frombuffer(b"".join(headers), np.uint8)
    return bool(are_headers(table.reshape(-1, HEADER_SIZE)).all())


def usual_workers(size: int) -> int:
    """Return how many processes to use for so many bytes: one for each core."""
    if size < _WORTH_BYTES:
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_parallel(
    work: Callable[[Task, Moved], Result],
    tasks: Iterable[Task],
    *,
    workers: int = 1,
    moved: Moved = lambda size: None,
) -> Iterator[tuple[int, Result]]:
    """Do tasks, and yield the number and the result of each, in any order.

    With one worker they are done in this process, in order. Closing the iterator, or
    Ctrl-C, ends the workers as soon as they have read their next bytes.

    Args:
        work: a function of a module that can be imported; called with a task and with
            a function to tell of bytes read.
        tasks: taken one by one; those that take longest come best first.
        workers: how many processes to start at most.
        moved: told of the bytes that any of them has read.

    Raises:
        DatasetError: a worker died.
        Exception: raised by `work`.
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
            done, _ = wait(running, _REPORT_SECONDS, return_when=FIRST_COMPLETED)
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


# Shared by a worker process and the one that started it: the number of bytes that all
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
