"""DeepLab, as `build_data.py` writes its records and `data_generator.py` reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from stored_features import blobs, example, ints

from .original import Format, Row, Tensors
from .pictures import jpeg

_TEXT = tf.io.FixedLenFeature((), tf.string, default_value="")
_SIZE = tf.io.FixedLenFeature((), tf.int64, default_value=0)

DESCRIPTION = {
    **dict.fromkeys(("image/encoded", "image/filename", "image/format"), _TEXT),
    **dict.fromkeys(("image/height", "image/width"), _SIZE),
    "image/segmentation/class/encoded": _TEXT,
}


def written(row: Row, label: bytes, encoding: bytes) -> bytes:
    """Return the record of an image with its label, as DeepLab and DeepLab2 write it."""
    height, width, channels = tf.io.decode_jpeg(row["image"]).shape
    return example(
        {
            "image/encoded": blobs(row["image"]),
            "image/filename": blobs(row["filename"].encode()),
            "image/format": blobs(b"jpeg"),
            "image/height": ints(height),
            "image/width": ints(width),
            "image/channels": ints(channels),
            "image/segmentation/class/encoded": blobs(label),
            "image/segmentation/class/format": blobs(encoding),
        }
    )


def write(row: Row) -> bytes:
    return written(row, row["label"], b"png")


def read(serialized: Any) -> Tensors:
    parsed = tf.io.parse_single_example(serialized, DESCRIPTION)
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
