"""FLAC files in a TensorFlow graph, which calls Python to decode them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import Problem
from ..shared.requirements import lazy_tf as tf
from ..tensorflow.graph import checked
from ..tensorflow.python_calls import call_numpy
from . import flac
from .graph_wav import from_place
from .headers import check_header


def decode(
    data: Any, name: str, rate: int, channels: int, *, optional: bool
) -> tuple[Any, Any]:
    """Decode FLAC files; arguments and results are those of `graph_wav.decode`."""

    def decoded(files: NDArray[Any]) -> tuple[NDArray[np.int16], Any, bytes]:
        found = [np.empty((0, channels), np.int16)]
        for file in files:
            try:
                found.append(_decoded(file, rate, channels, optional=optional))
            except Problem as problem:
                text = f"expected {problem.expected}, found {problem.found}"
                return found[0], np.zeros(len(files), np.int64), text.encode()
        return np.concatenate(found), np.array([*map(len, found[1:])], np.int64), b""

    samples, counts, problem = call_numpy(
        decoded, [data], [tf.int16, tf.int64, tf.string]
    )
    problem = tf.reshape(problem, (1,))
    samples = checked(samples, problem == "", f"field {name!r}:", problem)
    return (
        tf.ensure_shape(samples, (None, channels)),
        tf.ensure_shape(counts, (data.shape[0],)),
    )


def _decoded(
    file: bytes, rate: int, channels: int, *, optional: bool
) -> NDArray[np.int16]:
    if optional and not file:
        return np.empty((0, channels), np.int16)
    if not file.startswith(flac.START):
        raise Problem(f"bytes that begin with {file[:8]!r}", "a FLAC")
    check_header("FLAC", flac.header(file), rate, channels)
    try:
        return flac.decode(file)
    except ValueError as error:
        raise Problem(str(error), "a whole FLAC") from None


def lengths(data: Any) -> Any:
    """Return how many samples FLAC files have: int64 [B]."""
    content = from_place(data, tf.zeros(tf.shape(data), tf.int64), flac.COUNTS + 8)
    numbers = tf.cast(tf.io.decode_raw(content, tf.uint8), tf.int64)
    last = numbers[:, flac.COUNTS + 3 :]
    first = last[:, 0] % 16
    for at in range(1, 5):
        first = first * 256 + last[:, at]
    return first
