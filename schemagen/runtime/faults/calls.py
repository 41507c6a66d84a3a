"""Calling Python from the graphs of datasets."""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable
from typing import Any

from ..shared.requirements import tf
from .plain_errors import ASSERTION

# How long the end of a program waits for threads of TensorFlow that run Python, and for
# how long none may have run it, in seconds.
_PATIENCE, _QUIET = 10.0, 0.2

# How many threads run Python now, and when the last one left.
_CALLS = {"running": 0.0, "last": float("-inf")}
_COUNTING = threading.Lock()
_ENDED = threading.Event()


def call_python(
    function: Callable[..., tuple[str, list[bytes]]], inputs: list[Any]
) -> tf.Tensor:
    """Call Python from a graph.

    Args:
        function: returns the message of an error, or "", and strings.
        inputs: its arguments.

    Returns:
        The strings: string [N].

    Raises:
        tf.errors.InvalidArgumentError: when the graph runs, if there is a message.
    """

    def called(*arguments: tf.Tensor) -> list[tf.Tensor]:
        _count(1)
        try:
            message, strings = "the program is ending", list[bytes]()
            if not _ENDED.is_set():
                message, strings = function(*arguments)
        finally:
            _count(-1)
        # An assertion would show quotation marks with backslashes.
        shown = tf.constant(message.replace("'", "`"))
        return [shown, tf.constant(strings, tf.string)]

    message, strings = tf.py_function(called, inputs, [tf.string, tf.string])
    message.set_shape(())
    strings.set_shape((None,))
    raised = tf.raw_ops.Assert(condition=message == "", data=[message], name=ASSERTION)
    with tf.control_dependencies([raised]):
        return tf.identity(strings)


def after(done: tf.Tensor, dataset: tf.data.Dataset) -> tf.data.Dataset:
    """Return an empty dataset like another one, once a tensor has been computed."""
    with tf.control_dependencies([done]):
        return dataset.take(0)


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
