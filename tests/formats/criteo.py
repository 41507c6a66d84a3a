"""Criteo's click logs: 13 integer and 26 categorical columns, empty ones left out."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from stored_features import blobs, example, ints

from .original import Format, Row, Tensors

COUNTS = [f"I{number}" for number in range(1, 14)]
CATEGORIES = [f"C{number}" for number in range(1, 27)]


def write(row: Row) -> bytes:
    features = {"label": ints(row["label"])}
    for name in COUNTS:
        if name in row:
            features[name] = ints(row[name])
    for name in CATEGORIES:
        if name in row:
            features[name] = blobs(row[name].encode())
    return example(features)


def read(serialized: Any) -> Tensors:
    features = {"label": tf.io.FixedLenFeature([], tf.int64)}
    for name in COUNTS:
        features[name] = tf.io.FixedLenFeature([], tf.int64, default_value=0)
    for name in CATEGORIES:
        features[name] = tf.io.FixedLenFeature([], tf.string, default_value="")
    found: Tensors = tf.io.parse_single_example(serialized, features)
    return found


def rows() -> list[Row]:
    full = {name: number * 7 - 10 for number, name in enumerate(COUNTS)}
    hashes = {
        name: f"{number * 2654435761 % 2**32:08x}"
        for number, name in enumerate(CATEGORIES)
    }
    sparse = {"label": 0, "I2": -3, "I7": 0, "C1": "68fd1e64", "C20": ""}
    return [{"label": 1, **full, **hashes}, sparse]


FORMAT = Format("criteo_click", rows(), write, read)
