"""Videos as JPEG frames in a feature list, with the clip's label in the context."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from stored_features import blobs, ints

from .original import Format, Row, Tensors, sequence_example
from .pictures import jpeg

SIZE = 16
STEP_MICROSECONDS = 40_000


def write(row: Row) -> bytes:
    return sequence_example(
        {
            "image/height": ints(row["height"]),
            "image/width": ints(row["width"]),
            "clip/label/index": ints(row["label"]),
            "clip/label/text": blobs(row["action"].encode()),
        },
        {
            "image/encoded": [blobs(frame) for frame in row["frames"]],
            "image/timestamp": [ints(time) for time in row["timestamp"]],
        },
    )


def decode(frame: Any) -> Any:
    pixels = tf.image.resize(tf.io.decode_jpeg(frame, channels=3), [SIZE, SIZE])
    return tf.cast(tf.round(pixels), tf.uint8)


def read(serialized: Any) -> Tensors:
    number = tf.io.FixedLenFeature([], tf.int64)
    text = tf.io.FixedLenFeature([], tf.string)
    context, lists = tf.io.parse_single_sequence_example(
        serialized,
        {
            **{f"image/{name}": number for name in ("height", "width")},
            "clip/label/index": number,
            "clip/label/text": text,
        },
        {
            "image/encoded": tf.io.FixedLenSequenceFeature([], tf.string),
            "image/timestamp": tf.io.FixedLenSequenceFeature([], tf.int64),
        },
    )
    return {
        "frames": tf.map_fn(
            decode, lists["image/encoded"], fn_output_signature=tf.uint8
        ),
        "timestamp": lists["image/timestamp"],
        "height": context["image/height"],
        "width": context["image/width"],
        "label": context["clip/label/index"],
        "action": context["clip/label/text"],
    }


def rows() -> list[Row]:
    found: list[Row] = []
    clips = (("ApplyEyeMakeup", 0, 3, (24, 32)), ("YoYo", 100, 1, (20, 9)))
    for action, label, length, (height, width) in clips:
        found.append(
            {
                "frames": [jpeg(height, width, seed=step) for step in range(length)],
                "timestamp": [STEP_MICROSECONDS * step for step in range(length)],
                "height": height,
                "width": width,
                "label": label,
                "action": action,
            }
        )
    return found


FORMAT = Format("video_frames", rows(), write, read)
