"""Calls of Python from TensorFlow's threads, for which the end of a program waits."""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..shared.requirements import lazy_tf as tf

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


def call_numpy(
    function: Callable[..., Any], inputs: Sequence[Any], dtypes: Sequence[Any]
) -> Any:
    """Call a function of arrays from a graph, as `tf.numpy_function` does.

    A saved model cannot run it.
    """

    def called(*arrays: Any) -> Any:
        with counted() as goes_on:
            if not goes_on:
                raise RuntimeError(ENDING)
            return function(*arrays)

    return tf.numpy_function(called, inputs, dtypes, stateful=False)


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
