"""RLDS, as TFDS writes the features of a dataset of steps into one Example."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from stored_features import blobs, example, floats, ints

from .original import Format, Row, Tensors, by_key
from .pictures import png

FLOATS = ("reward", "discount")
FLAGS = ("is_first", "is_last", "is_terminal")
IMAGES = ("image", "wrist_image")


def write(row: Row) -> bytes:
    steps, observation = row["steps"], row["steps"]["observation"]
    features = {
        "episode_metadata/file_path": blobs(
            row["episode_metadata"]["file_path"].encode()
        ),
        "steps/observation/state": floats(*observation["state"].flatten()),
        "steps/action": floats(*steps["action"].flatten()),
        "steps/language_instruction": blobs(
            *(text.encode() for text in steps["language_instruction"])
        ),
    }
    for name in IMAGES:
        features[f"steps/observation/{name}"] = blobs(*observation[name])
    for name in FLOATS:
        features[f"steps/{name}"] = floats(*steps[name])
    for name in FLAGS:
        features[f"steps/{name}"] = ints(*map(int, steps[name]))
    return example(features)


def read(serialized: Any) -> Tensors:
    def listed(dtype: tf.DType, *shape: int) -> tf.io.FixedLenSequenceFeature:
        return tf.io.FixedLenSequenceFeature(shape, dtype, allow_missing=True)

    features: dict[str, Any] = {
        "episode_metadata/file_path": tf.io.FixedLenFeature([], tf.string),
        "steps/observation/state": listed(tf.float32, 7),
        "steps/action": listed(tf.float32, 7),
        "steps/language_instruction": listed(tf.string),
    }
    features |= {f"steps/observation/{name}": listed(tf.string) for name in IMAGES}
    features |= {f"steps/{name}": listed(tf.float32) for name in FLOATS}
    features |= {f"steps/{name}": listed(tf.int64) for name in FLAGS}
    parsed = tf.io.parse_single_example(serialized, features)
    for name in IMAGES:
        key = f"steps/observation/{name}"
        parsed[key] = tf.map_fn(
            lambda data: tf.io.decode_image(data, channels=3, expand_animations=False),
            parsed[key],
            fn_output_signature=tf.uint8,
        )
    for name in FLAGS:
        parsed[f"steps/{name}"] = tf.cast(parsed[f"steps/{name}"], tf.bool)
    found: Tensors = parsed
    return found


def ours(tensors: Tensors) -> Tensors:
    return dict(by_key(tensors))


def rows() -> list[Row]:
    chance = np.random.default_rng(1)
    found: list[Row] = []
    for length in (3, 1):
        observation = {
            "image": [png(4, 6, seed=at) for at in range(length)],
            "wrist_image": [png(4, 6, seed=at + 9) for at in range(length)],
            "state": chance.normal(size=(length, 7)).astype("float32"),
        }
        steps = {
            "observation": observation,
            "action": chance.normal(size=(length, 7)).astype("float32"),
            "reward": [0.0] * (length - 1) + [1.0],
            "discount": [1.0] * length,
            "is_first": [at == 0 for at in range(length)],
            "is_last": [at == length - 1 for at in range(length)],
            "is_terminal": [False] * length,
            "language_instruction": ["pick up the block"] * length,
        }
        metadata = {"file_path": f"episode_{length}.npy"}
        found.append({"episode_metadata": metadata, "steps": steps})
    return found


FORMAT = Format("robot_episode", rows(), write, read, ours)
