"""TF Object Detection, as its `tf_example_decoder` reads what its tools write."""

from __future__ import annotations

import hashlib
from typing import Any

import tensorflow as tf
from stored_features import blobs, example, floats, ints

from .original import Format, Row, Tensors
from .pictures import jpeg, png

FLAGS = ("is_crowd", "difficult", "group_of")
SIDES = ("ymin", "xmin", "ymax", "xmax")
TEXTS = {"filename": "filename", "source_id": "source_id", "sha256": "key/sha256"}
HEIGHT, WIDTH = 6, 4


def write(row: Row) -> bytes:
    form = b"png" if row["image"].startswith(b"\x89PNG") else b"jpeg"
    features = {
        "image/height": ints(HEIGHT),
        "image/width": ints(WIDTH),
        "image/encoded": blobs(row["image"]),
        "image/format": blobs(form),
        "image/object/class/label": ints(*row["label"]),
    }
    for name, key in TEXTS.items():
        if name in row:
            features[f"image/{key}"] = blobs(row[name].encode())
    for side in SIDES:
        features[f"image/object/bbox/{side}"] = floats(*row[side])
    for name in ("area", "weight"):
        if name in row:
            features[f"image/object/{name}"] = floats(*row[name])
    for name in FLAGS:
        if name in row:
            features[f"image/object/{name}"] = ints(*map(int, row[name]))
    if "text" in row:
        names = [text.encode() for text in row["text"]]
        features["image/object/class/text"] = blobs(*names)
    return example(features)


def read(serialized: Any) -> Tensors:
    text = tf.io.FixedLenFeature((), tf.string, default_value="")
    size = tf.io.FixedLenFeature((), tf.int64, default_value=1)
    single = {
        **{f"image/{name}": text for name in ("encoded", *TEXTS.values())},
        **{f"image/{name}": size for name in ("height", "width")},
    }
    listed = {
        **{f"bbox/{side}": tf.float32 for side in SIDES},
        **dict.fromkeys(FLAGS, tf.int64),
        "area": tf.float32,
        "weight": tf.float32,
        "class/label": tf.int64,
        "class/text": tf.string,
    }
    lists = {
        f"image/object/{name}": tf.io.VarLenFeature(dtype)
        for name, dtype in listed.items()
    }
    parsed = tf.io.parse_single_example(serialized, {**single, **lists})
    objects = {name: parsed[f"image/object/{name}"].values for name in listed}
    boxes = tf.stack([objects[f"bbox/{side}"] for side in SIDES], axis=-1)
    weights = objects["weight"]
    if not len(weights):
        weights = tf.ones(len(boxes))
    return {
        "image": tf.io.decode_image(
            parsed["image/encoded"], channels=3, expand_animations=False
        ),
        "size": tf.stack([parsed["image/height"], parsed["image/width"]]),
        "key": parsed["image/key/sha256"],
        "filename": parsed["image/filename"],
        "source_id": parsed["image/source_id"],
        "boxes": boxes,
        "classes": objects["class/label"],
        "class_text": objects["class/text"],
        "area": objects["area"],
        **{name: tf.cast(objects[name], tf.bool) for name in FLAGS},
        "weights": weights,
    }


def ours(tensors: Tensors) -> Tensors:
    weights = tensors["weight"]
    if not len(weights):
        weights = tf.ones(len(tensors["label"]))
    alike = ("image", "filename", "source_id", "area", *FLAGS)
    return {
        **{name: tensors[name] for name in alike},
        "size": tf.shape(tensors["image"], tf.int64)[:2],
        "key": tensors["sha256"],
        "boxes": tf.stack([tensors[side] for side in SIDES], axis=-1),
        "classes": tensors["label"],
        "class_text": tensors["text"],
        "weights": weights,
    }


def _boxes(count: int) -> Row:
    corners = [0.125 * number for number in range(count)]
    return {
        "xmin": corners,
        "ymin": corners,
        "xmax": [corner + 0.25 for corner in corners],
        "ymax": [corner + 0.5 for corner in corners],
        "label": [90, 1, 17][:count],
    }


def _named(image: bytes, name: str) -> Row:
    return {
        "image": image,
        "filename": name,
        "source_id": name.split(".")[0],
        "sha256": hashlib.sha256(image).hexdigest(),
    }


ROWS: list[Row] = [
    {
        **_named(jpeg(HEIGHT, WIDTH, seed=1), "000000397133.jpg"),
        **_boxes(3),
        "text": ["toothbrush", "person", "cat"],
        "area": [0.5, 1.0, 1.5],
        "is_crowd": [False, True, False],
    },
    {
        **_named(png(HEIGHT, WIDTH, seed=2), "2008_000008.png"),
        **_boxes(2),
        "difficult": [True, False],
        "group_of": [False, True],
        "weight": [0.5, 2.0],
    },
    {"image": jpeg(HEIGHT, WIDTH, seed=3, mode="L"), **_boxes(0)},
]

FORMAT = Format("object_detection", ROWS, write, read, ours)
