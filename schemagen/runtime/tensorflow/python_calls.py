"""The end of a program waits for calls of Python from TensorFlow's threads."""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

# How long the end of a program waits for threads of TensorFlow that run Python, and for
# how long none may have run it, in seconds.
_PATIENCE, _QUIET = 10.0, 0.2

# How many threads run Python now, and when the last one left.
_CALLS = {"running": 0.0, "last": float("-inf")}
_COUNTING = threading.Lock()
_ENDED = threading.Event()

ENDING = "the program is ending"


@contextmanager
def counted() -> Iterator[bool]:
    """Count a call while it runs; the value is whether the program goes on."""
    _count(1)
    try:
        yield not _ENDED.is_set()
    finally:
        _count(-1)


def _count(change: int) -> None:
    with _COUNTING:
        _CALLS["running"] += change
        _CALLS["last"] = time.monotonic()


@atexit.register
def _end() -> None:
    """Let calls that are running end, and no other begin.

    A thread of TensorFlow that is in Python while the interpreter ends never comes back,
    and an iterator that is deleted then would wait for it.
    """
    _ENDED.set()
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        if not _CALLS["running"] and time.monotonic() - _CALLS["last"] > _QUIET:
            return
        time.sleep(_QUIET / 2)
