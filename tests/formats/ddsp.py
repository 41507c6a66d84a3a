"""DDSP, as `ddsp.training.data.TFRecordProvider` describes its features."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from stored_features import example, floats

from .original import Format, Row, Tensors

SIZES = {"audio": 64_000, "f0_hz": 1000, "f0_confidence": 1000, "loudness_db": 1000}


def write(row: Row) -> bytes:
    return example({name: floats(*row[name]) for name in SIZES})


def read(serialized: Any) -> Tensors:
    features = {
        name: tf.io.FixedLenFeature([size], tf.float32) for name, size in SIZES.items()
    }
    found: Tensors = tf.io.parse_single_example(serialized, features)
    return found


def rows() -> list[Row]:
    chance = np.random.default_rng(0)
    return [
        {
            name: chance.normal(size=size).astype("float32")
            for name, size in SIZES.items()
        }
        for _ in range(2)
    ]


FORMAT = Format("ddsp_audio", rows(), write, read)
