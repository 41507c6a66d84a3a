"""Batches of images in graphs: encoded or raw, and their size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..shared.requirements import lazy_tf as tf
from .graph import checked, raw_numbers, shown_errors
from .graph_formats import decoded

# tf.image.resize does not know these; their bits are the same.
_RESIZED_AS = {"uint32": "int32", "uint64": "int64"}


def decode_images(
    data: tf.Tensor,
    name: str,
    encoding: str,
    shape: Sequence[int | None],
    resize: tuple[int, int] | None = None,
    interpolation: str = "bilinear",
    *,
    antialias: bool = False,
    scaled_decoding: bool = False,
    orientation: str = "keep",
    dtype: tf.DType,
    optional: bool = False,
) -> tf.Tensor:
    """Decode encoded images.

    Images of any size have to be resized to make a batch, or come one at a time.

    Args:
        data: string [B]; "" is a missing one if they are optional.
        name: the field's name.
        encoding: "jpeg", "png", "bmp", "gif", "webp", or "any" of them.
        shape: (height, width, channels); None for any size.
        resize: (height, width) that every image is brought to.
        interpolation: how: "bilinear" or "nearest".
        antialias: filter images before they shrink.
        scaled_decoding: decode JPEGs at 1/2, 1/4 or 1/8 of their size if that is not
            smaller than `resize`.
        orientation: what becomes of the EXIF orientation of JPEGs: "keep", "apply" or
            "refuse".
        dtype: of the pixels: uint8, uint16 for PNGs of 16 bits, or float32 for resized
            pixels of 8 bits, which are not rounded.
        optional: whether there may be none, which then is all zeros.

    Returns:
        dtype [B, height, width, channels].
    """
    height, width = resize or shape[:2]
    spec = tf.TensorSpec((height, width, shape[2]), dtype)
    stored = tf.uint8 if dtype == tf.float32 else dtype
    least = resize if scaled_decoding else None

    def decode(image: tf.Tensor) -> tf.Tensor:
        pixels = decoded(image, name, encoding, shape, stored, least, orientation)
        if resize is not None:
            pixels = resized(
                pixels, resize, interpolation, antialias=antialias, dtype=dtype
            )
        pixels.set_shape(spec.shape)  # an op that looked again would fail first
        return pixels

    if height is None or width is None:
        data = single(data, name)
    blank = (height or 1, width or 1, shape[2])
    return each(decode, data, spec, blank if optional else None)


def each(
    decode: Callable[[Any], tf.Tensor], data: Any, spec: tf.TensorSpec, blank: Any
) -> tf.Tensor:
    """Apply a function to each item of a batch.

    Args:
        decode: from an item to its pixels.
        data: string [B], or a tuple that begins with it.
        spec: of one item's pixels.
        blank: the shape of the zeros for "", if that is a missing image.
    """

    def decode_optional(item: Any) -> tf.Tensor:
        image = item[0] if isinstance(item, tuple) else item
        nothing = tf.zeros(blank, spec.dtype)
        found = tf.cond(image == "", lambda: nothing, lambda: decode(item))
        return tf.ensure_shape(found, spec.shape)

    function = decode if blank is None else decode_optional
    several = isinstance(data, tuple)
    rows = data[0] if several else data
    if tf.executing_eagerly() and len(rows):
        # tf.map_fn would wrap errors, and log the tensors that they leave unused.
        items = (
            zip(*map(tf.unstack, data), strict=True) if several else tf.unstack(data)
        )
        with shown_errors():
            pixels = tf.stack([function(item) for item in items])
    else:
        pixels = tf.map_fn(function, data, fn_output_signature=spec)
    return tf.ensure_shape(pixels, (rows.shape[0], *spec.shape))


def decode_pixels(
    data: tf.Tensor,
    name: str,
    dtype: tf.DType,
    shape: Sequence[int | None],
    resize: tuple[int, int] | None = None,
    interpolation: str = "bilinear",
    *,
    antialias: bool = False,
    height: tf.Tensor | None = None,
    width: tf.Tensor | None = None,
    channels: tf.Tensor | None = None,
    optional: bool = False,
) -> tf.Tensor:
    """Decode raw little-endian pixels of which a part of the shape is stored too.

    Args:
        data: string [B]; "" is a missing one if they are optional.
        name: the field's name.
        dtype: of the pixels.
        shape: (height, width, channels); None for what is stored.
        resize: (height, width) that every image is brought to; otherwise they have
            to come one at a time.
        interpolation: how: "bilinear" or "nearest".
        antialias: filter images before they shrink.
        height: int64 [B], if it is stored.
        width: int64 [B], if it is stored.
        channels: int64 [B], if it is stored.
        optional: whether there may be none, which then is all zeros.

    Returns:
        dtype [B, height, width, channels].
    """
    rows = tf.shape(data)[0]
    stored = (height, width, channels)
    columns = [
        tf.fill((rows,), tf.constant(size, tf.int64)) if size is not None else found
        for size, found in zip(shape, stored, strict=True)
    ]
    shapes = tf.stack(columns, axis=1)
    sizes = tf.strings.length(data)
    # Sizes that no memory holds must not come out right by wrapping around.
    expected = tf.reduce_prod(tf.cast(shapes, tf.float64), axis=1) * dtype.size
    right = tf.reduce_all(shapes > 0, axis=1) & (tf.cast(sizes, tf.float64) == expected)
    if optional:
        right |= sizes == 0
    data = checked(
        data,
        right,
        f"field {name!r}: expected height x width x channels x {dtype.size} bytes "
        f"({dtype.name}), found height, width, channels, bytes",
        tf.boolean_mask(
            tf.concat([shapes, tf.cast(sizes, tf.int64)[:, tf.newaxis]], axis=1), ~right
        ),
    )
    if resize is None:
        data = single(data, name)
    elif channels is not None:
        data = checked(
            data,
            (channels == tf.reduce_max(channels)) | (sizes == 0),
            f"field {name!r}: images of different numbers of channels cannot be "
            "batched; use batch_size=1; found",
            channels,
        )
    blank = [
        size or tf.maximum(tf.reduce_max(found), 1) if axis == 2 else size or 1
        for axis, (size, found) in enumerate(zip(shape, columns, strict=True))
    ]
    static = (*(resize or shape[:2]), shape[2])

    def decode(item: tuple[tf.Tensor, tf.Tensor]) -> tf.Tensor:
        image, own_shape = item
        pixels = tf.reshape(raw_numbers(image, dtype), own_shape)
        if resize is not None:
            pixels = resized(pixels, resize, interpolation, antialias=antialias)
        return tf.ensure_shape(pixels, static)

    spec = tf.TensorSpec(static, dtype)
    missing = (*(resize or blank[:2]), blank[2])
    return each(decode, (data, shapes), spec, missing if optional else None)


def resized(
    pixels: tf.Tensor,
    size: tuple[int, int],
    interpolation: str = "bilinear",
    *,
    antialias: bool = False,
    dtype: tf.DType | None = None,
) -> tf.Tensor:
    """Bring images [..., H, W, C] to another height and width.

    Args:
        pixels: the images.
        size: (height, width) of the result.
        interpolation: "bilinear" or "nearest".
        antialias: filter images before they shrink, if bilinear.
        dtype: of the result, in the same range of values; None for the images' own.
    """
    own = pixels.dtype
    dtype = dtype or own
    if interpolation == "nearest":
        known = tf.bitcast(pixels, _RESIZED_AS.get(own.name, own))
        chosen = tf.bitcast(tf.image.resize(known, size, "nearest"), own)
        return tf.cast(chosen, dtype)
    scaled = tf.image.resize(pixels, size, antialias=antialias)
    return tf.cast(tf.round(scaled) if dtype.is_integer else scaled, dtype)


def single(data: tf.Tensor, name: str) -> tf.Tensor:
    """Refuse a batch of more than one image of any size."""
    rows = tf.shape(data)[0]
    message = (
        f"field {name!r}: images of any size cannot be batched; use batch_size=1 "
        "or declare resize=(height, width); found a batch of"
    )
    return checked(data, rows == 1, message, rows)
