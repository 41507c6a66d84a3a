"""Doing tasks in several processes, with their results in order."""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import current_process, get_context

from ...support.errors import DatasetError
from .files import Checked, Progress, Task, check_part

# A process takes about as long to start as one takes for so many bytes.
_WORTH_BYTES = 1 << 25

# How many tasks wait for each process.
_AHEAD = 2


def usual_workers() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run(
    tasks: Iterable[Task],
    total: int,
    workers: int | None,
    progress: Progress | None,
) -> Iterator[Checked]:
    """Yield what comes out of each task, in the order of the tasks.

    Args:
        tasks: what to do.
        total: about how many bytes that is.
        workers: how many processes; None for one each processor, or none beside this
            one where there is little to do.
        progress: told how many bytes have been read.

    Raises:
        DatasetError: a process was ended from outside.
    """
    if workers is None:
        workers = usual_workers()
        if total < _WORTH_BYTES * 2 or current_process().daemon:
            workers = 1
    if workers == 1:
        for task in tasks:
            yield check_part(task, progress)
        return
    # Forked processes would have the locks of threads that they have not; and Ctrl-C
    # is this process's business.
    pool = ProcessPoolExecutor(
        workers,
        get_context("spawn"),
        initializer=signal.signal,
        initargs=(signal.SIGINT, signal.SIG_IGN),
    )
    waiting: deque[Future[Checked]] = deque()
    try:
        for task in tasks:
            waiting.append(pool.submit(check_part, task))
            if len(waiting) >= workers * _AHEAD:
                yield _done(waiting.popleft(), progress)
        while waiting:
            yield _done(waiting.popleft(), progress)
    except BrokenProcessPool:
        raise DatasetError(
            "a process that checked records was ended, perhaps for want of memory; "
            "fewer workers need less"
        ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _done(future: Future[Checked], progress: Progress | None) -> Checked:
    checked = future.result()
    if progress is not None:
        progress(checked.tally.bytes)
    return checked
