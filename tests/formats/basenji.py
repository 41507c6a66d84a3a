"""Basenji, as `basenji_data_write.py` writes and `dataset.py` reads its ZLIB files."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from stored_features import blobs, example

from .original import Format, Row, Tensors

LENGTH, BINS, SIGNALS = 512, 4, 7


def write(row: Row) -> bytes:
    return example(
        {name: blobs(row[name].tobytes()) for name in ("sequence", "target")}
    )


def read(serialized: Any) -> Tensors:
    text = tf.io.FixedLenFeature([], tf.string)
    features = {"sequence": text, "target": text}
    parsed = tf.io.parse_single_example(serialized, features)
    sequence = tf.io.decode_raw(parsed["sequence"], tf.uint8)
    target = tf.io.decode_raw(parsed["target"], tf.float16)
    return {
        "sequence": tf.cast(tf.reshape(sequence, [LENGTH, 4]), tf.float32),
        "target": tf.cast(tf.reshape(target, [BINS, SIGNALS]), tf.float32),
    }


def ours(tensors: Tensors) -> Tensors:
    return {name: tf.cast(value, tf.float32) for name, value in tensors.items()}


def rows() -> list[Row]:
    chance = np.random.default_rng(0)
    bases = np.eye(4, dtype=np.uint8)
    return [
        {
            "sequence": bases[chance.integers(0, 4, LENGTH)],
            "target": chance.gamma(1, size=(BINS, SIGNALS)).astype(np.float16),
        }
        for _ in range(2)
    ]


FORMAT = Format("basenji", rows(), write, read, ours, compression="ZLIB")
