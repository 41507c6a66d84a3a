"""Dicts of tf.io features, as tutorials and programs have them."""

from __future__ import annotations

import tensorflow as tf

# TFRecord and tf.train.Example (tensorflow.org/tutorials/load_data/tfrecord).
feature_description = {
    "feature0": tf.io.FixedLenFeature([], tf.int64, default_value=0),
    "feature1": tf.io.FixedLenFeature([], tf.int64, default_value=0),
    "feature2": tf.io.FixedLenFeature([], tf.string, default_value=""),
    "feature3": tf.io.FixedLenFeature([], tf.float32, default_value=0.0),
}

EVERY = {
    "image/encoded": tf.io.FixedLenFeature([], tf.string),
    "label": tf.io.FixedLenFeature([1], tf.int64, default_value=-1),
    "grid": tf.io.FixedLenFeature([2, 2], tf.float32, default_value=[[0, 1], [2, 3]]),
    "names": tf.io.FixedLenFeature([3], tf.string),
    "ids": tf.io.VarLenFeature(tf.int64),
    "weights": tf.io.VarLenFeature(tf.float32),
    "words": tf.io.VarLenFeature(tf.string),
    "points": tf.io.FixedLenSequenceFeature(
        [3], tf.float32, allow_missing=True, default_value=-1
    ),
    "ragged": tf.io.RaggedFeature(tf.int64),
    "rows": tf.io.RaggedFeature(
        tf.float32,
        value_key="rows/values",
        partitions=[tf.io.RaggedFeature.RowLengths("rows/len")],
    ),
    "sparse": tf.io.SparseFeature(["row", "column"], "value", tf.float32, [10, 20]),
}

REFUSED = {
    "splits": tf.io.RaggedFeature(
        tf.int64,
        value_key="splits/values",
        partitions=[
            tf.io.RaggedFeature.RowSplits("splits/at"),
            tf.io.RaggedFeature.UniformRowLength(2),
        ],
    ),
    "tags": tf.io.SparseFeature("tag_index", "tag", tf.string, 10),
    "odd": tf.io.FixedLenFeature([], tf.float64),
    "unknown": tf.io.FixedLenFeature([None], tf.int64),
}

STEPS = (
    {"id": tf.io.FixedLenFeature([], tf.string)},
    {
        "rgb": tf.io.FixedLenSequenceFeature([4], tf.float32),
        "frame": tf.io.FixedLenSequenceFeature([], tf.string),
        "action": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
    },
)

PARTITIONED_STEPS = (
    {},
    {
        "words": tf.io.RaggedFeature(
            tf.string, partitions=[tf.io.RaggedFeature.RowLengths("lengths")]
        )
    },
)
