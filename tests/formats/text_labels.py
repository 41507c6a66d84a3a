"""A class stored as text, read through a lookup table as TensorFlow's guides do it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from stored_features import blobs, example, floats

from .original import Format, Row, Tensors

VOCABULARY = Path(__file__).parent / "schemas" / "flowers.txt"


def write(row: Row) -> bytes:
    return example(
        {
            "petal length": floats(row["petal_length"]),
            "species": blobs(row["species"].encode()),
        }
    )


def read(serialized: Any) -> Tensors:
    found = tf.io.parse_single_example(
        serialized,
        {
            "petal length": tf.io.FixedLenFeature([], tf.float32),
            "species": tf.io.FixedLenFeature([], tf.string),
        },
    )
    initializer = tf.lookup.TextFileInitializer(
        str(VOCABULARY),
        tf.string,
        tf.lookup.TextFileIndex.WHOLE_LINE,
        tf.int64,
        tf.lookup.TextFileIndex.LINE_NUMBER,
    )
    table = tf.lookup.StaticHashTable(initializer, default_value=-1)
    return {
        "petal_length": found["petal length"],
        "species": table.lookup(found["species"]),
    }


FORMAT = Format(
    "flower",
    [
        {"petal_length": np.float32(4.7), "species": "versicolor"},
        {"petal_length": np.float32(1.4), "species": "setosa"},
    ],
    write,
    read,
)
