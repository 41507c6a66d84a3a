"""ImageNet, as `build_imagenet_data` writes and Inception's `image_processing` reads it."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from stored_features import blobs, example, floats, ints

from .original import Format, Row, Tensors
from .pictures import jpeg

HEIGHT, WIDTH = 5, 7


def write(row: Row) -> bytes:
    label = row["label"] + 1
    corners = {
        f"image/object/bbox/{side}": floats(*row[side])
        for side in ("xmin", "xmax", "ymin", "ymax")
    }
    return example(
        {
            "image/height": ints(HEIGHT),
            "image/width": ints(WIDTH),
            "image/colorspace": blobs(b"RGB"),
            "image/channels": ints(3),
            "image/class/label": ints(label),
            "image/class/synset": blobs(row["synset"].encode()),
            "image/class/text": blobs(row["text"].encode()),
            **corners,
            "image/object/bbox/label": ints(*[label] * len(row["xmin"])),
            "image/format": blobs(b"JPEG"),
            "image/filename": blobs(row["filename"].encode()),
            "image/encoded": blobs(row["image"]),
        }
    )


def read(serialized: Any) -> Tensors:
    sides = [f"image/object/bbox/{side}" for side in ("ymin", "xmin", "ymax", "xmax")]
    features = {
        "image/encoded": tf.io.FixedLenFeature([], tf.string, default_value=""),
        "image/class/label": tf.io.FixedLenFeature([1], tf.int64, default_value=-1),
        "image/class/text": tf.io.FixedLenFeature([], tf.string, default_value=""),
        **{side: tf.io.VarLenFeature(tf.float32) for side in sides},
    }
    parsed = tf.io.parse_single_example(serialized, features)
    boxes = tf.stack([parsed[side].values for side in sides], axis=-1)
    return {
        "image": tf.io.decode_jpeg(parsed["image/encoded"], channels=3),
        "label": tf.cast(parsed["image/class/label"], tf.int32),
        "text": parsed["image/class/text"],
        "boxes": boxes[tf.newaxis],
    }


def ours(tensors: Tensors) -> Tensors:
    sides = [tensors[side] for side in ("ymin", "xmin", "ymax", "xmax")]
    return {
        "image": tensors["image"],
        "label": tf.cast(tensors["label"] + 1, tf.int32)[tf.newaxis],
        "text": tensors["text"],
        "boxes": tf.stack(sides, axis=-1)[tf.newaxis],
    }


def _row(label: int, boxes: int) -> Row:
    corners = [0.125 * number for number in range(boxes)]
    return {
        "image": jpeg(HEIGHT, WIDTH, seed=label),
        "colorspace": "RGB",
        "filename": f"n01440764_{label}.JPEG",
        "label": label,
        "synset": "n01440764",
        "text": "tench, Tinca tinca",
        "xmin": corners,
        "xmax": [corner + 0.25 for corner in corners],
        "ymin": corners,
        "ymax": [corner + 0.5 for corner in corners],
        "box_labels": [label + 1] * boxes,
    }


ROWS = [_row(0, 2), _row(999, 1), _row(7, 0)]

FORMAT = Format("imagenet", ROWS, write, read, ours)
