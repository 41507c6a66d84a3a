"""FLAC files in a TensorFlow graph, which calls Python to decode them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import Problem
from ..shared.requirements import lazy_tf as tf
from . import flac
from .graph_wav import from_place
from .headers import check_header


def decode(
    data: Any, name: str, rate: int, channels: int, *, optional: bool
) -> tuple[Any, Any]:
    """Decode FLAC files; arguments and results are those of `graph_wav.decode`."""

    def decoded(files: NDArray[Any]) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
        found = [np.empty((0, channels), np.int16)]
        for file in files:
            if file or not optional:
                found.append(_decoded(file, name, rate, channels))
            else:
                found.append(found[0])
        return np.concatenate(found), np.array([*map(len, found[1:])], np.int64)

    samples, counts = tf.numpy_function(
        decoded, [data], [tf.int16, tf.int64], stateful=False
    )
    return (
        tf.ensure_shape(samples, (None, channels)),
        tf.ensure_shape(counts, (data.shape[0],)),
    )


def _decoded(file: bytes, name: str, rate: int, channels: int) -> NDArray[np.int16]:
    try:
        if not file.startswith(b"fLaC"):
            raise Problem("other bytes", "a FLAC")
        check_header("FLAC", flac.header(file), rate, channels)
        return flac.decode(file)
    except Problem as problem:
        text = f"expected {problem.expected}, found {problem.found}"
    except ValueError as error:
        text = str(error)
    raise ValueError(f"field {name!r}: {text}")


def lengths(data: Any) -> Any:
    """Return how many samples FLAC files have: int64 [B]."""
    content = from_place(data, tf.zeros(tf.shape(data), tf.int64), flac.COUNTS + 8)
    numbers = tf.cast(tf.io.decode_raw(content, tf.uint8), tf.int64)
    last = numbers[:, flac.COUNTS + 3 :]
    first = last[:, 0] % 16
    for at in range(1, 5):
        first = first * 256 + last[:, at]
    return first
