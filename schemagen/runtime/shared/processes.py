"""Worker processes: starting them without a Ctrl-C, and ending them with their parent."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interrupts_later(method: str) -> Iterator[None]:
    """Block Ctrl-C while processes are started, here and in those processes.

    They inherit the blocked signal and keep it until `ignore_interrupts` is called: a Ctrl-C
    goes to all processes of a terminal. A program with several threads may still receive
    it in another thread; then starting is broken off, and callers end what was started.
    The fork server's process is started first, since all its children inherit from it.

    Args:
        method: the start method of the processes.

    Raises:
        KeyboardInterrupt: at the end, if one has come meanwhile.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
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


def ignore_interrupts() -> None:
    """Let this worker process ignore Ctrl-C, which its parent has blocked until here."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def begin_worker() -> None:
    """Let this worker process ignore Ctrl-C, and end it when its parent has ended."""
    ignore_interrupts()
    parent = multiprocessing.parent_process()
    assert parent is not None

    def end_with_parent() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
