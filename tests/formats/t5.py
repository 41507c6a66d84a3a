"""T5, as the cached tasks of `seqio` hold it."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from stored_features import blobs, example, ints

from .original import Format, Row, Tensors

TOKENS = ("inputs", "targets")


def write(row: Row) -> bytes:
    tokens = {name: ints(*row[name]) for name in TOKENS}
    words = {f"{name}_pretokenized": row[f"{name}_pretokenized"] for name in TOKENS}
    return example({**tokens, **{k: blobs(v.encode()) for k, v in words.items()}})


def read(serialized: Any) -> Tensors:
    tokens = tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True)
    text = tf.io.FixedLenFeature([], tf.string)
    features = dict.fromkeys(TOKENS, tokens)
    features |= {f"{name}_pretokenized": text for name in TOKENS}
    found = tf.io.parse_single_example(serialized, features)
    return {**found, **{name: tf.cast(found[name], tf.int32) for name in TOKENS}}


def rows() -> list[Row]:
    return [
        {
            "inputs": [13959, 1566, 12, 2968, 10, 37, 629, 19, 1804, 5, 1],
            "inputs_pretokenized": "translate English to German: The house is wonderful.",
            "targets": [644, 4598, 229, 19250, 5, 1],
            "targets_pretokenized": "Das Haus ist wunderbar.",
        },
        {
            "inputs": [],
            "inputs_pretokenized": "",
            "targets": [1],
            "targets_pretokenized": "é",
        },
    ]


FORMAT = Format("text_to_text", rows(), write, read)
