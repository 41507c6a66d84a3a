"""Work that several processes share."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeVar

from .errors import DatasetError

Task = TypeVar("Task")
Result = TypeVar("Result")

Advance = Callable[..., object]
"""Called with progress: a number of bytes, or of another unit."""

# How often progress is reported.
_REPORT_SECONDS = 0.1

# How often a worker process sees whether it is still wanted.
_CHECK_SECONDS = 0.1


def in_parallel(
    work: Callable[[Task, Advance], Result],
    tasks: Iterable[Task],
    *,
    workers: int = 1,
    method: str | None = "spawn",
    advance: Advance = lambda *amounts: None,
    counts: int = 1,
    in_order: bool = False,
) -> Iterator[tuple[int, Result]]:
    """Do tasks, and yield the number and the result of each.

    With one worker they are done in this process, in order. Closing the iterator, an error
    and Ctrl-C end the worker processes at once.

    Args:
        work: called with a task and with a function to tell of progress. Each process
            gets it once.
        tasks: taken one by one; those that take longest come best first.
        workers: how many processes to start at most.
        method: how they are started; None for the default of `multiprocessing`.
        advance: called with the progress of all of them together.
        counts: how many numbers it is called with.
        in_order: yield the results, and raise errors, in the order of tasks.

    Raises:
        DatasetError: a worker process died, or cannot be given what it needs.
        Exception: raised by `work`.
    """
    if isinstance(tasks, Sized):
        workers = min(workers, len(tasks))
    if workers <= 1 or multiprocessing.current_process().daemon:
        for index, task in enumerate(tasks):
            yield index, work(task, advance)
        return
    context: Any = multiprocessing.get_context(method)
    method = context.get_start_method()
    amounts, stop = context.Array("q", counts), context.RawValue("b", 0)
    pool = ProcessPoolExecutor(
        workers, context, initializer=_begin, initargs=(work, amounts, stop)
    )
    left = enumerate(tasks)
    running: dict[Future[Result], int] = {}
    reported = [0] * counts
    finished = False
    try:
        while True:
            for index, task in islice(left, 2 * workers - len(running)):
                with _interrupts_later(str(method)):  # it may start a process
                    running[_submitted(pool, task)] = index
            if not running:
                finished = True
                return
            awaited = [next(iter(running))] if in_order else running
            done, _ = wait(awaited, _REPORT_SECONDS, return_when=FIRST_COMPLETED)
            now = amounts[:]  # it grows meanwhile
            advance(
                *(after - before for after, before in zip(now, reported, strict=True))
            )
            reported = now
            for future in done:
                yield running.pop(future), future.result()
    except BrokenProcessPool:
        raise DatasetError(
            "a worker process ended before its work was done: it was killed, perhaps for "
            "want of memory, where fewer workers need less; or the program that starts "
            'workers has no `if __name__ == "__main__":` around what it does'
        ) from None
    finally:
        stop.value = not finished
        pool.shutdown(cancel_futures=True)


def _submitted(pool: ProcessPoolExecutor, task: Any) -> Future[Any]:
    try:
        return pool.submit(_do, task)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise DatasetError(
            f"worker processes cannot be given what they need: {error}; define its "
            "functions and classes at the top level of a module that can be imported, "
            "or use workers=1"
        ) from error


# What a worker process does, and the numbers that it adds to.
_work: Callable[[Any, Advance], Any]
_amounts: Any


def _begin(work: Callable[[Any, Advance], Any], amounts: Any, stop: Any) -> None:
    """Prepare a worker process: it ignores Ctrl-C, and ends when it is not wanted."""
    global _work, _amounts
    _work, _amounts = work, amounts
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def end() -> None:
        while parent.is_alive() and not stop.value:
            parent.join(_CHECK_SECONDS)
        os._exit(1)

    threading.Thread(target=end, daemon=True).start()


def _do(task: Any) -> Any:
    """Do a task in a worker process."""
    try:
        return _work(task, _moved)
    except Exception as error:
        failure = error
    # Not while the other is handled: packages such as tblib send causes and contexts too.
    raise _sendable(failure).with_traceback(failure.__traceback__)


def _moved(*amounts: int) -> None:
    with _amounts.get_lock():
        _amounts[:] = [a + b for a, b in zip(_amounts, amounts, strict=True)]


def _sendable(error: Exception) -> Exception:
    """Return an error, or what says the same if its class cannot be sent."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        said = RuntimeError(f"{type(error).__name__}: {error}")
        for note in getattr(error, "__notes__", ()):
            said.add_note(note)
        return said
    return error


@contextmanager
def _interrupts_later(method: str) -> Iterator[None]:
    """Block Ctrl-C while processes are started, here and in those processes.

    They inherit the blocked signal and keep it until they have begun: a Ctrl-C goes to all
    processes of a terminal. A program with several threads may still receive it in
    another thread; then starting is interrupted, and callers end what was started. The
    fork server's process is started first, since all its children inherit from it.

    Args:
        method: the start method of the processes.

    Raises:
        KeyboardInterrupt: at the end, if one has come meanwhile.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        # These start processes too, and not in between: the one would unblock the
        # signal, and the other have it blocked for good.
        if method != "fork":
            from multiprocessing import resource_tracker

            resource_tracker.ensure_running()
        if method == "forkserver":
            from multiprocessing import forkserver

            forkserver.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
