"""YouTube-8M, frame level, as its starter code's `YT8MFrameFeatureReader` reads it."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from stored_features import blobs, ints

from .original import Format, Row, Tensors, sequence_example

CLASSES = 3862
SIZES = {"rgb": 1024, "audio": 128}


def write(row: Row) -> bytes:
    return sequence_example(
        {"id": blobs(row["id"]), "labels": ints(*row["labels"])},
        {name: [blobs(step.tobytes()) for step in row[name]] for name in SIZES},
    )


def dequantize(quantized: Any, highest: float = 2.0, lowest: float = -2.0) -> Any:
    """Return the middle of the part that each byte stands for."""
    span = highest - lowest
    return quantized * (span / 255.0) + (span / 512.0 + lowest)


def read(serialized: Any) -> Tensors:
    context, lists = tf.io.parse_single_sequence_example(
        serialized,
        context_features={
            "id": tf.io.FixedLenFeature([], tf.string),
            "labels": tf.io.VarLenFeature(tf.int64),
        },
        sequence_features={
            name: tf.io.FixedLenSequenceFeature([], tf.string) for name in SIZES
        },
    )
    labels = tf.scatter_nd(
        context["labels"].values[:, tf.newaxis],
        tf.ones_like(context["labels"].values, tf.float32),
        [CLASSES],
    )
    found = {"id": context["id"], "labels": labels}
    for name, size in SIZES.items():
        steps = tf.reshape(tf.io.decode_raw(lists[name], tf.uint8), [-1, size])
        found[name] = dequantize(tf.cast(steps, tf.float32))
    return found


def rows() -> list[Row]:
    chance = np.random.default_rng(0)
    return [
        {
            "id": name,
            "labels": labels,
            **{
                feature: chance.integers(0, 256, (seconds, size), np.uint8)
                for feature, size in SIZES.items()
            },
        }
        for name, labels, seconds in ((b"aB01", [3, 40, 3861], 4), (b"zz", [0], 300))
    ]


FORMAT = Format("youtube8m_frame", rows(), write, read)
