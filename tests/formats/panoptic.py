"""DeepLab2's panoptic records, as `create_features` and its decoder define them."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from stored_features import blobs, example, ints

from .original import Format, Row, Tensors
from .pictures import jpeg

DIVISOR = 256


def write(row: Row) -> bytes:
    height, width, channels = tf.io.decode_jpeg(row["image"]).shape
    return example(
        {
            "image/encoded": blobs(row["image"]),
            "image/filename": blobs(row["filename"].encode()),
            "image/format": blobs(b"jpeg"),
            "image/height": ints(height),
            "image/width": ints(width),
            "image/channels": ints(channels),
            "image/segmentation/class/encoded": blobs(
                row["panoptic"].astype(np.int32).tobytes()
            ),
            "image/segmentation/class/format": blobs(b"raw"),
        }
    )


def read(serialized: Any) -> Tensors:
    text = tf.io.FixedLenFeature((), tf.string, default_value="")
    size = tf.io.FixedLenFeature((), tf.int64, default_value=0)
    features = {
        **dict.fromkeys(("image/encoded", "image/filename"), text),
        **dict.fromkeys(("image/height", "image/width"), size),
        "image/segmentation/class/encoded": text,
    }
    parsed = tf.io.parse_single_example(serialized, features)
    image = tf.io.decode_image(parsed["image/encoded"], channels=3)
    flat = tf.io.decode_raw(parsed["image/segmentation/class/encoded"], tf.int32)
    label = tf.reshape(flat, (parsed["image/height"], parsed["image/width"], 1))
    return {
        "image": image,
        "image_name": parsed["image/filename"],
        "semantic": label // DIVISOR,
        "instance": label % DIVISOR,
    }


def ours(found: Tensors) -> Tensors:
    label = found["panoptic"][..., tf.newaxis]
    return {
        "image": found["image"],
        "image_name": found["filename"],
        "semantic": label // DIVISOR,
        "instance": label % DIVISOR,
    }


def rows() -> list[Row]:
    chance = np.random.default_rng(1)
    found: list[Row] = []
    for number, (height, width) in enumerate(((16, 21), (25, 18))):
        classes = chance.integers(0, 201, (height, width))
        things = chance.integers(0, DIVISOR, (height, width))
        found.append(
            {
                "image": jpeg(height, width, seed=number),
                "filename": f"{number:012}",
                "panoptic": (classes * DIVISOR + things).astype(np.int32),
            }
        )
    return found


FORMAT = Format("panoptic_image", rows(), write, read, ours)
