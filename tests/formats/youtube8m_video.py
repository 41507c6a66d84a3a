"""YouTube-8M, video level, as `readers.YT8MAggregatedFeatureReader` reads it."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from stored_features import blobs, example, floats, ints

from .original import Format, Row, Tensors

NUM_CLASSES = 3862
SIZES = {"mean_rgb": 1024, "mean_audio": 128}


def write(row: Row) -> bytes:
    features = {name: floats(*row[name]) for name in SIZES}
    if "labels" in row:
        features["labels"] = ints(*row["labels"])
    return example({"id": blobs(row["id"]), **features})


def read(serialized: Any) -> Tensors:
    description = {
        "id": tf.io.FixedLenFeature([], tf.string),
        "labels": tf.io.VarLenFeature(tf.int64),
        **{n: tf.io.FixedLenFeature([s], tf.float32) for n, s in SIZES.items()},
    }
    found = tf.io.parse_example([serialized], description)
    # The features side by side, and the labels as a row of bools.
    return {
        "id": found["id"][0],
        "features": tf.concat([found[name] for name in SIZES], axis=1)[0],
        "labels": tf.sparse.to_indicator(found["labels"], NUM_CLASSES)[0],
    }


def ours(found: Tensors) -> Tensors:
    return {
        "id": found["id"],
        "features": tf.concat([found[name] for name in SIZES], axis=0),
        "labels": found["labels"] == 1,
    }


def rows() -> list[Row]:
    chance = np.random.default_rng(0)

    def averages() -> Row:
        return {n: chance.normal(size=s).astype("float32") for n, s in SIZES.items()}

    return [
        {"id": b"nIuA", "labels": [3861, 0, 17], **averages()},
        {"id": b"HaB1", "labels": [], **averages()},
        {"id": b"test", **averages()},
    ]


FORMAT = Format("youtube8m_video", rows(), write, read, ours)
