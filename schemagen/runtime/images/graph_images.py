"""Images in graphs: their format, EXIF orientation and pixels; batches of one size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from operator import and_
from typing import Any

from ..shared.requirements import lazy_tf as tf
from ..tensorflow.graph import checked, raw_numbers, shown_errors
from ..tensorflow.python_calls import call_numpy
from .formats import ANY, DECODED, FORMATS_OF, DecodedFormat, with_article
from .graph_formats import padded, start_of
from .headers import (
    EXIF_MARKER,
    EXIF_START,
    JPEG_RATIOS,
    JPEG_START,
    MIRRORED,
    ORIENTATION,
    START_OF_SCAN,
    TRANSPOSED,
    UPSIDE_DOWN,
)

# tf.image.resize does not know these; their bits are the same.
_RESIZED_AS = {"uint32": "int32", "uint64": "int64"}


def orientation_of(image: tf.Tensor) -> tf.Tensor:
    """Return the EXIF orientation of a JPEG, as `jpeg_header` does.

    Args:
        image: a string scalar, of any format.

    Returns:
        int64, 1 to 8; 1 where it states none.
    """
    length = tf.strings.length(image)
    is_jpeg = tf.strings.substr(image, 0, len(JPEG_START)) == JPEG_START

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


def decoded(
    image: tf.Tensor,
    name: str,
    encoding: str,
    shape: Sequence[int | None],
    dtype: tf.DType,
    least: tuple[int, int] | None = None,
    orientation: str = "keep",
) -> tuple[tf.Tensor, tf.Tensor]:
    """Decode one image and check its size.

    Args:
        image: a string scalar.
        name: the field's name.
        encoding: one of ENCODINGS.
        shape: (height, width, channels); None for any size.
        dtype: uint8, or uint16 for a PNG of 16 bits a channel.
        least: (height, width) that a JPEG may be scaled down to while it is decoded.
        orientation: what becomes of the EXIF orientation of a JPEG: "keep", "apply" or
            "refuse".

    Returns:
        dtype [H, W, channels], and the height and width that are stored: [2].
    """
    channels = shape[2]
    assert channels is not None
    found = None
    upright = None if orientation == "keep" else orientation_of(image)
    if orientation == "refuse":
        message = f"field {name!r}: expected an image of EXIF orientation 1, found"
        image = checked(image, upright == 1, message, upright)
        upright = None
    if least is not None:
        image = _checked_start(image, name, DECODED["jpeg"])
        found = tf.io.extract_jpeg_shape(image)[:2]
        if upright is not None:
            found = tf.where(upright >= TRANSPOSED, found[::-1], found)
        pixels = _decode_scaled_jpeg(image, channels, found, least)
    elif encoding == ANY:
        pixels = _decode_any(image, name, channels)
    else:
        form = DECODED[encoding]
        image = _checked_start(image, name, form)
        deep = {"dtype": dtype} if dtype == tf.uint16 else {}
        assert form.in_tensorflow is not None
        pixels = form.in_tensorflow(image, name, channels, **deep)
    if upright is not None:
        pixels = turned(pixels, upright)
    if found is None:
        found = tf.shape(pixels)[:2]
    if shape[0] is None and shape[1] is None:
        return pixels, found
    wanted = [size or -1 for size in shape[:2]]
    pixels = checked(
        pixels,
        (found == wanted) | (tf.constant(wanted) == -1),
        f"field {name!r}: expected an image of {shape[0]} x {shape[1]}, found",
        found,
    )
    return pixels, found


def _sure_starts(form: DecodedFormat) -> list[tuple[int, bytes]]:
    """Return the bytes that all images of a format have, and where; its decoder sees more."""
    return [(at, options[0]) for at, options in form.begins if len(options) == 1]


def _begins(image: tf.Tensor, form: DecodedFormat) -> tf.Tensor:
    def has(at: int, start: bytes) -> tf.Tensor:
        whole = padded(image, at + len(start)) if at else image
        return tf.strings.substr(whole, at, len(start)) == start

    return reduce(and_, (has(at, start) for at, start in _sure_starts(form)))


def _checked_start(image: tf.Tensor, name: str, form: DecodedFormat) -> tf.Tensor:
    at, last = _sure_starts(form)[-1]
    return checked(
        image,
        _begins(image, form),
        f"field {name!r}: expected {with_article(form.name)}, found data that begins "
        "with the bytes",
        start_of(image, at + len(last)),
    )


def _decode_any(image: tf.Tensor, name: str, channels: int) -> tf.Tensor:
    formats = FORMATS_OF[ANY]
    matches = tf.stack([_begins(image, form) for form in formats.values()])
    image = checked(
        image,
        tf.reduce_any(matches),
        f"field {name!r}: expected one of {', '.join(formats)}, found data that begins "
        "with the bytes",
        start_of(image, 8),
    )
    branches = [
        partial(form.in_tensorflow, image, name, channels)
        for form in formats.values()
        if form.in_tensorflow is not None
    ]
    pixels = tf.switch_case(tf.argmax(matches, output_type=tf.int32), branches)
    return tf.ensure_shape(pixels, (None, None, channels))


def _decode_scaled_jpeg(
    image: tf.Tensor, channels: int, size: tf.Tensor, least: tuple[int, int]
) -> tf.Tensor:
    """Decode a JPEG at the smallest scale at which its upright size is not below `least`."""
    branches = [
        partial(tf.io.decode_jpeg, image, channels=channels, ratio=ratio)
        for ratio in JPEG_RATIOS
    ]
    ratios = tf.constant(JPEG_RATIOS)[:, tf.newaxis]
    fits = tf.reduce_all((size + ratios - 1) // ratios >= least, axis=1)
    # An image that is smaller than asked for is decoded at its own size.
    return tf.switch_case(tf.reduce_sum(tf.cast(fits[1:], tf.int32)), branches)


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
    measure: bool = False,
) -> Any:
    """Decode encoded images.

    Images of any size have to be resized to make a batch, or come one at a time.

    Args:
        data: string [B]; "" is a missing one if they are optional.
        name: the field's name.
        encoding: one of ENCODINGS.
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
        measure: whether to return their stored sizes too.

    Returns:
        dtype [B, height, width, channels]; with `measure` also int64 [B, 2], height and
        width, 0 if there is none.
    """
    height, width = resize or shape[:2]
    spec = tf.TensorSpec((height, width, shape[2]), dtype)
    specs = (spec, tf.TensorSpec((2,), tf.int64)) if measure else spec
    stored = tf.uint8 if dtype == tf.float32 else dtype
    least = resize if scaled_decoding else None

    def decode(image: tf.Tensor) -> Any:
        pixels, size = decoded(image, name, encoding, shape, stored, least, orientation)
        if resize is not None:
            pixels = resized(
                pixels, resize, interpolation, antialias=antialias, dtype=dtype
            )
        pixels.set_shape(spec.shape)  # an op that looked again would fail first
        return (pixels, tf.cast(size, tf.int64)) if measure else pixels

    if height is None or width is None:
        data = single(data, name)
    blank = (height or 1, width or 1, shape[2])
    return each(decode, data, specs, blank if optional else None)


def decode_in_python(
    data: tf.Tensor,
    name: str,
    decode: Callable[[Any], tuple[Any, Any, str]],
    shape: Sequence[int | None],
    dtype: tf.DType,
    *,
    measure: bool = False,
) -> Any:
    """Decode encoded images of formats for which TensorFlow has no decoder.

    Args:
        data: string [B].
        name: the field's name.
        decode: from bytes [B] to pixels [B, height, width, channels], their stored sizes,
            int64 [B, 2], and what is wrong with them, or "".
        shape: of the pixels of one image; None for any size, one at a time.
        dtype: of the pixels.
        measure: whether to return their stored sizes too.

    Returns:
        What `decode_images` returns.
    """
    if None in shape:
        data = single(data, name)
    pixels, sizes, wrong = call_numpy(decode, [data], (dtype, tf.int64, tf.string))
    wrong = tf.reshape(wrong, (1,))
    pixels = checked(pixels, wrong == "", f"field {name!r}:", wrong)
    pixels = tf.ensure_shape(pixels, (data.shape[0], *shape))
    return (pixels, tf.ensure_shape(sizes, (data.shape[0], 2))) if measure else pixels


def each(decode: Callable[[Any], Any], data: Any, specs: Any, blank: Any) -> Any:
    """Apply a function to each item of a batch.

    Args:
        decode: from an item to its pixels, or to these and its size.
        data: string [B], or a tuple that begins with it.
        specs: of what it returns.
        blank: the shape of the black pixels for "", if that is a missing image.
    """

    def decode_optional(item: Any) -> Any:
        image = item[0] if isinstance(item, tuple) else item
        pixels, *size = tf.nest.flatten(specs)
        zeros = [
            tf.zeros(blank, pixels.dtype),
            *(tf.zeros(s.shape, s.dtype) for s in size),
        ]
        nothing = tf.nest.pack_sequence_as(specs, zeros)
        found = tf.cond(image == "", lambda: nothing, lambda: decode(item))
        return tf.nest.map_structure(_of_shape, found, specs)

    function = decode if blank is None else decode_optional
    several = isinstance(data, tuple)
    rows = data[0] if several else data
    if tf.executing_eagerly() and len(rows):
        # tf.map_fn would wrap errors, and log the tensors that they leave unused.
        items = (
            zip(*map(tf.unstack, data), strict=True) if several else tf.unstack(data)
        )
        with shown_errors():
            found = [function(item) for item in items]
            batch = tf.nest.map_structure(lambda *each: tf.stack(each), *found)
    else:
        batch = tf.map_fn(function, data, fn_output_signature=specs)
    of_batch = tf.nest.map_structure(
        lambda spec: tf.TensorSpec((rows.shape[0], *spec.shape), spec.dtype), specs
    )
    return tf.nest.map_structure(_of_shape, batch, of_batch)


def _of_shape(tensor: tf.Tensor, spec: tf.TensorSpec) -> tf.Tensor:
    return tf.ensure_shape(tensor, spec.shape)


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
