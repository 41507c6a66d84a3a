"""Graph code of the parsers: from a batch of Examples to tensors, or an error.

Shapes are written with B for the batch and T for its longest sequence. Every check
raises tf.errors.InvalidArgumentError and names the field.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import tensorflow as tf

_MAGIC = {"jpeg": b"\xff\xd8\xff", "png": b"\x89PNG\r\n\x1a\n"}

# tf.io.decode_raw does not know these; their bits are the same.
_DECODED_AS = {tf.uint32: tf.int32, tf.uint64: tf.int64}


def parse(
    serialized: tf.Tensor,
    description: Mapping[str, Any],
    required: Sequence[str] = (),
    own_keys: Sequence[str] = (),
) -> dict[str, Any]:
    """Parse Examples, and tell what is missing from what is empty.

    Args:
        serialized: string [B].
        description: what to parse, by key.
        required: keys of lists that have to be there; tensorflow by itself reads
            a missing list as an empty one.
        own_keys: if given, each Example must have one of these; a message of
            another type could pass for a record whose fields are all missing.

    Returns:
        What tf.io.parse_example returns.
    """
    checks: list[tf.Operation] = []
    if own_keys:
        keys = _present_keys(serialized)
        owned = tf.reduce_any(keys[:, :, tf.newaxis] == list(own_keys), axis=(1, 2))
        checks = _refuse_unless(
            tf.reduce_all(owned),
            "no field of this record is there: written by other code, or not a "
            "tf.train.Example",
        )
    with tf.control_dependencies(checks):
        stored = dict(tf.io.parse_example(tf.identity(serialized), dict(description)))
    for key in required:
        if key in stored:
            stored[key] = _required(stored[key], serialized, key)
    return stored


def present(serialized: tf.Tensor, key: str) -> tf.Tensor:
    """Return which Examples have a feature, be it empty: bool [B]."""
    return tf.reduce_any(_present_keys(serialized) == key, axis=1)


def _present_keys(serialized: tf.Tensor) -> tf.Tensor:
    """Return the keys of the features that hold a list: string [B, N], "" fills."""

    def fields(message: tf.Tensor, kind: str, names: list[str]) -> list[tf.Tensor]:
        types = [tf.string] * len(names)
        return list(tf.io.decode_proto(message, kind, names, types).values)

    (features,) = fields(serialized, "tensorflow.Example", ["features"])
    # A field that is given twice is merged, and merging is joining the bytes.
    merged = tf.strings.reduce_join(features, axis=-1)
    (entries,) = fields(merged, "tensorflow.Features", ["feature"])
    entry = "tensorflow.Features.FeatureEntry"
    keys, values = (
        tf.strings.reduce_join(part, axis=-1)
        for part in fields(entries, entry, ["key", "value"])
    )
    return tf.where(tf.strings.length(values) > 0, keys, "")


def _required(ragged: tf.RaggedTensor, serialized: tf.Tensor, key: str) -> Any:
    """Refuse Examples without a feature. Only those that look empty are searched."""
    empty = ragged.row_lengths() == 0
    found = tf.cond(
        tf.reduce_any(empty),
        lambda: tf.reduce_all(present(tf.boolean_mask(serialized, empty), key)),
        lambda: tf.constant(True),
    )
    message = f"feature {key!r} is required, and an Example does not have it"
    with tf.control_dependencies(_refuse_unless(found, message)):
        return ragged.with_flat_values(tf.identity(ragged.flat_values))


def class_ids(
    ids: tf.Tensor, name: str, num_classes: int, *, optional: bool = False
) -> tf.Tensor:
    """Check class ids, int64 [B]; -1 stands for none if they are optional."""
    lowest = -1 if optional else 0
    return _checked(
        ids,
        (ids >= lowest) & (ids < num_classes),
        f"field {name!r}: expected class ids from 0 to {num_classes - 1}, found",
    )


def narrow(values: tf.Tensor, name: str, dtype: tf.DType) -> tf.Tensor:
    """Cast stored int64 values to a narrower integer dtype that holds them all."""
    return _checked_cast(
        values,
        dtype,
        (values >= dtype.min) & (values <= dtype.max),
        f"field {name!r}: expected {dtype.name}, {dtype.min} to {dtype.max}, found",
    )


def booleans(values: tf.Tensor, name: str) -> tf.Tensor:
    """Cast stored int64 values, which have to be 0 or 1, to bool."""
    return _checked_cast(
        values,
        tf.bool,
        (values >= 0) & (values <= 1),
        f"field {name!r}: expected 0 or 1 for a bool, found",
    )


def decode_raw(
    data: tf.Tensor, name: str, dtype: tf.DType, shape: Sequence[int]
) -> tf.Tensor:
    """Decode raw little-endian numbers of a fixed shape.

    Args:
        data: string [B].
        name: the field's name.
        dtype: of the numbers.
        shape: of one value.

    Returns:
        dtype [B, *shape].
    """
    expected = prod(shape) * dtype.size
    sizes = tf.strings.length(data)
    data = _checked(
        data,
        sizes == expected,
        f"field {name!r}: expected {expected} bytes ({dtype.name} {list(shape)}), "
        "found sizes",
        sizes,
    )
    numbers = tf.reshape(_numbers(data, dtype), (-1, *shape))
    return tf.ensure_shape(numbers, (data.shape[0], *shape))


def _numbers(data: tf.Tensor, dtype: tf.DType) -> tf.Tensor:
    decoded = tf.io.decode_raw(data, _DECODED_AS.get(dtype, dtype))
    return tf.bitcast(decoded, dtype) if dtype in _DECODED_AS else decoded


def decode_images(
    data: tf.Tensor,
    name: str,
    encoding: str,
    shape: Sequence[int | None],
    resize: tuple[int, int] | None = None,
    *,
    optional: bool = False,
) -> tf.Tensor:
    """Decode JPEG or PNG images.

    Images of any size have to be resized to make a batch, or come one at a time.

    Args:
        data: string [B]; "" stands for none if they are optional.
        name: the field's name.
        encoding: "jpeg" or "png".
        shape: (height, width, channels); None for any size.
        resize: (height, width) that every image is brought to, bilinearly.
        optional: whether there may be none, which then is all zeros.

    Returns:
        uint8 [B, height, width, channels].
    """
    height, width = resize or shape[:2]
    spec = tf.TensorSpec((height, width, shape[2]), tf.uint8)

    def decode(image: tf.Tensor) -> tf.Tensor:
        pixels = _decoded(image, name, encoding, shape)
        if resize is not None:
            pixels = _resized(pixels, resize)
        pixels.set_shape(spec.shape)  # an op that looked again would fail first
        return pixels

    def decode_optional(image: tf.Tensor) -> tf.Tensor:
        nothing = tf.zeros((height or 1, width or 1, shape[2]), tf.uint8)
        found = tf.cond(image == "", lambda: nothing, lambda: decode(image))
        return tf.ensure_shape(found, spec.shape)

    if height is None or width is None:
        rows = tf.shape(data)[0]
        message = (
            f"field {name!r}: images of any size cannot be batched; use batch_size=1 "
            "or declare resize=(height, width); found a batch of"
        )
        with tf.control_dependencies(_refuse_unless(rows == 1, message, rows)):
            data = tf.identity(data)
    function: Callable[[tf.Tensor], tf.Tensor]
    function = decode_optional if optional else decode
    images = tf.map_fn(function, data, fn_output_signature=spec)
    return tf.ensure_shape(images, (data.shape[0], *spec.shape))


def _decoded(
    image: tf.Tensor, name: str, encoding: str, shape: Sequence[int | None]
) -> tf.Tensor:
    magic = _MAGIC[encoding]
    start = tf.strings.substr(image, 0, len(magic))
    image = _checked(
        image,
        start == magic,
        f"field {name!r}: expected a {encoding}, found one that begins with the bytes",
        tf.io.decode_raw(start, tf.uint8),  # as text they could not be shown
    )
    channels = shape[2]
    if encoding == "jpeg":
        pixels = tf.io.decode_jpeg(image, channels=channels)
    else:
        pixels = tf.io.decode_png(image, channels=channels)
    if shape[0] is None and shape[1] is None:
        return pixels
    found = tf.shape(pixels)[:2]
    wanted = [size or -1 for size in shape[:2]]
    return _checked(
        pixels,
        (found == wanted) | (tf.constant(wanted) == -1),
        f"field {name!r}: expected an image of {shape[0]} x {shape[1]}, found",
        found,
    )


def _resized(pixels: tf.Tensor, size: tuple[int, int]) -> tf.Tensor:
    scaled = tf.image.resize(pixels, size)
    return tf.cast(tf.round(scaled), tf.uint8)


def sequence(
    items: Any,
    name: str,
    *,
    max_length: int | None = None,
    item_shape: Sequence[int] = (),
    dtype: tf.DType | None = None,
) -> tf.RaggedTensor:
    """Check sequences and give their items shape and dtype.

    Args:
        items: ragged [B, (T)] of flat items, or string [B] of raw numbers.
        name: the field's name.
        max_length: the most items a row may have.
        item_shape: the shape of one item.
        dtype: to narrow int64 to, or of raw numbers; None keeps what is stored.

    Returns:
        Ragged [B, (T), *item_shape].
    """
    if not isinstance(items, tf.RaggedTensor):
        items = _raw_sequence(items, name, dtype)
    elif dtype is not None:
        flat = items.flat_values
        if dtype == tf.bool:
            items = items.with_flat_values(booleans(flat, name))
        else:
            items = items.with_flat_values(narrow(flat, name, dtype))
    if item_shape:
        items = _items_of_shape(items, name, item_shape)
    if max_length is not None:
        lengths = items.row_lengths()
        flat = _checked(
            items.values,
            lengths <= max_length,
            f"field {name!r}: expected at most {max_length} items, found lengths",
            lengths,
        )
        items = items.with_values(flat)
    return items


def _raw_sequence(data: tf.Tensor, name: str, dtype: Any) -> tf.RaggedTensor:
    sizes = tf.strings.length(data)
    data = _checked(
        data,
        sizes % dtype.size == 0,
        f"field {name!r}: expected whole {dtype.name} numbers of {dtype.size} bytes, "
        "found sizes",
        sizes,
    )
    joined = tf.strings.reduce_join(data, axis=0)
    lengths = tf.cast(sizes // dtype.size, tf.int64)
    return tf.RaggedTensor.from_row_lengths(_numbers(joined, dtype), lengths)


def _items_of_shape(
    items: tf.RaggedTensor, name: str, shape: Sequence[int]
) -> tf.RaggedTensor:
    count = prod(shape)
    lengths = items.row_lengths()
    flat = _checked(
        items.values,
        lengths % count == 0,
        f"field {name!r}: expected items of {count} numbers (shape {list(shape)}), "
        "found lengths",
        lengths,
    )
    values = tf.reshape(flat, (-1, *shape))
    return tf.RaggedTensor.from_row_lengths(values, lengths // count)


def padded(sequences: tf.RaggedTensor, value: Any) -> tf.Tensor:
    """Fill sequences up to the batch's longest: [B, T, *item_shape]."""
    shape = (None, None, *sequences.shape[2:])
    filler = tf.constant(value, sequences.dtype)
    dense = sequences.to_tensor(default_value=filler, shape=shape)
    return tf.ensure_shape(dense, (sequences.shape[0], *shape[1:]))


def _checked(
    value: tf.Tensor, right: tf.Tensor, message: str, found: tf.Tensor | None = None
) -> tf.Tensor:
    """Return `value` once every element of `right` is seen to be true."""
    shown = value if found is None else found
    checks = _refuse_unless(tf.reduce_all(right), message, shown)
    with tf.control_dependencies(checks):
        return tf.identity(value)


def _refuse_unless(
    right: tf.Tensor, message: str, *found: tf.Tensor
) -> list[tf.Operation]:
    """Return what a graph has to run first; outside of one, raise in plain words."""
    if not tf.executing_eagerly():
        return [tf.debugging.Assert(right, [message, *found], summarize=10)]
    if not right:
        shown = [str(values.numpy().reshape(-1)[:10].tolist()) for values in found]
        raise tf.errors.InvalidArgumentError(None, None, " ".join([message, *shown]))
    return []


def _checked_cast(
    values: tf.Tensor, dtype: tf.DType, right: tf.Tensor, message: str
) -> tf.Tensor:
    return tf.cast(_checked(values, right, message), dtype)
