"""BERT, as `create_pretraining_data.py` writes and `run_pretraining.py` reads it."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from stored_features import example, floats, ints

from .original import Format, Row, Tensors

SIZES = {
    "input_ids": 128,
    "input_mask": 128,
    "segment_ids": 128,
    "masked_lm_positions": 20,
    "masked_lm_ids": 20,
}


def write(row: Row) -> bytes:
    features = {}
    for name, size in SIZES.items():
        values = list(row[name])
        while len(values) < size:
            values.append(0)
        features[name] = ints(*values)
    weights = list(row["masked_lm_weights"])
    features["masked_lm_weights"] = floats(*weights, *[0.0] * (20 - len(weights)))
    features["next_sentence_labels"] = ints(row["next_sentence_labels"])
    return example(features)


def read(serialized: Any) -> Tensors:
    features = {
        name: tf.io.FixedLenFeature([size], tf.int64) for name, size in SIZES.items()
    }
    features["masked_lm_weights"] = tf.io.FixedLenFeature([20], tf.float32)
    features["next_sentence_labels"] = tf.io.FixedLenFeature([1], tf.int64)
    found = tf.io.parse_single_example(serialized, features)
    return {
        name: tf.cast(value, tf.int32) if value.dtype == tf.int64 else value
        for name, value in found.items()
    }


def ours(tensors: Tensors) -> Tensors:
    label = tf.cast([tensors["next_sentence_labels"]], tf.int32)
    return {**tensors, "next_sentence_labels": label}


def rows() -> list[Row]:
    return [
        {
            "input_ids": [101, 7592, 103, 102, 2088, 102],
            "input_mask": [1] * 6,
            "segment_ids": [0, 0, 0, 0, 1, 1],
            "masked_lm_positions": [2],
            "masked_lm_ids": [2045],
            "masked_lm_weights": [1.0],
            "next_sentence_labels": 1,
        },
        {
            "input_ids": [*range(1, 129)],
            "input_mask": [1] * 128,
            "segment_ids": [0] * 64 + [1] * 64,
            "masked_lm_positions": [],
            "masked_lm_ids": [],
            "masked_lm_weights": [],
            "next_sentence_labels": 0,
        },
    ]


FORMAT = Format("bert_pretraining", rows(), write, read, ours)
