"""TF Vision's records with masks, as its `TfExampleDecoder` reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from stored_features import blobs, example, floats, ints

from .original import Format, Row, Tensors
from .pictures import jpeg

SIZE = (16, 24)
CORNERS = ("xmin", "xmax", "ymin", "ymax")


def write(row: Row) -> bytes:
    return example(
        {
            "image/encoded": blobs(row["image"]),
            "image/height": ints(SIZE[0]),
            "image/width": ints(SIZE[1]),
            "image/source_id": blobs(row["source_id"].encode()),
            **{f"image/object/bbox/{c}": floats(*row[c]) for c in CORNERS},
            "image/object/class/label": ints(*row["classes"]),
            "image/object/area": floats(*row["area"]),
            "image/object/is_crowd": ints(*map(int, row["is_crowd"])),
            "image/object/mask": blobs(*row["masks"]),
        }
    )


def read(serialized: Any) -> Tensors:
    integer = tf.io.FixedLenFeature((), tf.int64)
    text = tf.io.FixedLenFeature((), tf.string)
    numbers, integers = map(tf.io.VarLenFeature, (tf.float32, tf.int64))
    features = {
        "image/encoded": text,
        "image/height": integer,
        "image/width": integer,
        "image/source_id": text,
        **{f"image/object/bbox/{corner}": numbers for corner in CORNERS},
        "image/object/class/label": integers,
        "image/object/area": numbers,
        "image/object/is_crowd": integers,
        "image/object/mask": tf.io.VarLenFeature(tf.string),
    }
    parsed = tf.io.parse_single_example(serialized, features)
    for key, value in parsed.items():
        if isinstance(value, tf.SparseTensor):
            empty = "" if value.dtype == tf.string else 0
            parsed[key] = tf.sparse.to_dense(value, empty)

    def decode_mask(data: tf.Tensor) -> tf.Tensor:
        return tf.cast(tf.squeeze(tf.io.decode_png(data, channels=1), -1), tf.float32)

    height, width = parsed["image/height"], parsed["image/width"]
    masks = parsed["image/object/mask"]
    boxes = ("ymin", "xmin", "ymax", "xmax")
    return {
        "image": tf.io.decode_image(parsed["image/encoded"], channels=3),
        "source_id": parsed["image/source_id"],
        "height": height,
        "width": width,
        "groundtruth_boxes": tf.stack(
            [parsed[f"image/object/bbox/{corner}"] for corner in boxes], axis=-1
        ),
        "groundtruth_classes": parsed["image/object/class/label"],
        "groundtruth_area": parsed["image/object/area"],
        "groundtruth_is_crowd": tf.cast(parsed["image/object/is_crowd"], tf.bool),
        "groundtruth_instance_masks": tf.cond(
            tf.size(masks) > 0,
            lambda: tf.map_fn(decode_mask, masks, fn_output_signature=tf.float32),
            lambda: tf.zeros((0, height, width), tf.float32),
        ),
    }


def ours(found: Tensors) -> Tensors:
    corners = [found[corner] for corner in ("ymin", "xmin", "ymax", "xmax")]
    return {
        "image": found["image"],
        "source_id": found["source_id"],
        "height": tf.constant(found["image"].shape[0], tf.int64),
        "width": tf.constant(found["image"].shape[1], tf.int64),
        "groundtruth_boxes": tf.stack(corners, axis=-1),
        "groundtruth_classes": found["classes"],
        "groundtruth_area": found["area"],
        "groundtruth_is_crowd": found["is_crowd"],
        "groundtruth_instance_masks": tf.cast(found["masks"][..., 0], tf.float32),
    }


def rows() -> list[Row]:
    chance = np.random.default_rng(2)
    found: list[Row] = []
    for number, objects in enumerate((3, 0, 1)):
        masks = chance.integers(0, 2, (objects, *SIZE, 1)).astype(np.uint8)
        found.append(
            {
                "image": jpeg(*SIZE, seed=number),
                "source_id": str(number),
                **{c: chance.random(objects).astype(np.float32) for c in CORNERS},
                "classes": chance.integers(1, 91, objects),
                "area": chance.random(objects).astype(np.float32) * 100,
                "is_crowd": chance.integers(0, 2, objects).astype(bool),
                "masks": [tf.io.encode_png(mask).numpy() for mask in masks],
            }
        )
    return found


FORMAT = Format("vision_masks", rows(), write, read, ours)
