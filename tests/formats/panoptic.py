"""DeepLab2's panoptic records, as `create_features` and its decoder define them."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from .deeplab import DESCRIPTION, written
from .original import Format, Row, Tensors
from .pictures import jpeg

DIVISOR = 256


def write(row: Row) -> bytes:
    return written(row, row["panoptic"].astype(np.int32).tobytes(), b"raw")


def read(serialized: Any) -> Tensors:
    parsed = tf.io.parse_single_example(serialized, DESCRIPTION)
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
