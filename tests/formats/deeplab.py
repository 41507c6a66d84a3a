"""DeepLab, as `build_data.py` writes its records and `data_generator.py` reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from stored_features import blobs, example, ints

from .original import Format, Row, Tensors
from .pictures import jpeg


def write(row: Row) -> bytes:
    height, width, _ = tf.io.decode_jpeg(row["image"]).shape
    return example(
        {
            "image/encoded": blobs(row["image"]),
            "image/filename": blobs(row["filename"].encode()),
            "image/format": blobs(b"jpeg"),
            "image/height": ints(height),
            "image/width": ints(width),
            "image/channels": ints(3),
            "image/segmentation/class/encoded": blobs(row["label"]),
            "image/segmentation/class/format": blobs(b"png"),
        }
    )


def read(serialized: Any) -> Tensors:
    text = tf.io.FixedLenFeature((), tf.string, default_value="")
    size = tf.io.FixedLenFeature((), tf.int64, default_value=0)
    features = {
        **dict.fromkeys(("image/encoded", "image/filename", "image/format"), text),
        **dict.fromkeys(("image/height", "image/width"), size),
        "image/segmentation/class/encoded": text,
    }
    parsed = tf.io.parse_single_example(serialized, features)
    return {
        "image": tf.io.decode_jpeg(parsed["image/encoded"], channels=3),
        "image_name": parsed["image/filename"],
        "label": tf.io.decode_png(
            parsed["image/segmentation/class/encoded"], channels=1
        ),
    }


def ours(found: Tensors) -> Tensors:
    return {
        "image": found["image"],
        "image_name": found["filename"],
        "label": found["label"][..., tf.newaxis],
    }


def rows() -> list[Row]:
    chance = np.random.default_rng(0)
    found: list[Row] = []
    for number, (height, width) in enumerate(((20, 24), (17, 33))):
        # The colours of the original files have been taken off the classes.
        label = chance.choice([*range(21), 255], (height, width, 1)).astype(np.uint8)
        found.append(
            {
                "image": jpeg(height, width, seed=number),
                "filename": f"2007_{number:06}",
                "label": tf.io.encode_png(label).numpy(),
            }
        )
    return found


FORMAT = Format("deeplab_image", rows(), write, read, ours)
