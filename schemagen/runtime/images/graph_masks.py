"""PNG images of class ids in graphs: grey values, or indices of a palette."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from ..shared.requirements import lazy_tf as tf
from ..tensorflow.graph import checked
from .graph_images import each, resized, single
from .headers import (
    PNG_BITS_AT,
    PNG_COLORS_AT,
    PNG_GREY,
    PNG_HEAD,
    PNG_PALETTE,
    PNG_START,
)

# Every byte as a string: there is no op from numbers to bytes.
_BYTES = [bytes([number]) for number in range(256)]


def _as_grey() -> list[int]:
    """Return what changes in the first chunk's checksum when a palette becomes grey.

    A CRC is linear: flipping bits in one place flips the same ones of the checksum,
    whatever else the chunk holds.
    """
    grey = b"IHDR" + bytes(13)
    palette = b"IHDR" + bytes(9) + bytes([PNG_PALETTE]) + bytes(3)
    return list((zlib.crc32(grey) ^ zlib.crc32(palette)).to_bytes(4, "big"))


def decode_masks(
    data: tf.Tensor,
    name: str,
    shape: Sequence[int | None],
    dtype: tf.DType,
    resize: tuple[int, int] | None,
    *,
    optional: bool,
) -> tf.Tensor:
    """Decode PNGs to class ids, which are never scaled or mixed.

    Masks of any size have to be resized to make a batch, or come one at a time.

    Args:
        data: string [B]; "" is a missing one if they are optional.
        name: the field's name.
        shape: (height, width); None for any size.
        dtype: of the ids.
        resize: (height, width) that every mask is brought to, by nearest neighbor.
        optional: whether there may be none, which then is all zeros.

    Returns:
        dtype [B, height, width].
    """
    final = tf.TensorShape(resize or shape)

    def decode(mask: tf.Tensor) -> tf.Tensor:
        ids = _ids_of_png(mask, name, dtype)
        found, wanted = tf.shape(ids), tf.constant([size or -1 for size in shape])
        ids = checked(
            ids,
            (wanted == -1) | (found == wanted),
            f"field {name!r}: expected a mask of {shape[0]} x {shape[1]}, found",
            found,
        )
        if resize is not None:
            ids = resized(ids[:, :, tf.newaxis], resize, "nearest")[:, :, 0]
        return tf.ensure_shape(ids, final)

    if None in final.as_list():
        data = single(data, name)
    blank = [size or 1 for size in final]
    return each(decode, data, tf.TensorSpec(final, dtype), blank if optional else None)


def _ids_of_png(mask: tf.Tensor, name: str, dtype: tf.DType) -> tf.Tensor:
    """Decode a PNG to ids [H, W]: its grey values, or the indices of its palette."""
    start = tf.strings.substr(mask, 0, len(PNG_START))
    head = tf.io.decode_raw(tf.strings.substr(mask, 0, PNG_HEAD), tf.uint8)
    head = checked(
        head,
        (start == PNG_START) & (tf.size(head) == PNG_HEAD),
        f"field {name!r}: expected a png, found data that begins with the bytes",
        head[: len(PNG_START)],
    )
    bits, color_type = head[PNG_BITS_AT], head[PNG_COLORS_AT]
    grey = color_type == PNG_GREY
    if dtype == tf.uint16:
        right, expected = grey & (bits == 16), "a grey PNG of 16 bits"
    else:
        right = (color_type == PNG_PALETTE) | (grey & (bits == 8))
        expected = "a grey PNG of 8 bits, or one with a palette"
    color_type = checked(
        color_type,
        right,
        f"field {name!r}: expected {expected}, found bits and colour type (0 grey, "
        "2 RGB, 3 palette, 4 and 6 with alpha)",
        head[PNG_BITS_AT : PNG_COLORS_AT + 1],
    )
    pixels = tf.cond(
        color_type == PNG_PALETTE,
        lambda: tf.cast(_palette_indices(mask, head, name), dtype),
        lambda: tf.io.decode_png(mask, channels=1, dtype=dtype),
    )
    return pixels[:, :, 0]


def _palette_indices(mask: tf.Tensor, head: tf.Tensor, name: str) -> tf.Tensor:
    """Decode the indices of a PNG with a palette: uint8 [H, W, 1].

    Decoders give the palette's colours, and two indices may have one colour. Pixels
    of a palette and of grey are stored alike, so the file is read as if it were grey:
    another type in its first chunk, and no chunk about colours. Grey of fewer than 8
    bits is scaled to 0..255 by the decoder, and scaled back here.
    """
    flipped = tf.constant(_as_grey(), tf.uint8)
    checksum = tf.bitwise.bitwise_xor(head[29:33], flipped)
    number = tf.concat([head[:25], tf.constant([PNG_GREY], tf.uint8), head[26:29]], 0)
    first = tf.gather(_BYTES, tf.cast(tf.concat([number, checksum], 0), tf.int32))
    at = _first_pixels(mask, name)
    rest = tf.strings.substr(mask, at, tf.cast(tf.strings.length(mask), tf.int64) - at)
    pixels = tf.io.decode_png(tf.strings.reduce_join(first) + rest, channels=1)
    most = tf.bitwise.left_shift(
        tf.constant(1, tf.int32), tf.cast(head[PNG_BITS_AT], tf.int32)
    )
    return pixels // tf.cast(255 // (most - 1), tf.uint8)


def _first_pixels(mask: tf.Tensor, name: str) -> tf.Tensor:
    """Return where the first chunk of pixels begins: jump from chunk to chunk."""
    length = tf.cast(tf.strings.length(mask), tf.int64)
    padded = mask + bytes(8)  # a damaged file may end anywhere

    def other(at: tf.Tensor) -> tf.Tensor:
        kind = tf.strings.substr(padded, tf.minimum(at, length) + 4, 4)
        return (at < length) & (kind != b"IDAT")

    def next_chunk(at: tf.Tensor) -> tuple[tf.Tensor]:
        size = tf.io.decode_raw(
            tf.strings.substr(padded, at, 4), tf.int32, little_endian=False
        )
        return (at + 12 + tf.cast(tf.maximum(size[0], 0), tf.int64),)

    (at,) = tf.while_loop(other, next_chunk, (tf.constant(PNG_HEAD, tf.int64),))
    message = f"field {name!r}: expected a whole png, found one without pixels"
    return checked(at, at < length, message, length)
