"""The EXIF orientation of a JPEG in a graph, and pixels that are turned by it."""

from __future__ import annotations

from ..shared.image_headers import (
    EXIF_MARKER,
    EXIF_START,
    MIRRORED,
    ORIENTATION,
    START_OF_SCAN,
    STARTS,
    TRANSPOSED,
    UPSIDE_DOWN,
)
from .tensorflow import tf


def orientation_of(image: tf.Tensor) -> tf.Tensor:
    """Return the EXIF orientation of a JPEG, as `jpeg_header` does.

    Args:
        image: a string scalar, of any format.

    Returns:
        int64, 1 to 8; 1 where it states none.
    """
    length = tf.strings.length(image)
    start = STARTS["jpeg"]
    is_jpeg = tf.strings.substr(image, 0, len(start)) == start

    def other(at: tf.Tensor) -> tf.Tensor:
        head = _bytes_at(image, at, 10)
        exif = (head[1] == EXIF_MARKER) & tf.reduce_all(head[4:10] == [*EXIF_START])
        ends = (head[0] != 0xFF) | (head[1] == START_OF_SCAN) | exif
        return (at + 4 <= length) & ~ends

    def following(at: tf.Tensor) -> tuple[tf.Tensor]:
        head = _bytes_at(image, at, 4)
        size = tf.where(head[1] != 0xFF, 2 + 256 * head[2] + head[3], 1)
        return (at + tf.cast(size, tf.int32),)

    (at,) = tf.while_loop(other, following, (tf.where(is_jpeg, 2, length),))
    head = _bytes_at(image, at, 4)
    is_exif = (head[0] == 0xFF) & (head[1] == EXIF_MARKER)
    size = tf.where(is_exif, tf.maximum(256 * head[2] + head[3] - 8, 0), 0)
    size = tf.minimum(size, tf.cast(tf.maximum(length - at - 10, 0), tf.int64))
    return _orientation(_bytes_at(image, at + 10, tf.cast(size, tf.int32)), size)


def _orientation(exif: tf.Tensor, size: tf.Tensor) -> tf.Tensor:
    """Return the orientation that the first bytes of an EXIF segment state."""
    is_little = (exif[0] == ord("I")) & (exif[1] == ord("I"))

    def number(part: tf.Tensor) -> tf.Tensor:
        powers = tf.constant([256**place for place in range(part.shape[-1])], tf.int64)
        return tf.reduce_sum(part * tf.where(is_little, powers, powers[::-1]), axis=-1)

    start = tf.minimum(number(tf.ensure_shape(exif[4:8], (4,))), size)
    count = number(tf.ensure_shape(exif[start : start + 2], (2,)))
    entries = exif[start + 2 : tf.minimum(start + 2 + 12 * count, size)]
    table = tf.reshape(entries[: tf.size(entries) // 12 * 12], (-1, 12))
    stated = tf.boolean_mask(
        number(table[:, 8:10]), number(table[:, :2]) == ORIENTATION
    )
    found = tf.concat([stated, tf.ones(1, tf.int64)], 0)[0]
    return tf.where((found >= 1) & (found <= 8), found, 1)


def _bytes_at(image: tf.Tensor, at: tf.Tensor, size: tf.Tensor | int) -> tf.Tensor:
    """Return the bytes from a position on as int64, and 10 zeros behind them."""
    start = tf.minimum(at, tf.strings.length(image))
    found = tf.strings.substr(image, start, size) + bytes(10)
    return tf.cast(tf.io.decode_raw(found, tf.uint8), tf.int64)


def turned(pixels: tf.Tensor, orientation: tf.Tensor) -> tf.Tensor:
    """Turn pixels [H, W, C] as an EXIF orientation says."""

    def upright() -> tf.Tensor:
        rows_first = tf.cond(
            orientation >= TRANSPOSED,
            lambda: tf.transpose(pixels, (1, 0, 2)),
            lambda: pixels,
        )
        axes = [tf.reduce_any(orientation == each) for each in (UPSIDE_DOWN, MIRRORED)]
        return tf.reverse(rows_first, tf.boolean_mask([0, 1], axes))

    return tf.cond(orientation == 1, lambda: pixels, upright)
