"""Waymo Open Motion, by the feature descriptions of its motion tutorial."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from stored_features import blobs, example, floats, ints

from .original import Format, Row, Tensors, by_key

AGENTS, POINTS = 128, 50
NAMES = {"road": "roadgraph_samples"}


def _fixed(dtype: tf.DType, *shape: int) -> tf.io.FixedLenFeature:
    return tf.io.FixedLenFeature(shape, dtype)


_TRACKS = {
    "past/x": 10,
    "past/y": 10,
    "past/bbox_yaw": 10,
    "future/x": 80,
    "future/y": 80,
}
FEATURES = {
    **{f"state/{name}": _fixed(tf.float32, AGENTS) for name in ("id", "type")},
    **{f"state/{name}": _fixed(tf.float32, AGENTS, n) for name, n in _TRACKS.items()},
    "state/is_sdc": _fixed(tf.int64, AGENTS),
    "state/past/valid": _fixed(tf.int64, AGENTS, 10),
    "state/future/valid": _fixed(tf.int64, AGENTS, 80),
    "roadgraph_samples/xyz": _fixed(tf.float32, POINTS, 3),
    "roadgraph_samples/type": _fixed(tf.int64, POINTS, 1),
    "roadgraph_samples/valid": _fixed(tf.int64, POINTS, 1),
    "scenario/id": _fixed(tf.string),
}


def write(row: Row) -> bytes:
    features = {}
    for key, value in by_key(row, NAMES):
        if isinstance(value, bytes):
            features[key] = blobs(value)
        elif value.dtype == np.int64:
            features[key] = ints(*value.ravel())
        else:
            features[key] = floats(*value.ravel())
    return example(features)


def read(serialized: Any) -> Tensors:
    found: Tensors = tf.io.parse_single_example(serialized, FEATURES)
    return found


def ours(tensors: Tensors) -> Tensors:
    return dict(by_key(tensors, NAMES))


def rows() -> list[Row]:
    chance = np.random.default_rng(0)

    def floats(*shape: int) -> Any:
        return chance.normal(size=shape).astype(np.float32)

    def flags(*shape: int) -> Any:
        return chance.integers(0, 2, shape)

    def track(steps: int) -> dict[str, Any]:
        shape = (AGENTS, steps)
        return {"x": floats(*shape), "y": floats(*shape), "valid": flags(*shape)}

    return [
        {
            "state": {
                "id": np.arange(AGENTS, dtype=np.float32),
                "type": floats(AGENTS),
                "is_sdc": flags(AGENTS),
                "past": {**track(10), "bbox_yaw": floats(AGENTS, 10)},
                "future": track(80),
            },
            "road": {
                "xyz": floats(POINTS, 3),
                "type": flags(POINTS, 1),
                "valid": flags(POINTS, 1),
            },
            "scenario": {"id": b"637f20cafde22ff8"},
        }
        for _ in range(2)
    ]


FORMAT = Format("waymo_motion", rows(), write, read, ours)
