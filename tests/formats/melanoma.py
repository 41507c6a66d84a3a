"""SIIM-ISIC melanoma, as its TFRecords were published and are commonly read."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from stored_features import blobs, example, ints

from .original import Format, Row, Tensors
from .pictures import jpeg

SIZE = 16
METADATA = ("patient_id", "sex", "age_approx", "anatom_site_general_challenge")
OF_TRAINING = ("diagnosis", "target")


def write(row: Row) -> bytes:
    integers = [name for name in (*METADATA, *OF_TRAINING) if name in row]
    names = {"image": row["image"], "image_name": row["image_name"].encode()}
    features = {name: blobs(value) for name, value in names.items()}
    return example({**features, **{name: ints(row[name]) for name in integers}})


def read(serialized: Any) -> Tensors:
    """Read a record of training or, which has no target, of the test split."""
    features = {
        "image": tf.io.FixedLenFeature([], tf.string),
        "image_name": tf.io.FixedLenFeature([], tf.string),
        **{name: tf.io.FixedLenFeature([], tf.int64) for name in METADATA},
        **{name: tf.io.FixedLenFeature([], tf.int64, -1) for name in OF_TRAINING},
    }
    parsed = tf.io.parse_single_example(serialized, features)
    image = tf.io.decode_jpeg(parsed["image"], channels=3)
    return {**parsed, "image": tf.reshape(image, [SIZE, SIZE, 3])}


def _row(number: int) -> Row:
    return {
        "image": jpeg(SIZE, SIZE, seed=number),
        "image_name": f"ISIC_{number:07}",
        "patient_id": 100 + number,
        "sex": number % 2,
        "age_approx": 45,
        "anatom_site_general_challenge": 3,
    }


ROWS: list[Row] = [
    {**_row(0), "diagnosis": 4, "target": 1},
    {**_row(1), "sex": -1, "age_approx": -1, "diagnosis": 0, "target": 0},
    {**_row(2), "anatom_site_general_challenge": -1},
]

FORMAT = Format("melanoma", ROWS, write, read)
