"""Records of three shapes to read, and how tutorials read them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf

from ..shapes import Columns, Row, Shape, mix, numbers, pictures, tokens

IMAGE_SIZE = (224, 224)
TARGET = "label"

CORES = 2
"""How many cores, and threads where a way asks for a number."""


Decode = Callable[[Columns, tuple[int, ...]], Columns]


@dataclass(frozen=True)
class ReadShape(Shape):
    """Records to read.

    Attributes:
        description: of the features, as tutorials give it to TensorFlow's parsers.
        decode: from what they parse, of one record or of a batch, to what is delivered;
            its second argument is the shape of what is parsed: () or (-1,).
        shuffle_buffer: how many records are shuffled at a time, by all that shuffle.
    """

    description: dict[str, Any]
    decode: Decode
    shuffle_buffer: int


def documents(count: int, chance: np.random.Generator) -> list[Row]:
    """Make rows of 512 tokens and twenty scalars."""
    return [{"tokens": tokens(chance, 512)} | row for row in numbers(count, chance)]


def decode_mix(parsed: Columns, lead: tuple[int, ...]) -> Columns:
    """Decode the bytes of images, and pad tokens."""
    pixels = tf.io.decode_raw(parsed["image"], tf.uint8)
    return parsed | {
        "image": tf.reshape(pixels, (*lead, 32, 32, 3)),
        "tokens": tf.sparse.to_dense(parsed["tokens"]),
    }


def decode_picture(parsed: Columns, lead: tuple[int, ...]) -> Columns:
    """Decode an image, and bring it to the size of all."""
    if lead:
        raise ValueError("images of any size are decoded one by one")
    return parsed | {"image": decoded(parsed["image"])}


def decode_picture_as_floats(parsed: Columns, lead: tuple[int, ...]) -> Columns:
    """Do the same and leave pixels as `tf.image.resize` returns them: float32."""
    return parsed | {"image": resized(parsed["image"])}


def decoded(image: tf.Tensor) -> tf.Tensor:
    """Decode one JPEG image: uint8 [224, 224, 3]."""
    return rounded(resized(image))


def resized(image: tf.Tensor) -> tf.Tensor:
    """Decode one JPEG image and leave its pixels as float32 [224, 224, 3]."""
    return tf.image.resize(tf.io.decode_jpeg(image, channels=3), IMAGE_SIZE)


def rounded(pixels: tf.Tensor) -> tf.Tensor:
    """Return float32 pixels as uint8."""
    return tf.cast(tf.round(pixels), tf.uint8)


def _scalars(names: str, dtype: tf.DType) -> dict[str, Any]:
    return {f"{names}{at}": tf.io.FixedLenFeature([], dtype) for at in range(10)}


SHAPES = (
    ReadShape(
        "mix",
        "mix",
        65_536,
        128,
        mix,
        {
            "image": tf.io.FixedLenFeature([], tf.string),
            "label": tf.io.FixedLenFeature([], tf.int64),
            "floats": tf.io.FixedLenFeature([5], tf.float32),
            "tokens": tf.io.VarLenFeature(tf.int64),
        },
        decode_mix,
        10_000,
    ),
    ReadShape(
        "jpeg",
        "jpeg",
        1_024,
        64,
        partial(pictures, height=400, width=420),
        {
            "image": tf.io.FixedLenFeature([], tf.string),
            "label": tf.io.FixedLenFeature([], tf.int64),
            "floats": tf.io.FixedLenFeature([5], tf.float32),
        },
        decode_picture,
        256,
    ),
    ReadShape(
        "tokens",
        "document",
        32_768,
        128,
        documents,
        {
            "tokens": tf.io.FixedLenFeature([512], tf.int64),
            **_scalars("f", tf.float32),
            **_scalars("i", tf.int64),
        },
        lambda parsed, lead: parsed,
        10_000,
    ),
)
