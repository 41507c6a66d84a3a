"""Numbers: narrowed from int64, dequantized, and decoded from raw bytes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ..shared.requirements import tf
from .checks import checked

# tf.io.decode_raw does not know these; their bits are the same.
_DECODED_AS = {tf.uint32: tf.int32, tf.uint64: tf.int64}


def as_dtype(values: tf.Tensor, name: str, dtype: tf.DType | None) -> tf.Tensor:
    """Cast stored int64 values to a dtype that holds them all; None keeps theirs."""
    if dtype is None or values.dtype == dtype:
        return values
    return booleans(values, name) if dtype == tf.bool else narrow(values, name, dtype)


def narrow(values: tf.Tensor, name: str, dtype: tf.DType) -> tf.Tensor:
    """Cast stored int64 values to a narrower integer dtype that holds them all."""
    expected = f"{dtype.name}, {dtype.min} to {dtype.max}"
    right = (values >= dtype.min) & (values <= dtype.max)
    message = f"field {name!r}: expected {expected}, found"
    return tf.cast(checked(values, right, message), dtype)


def booleans(values: tf.Tensor, name: str) -> tf.Tensor:
    """Cast stored int64 values, which have to be 0 or 1, to bool."""
    message = f"field {name!r}: expected 0 or 1 for a bool, found"
    return tf.cast(checked(values, (values >= 0) & (values <= 1), message), tf.bool)


def dequantized(
    values: tf.Tensor,
    scale_and_offset: tuple[float, float],
    *,
    present: tf.Tensor | None = None,
) -> tf.Tensor:
    """Return `values * scale + offset` as float32, of quantized values [B, ...].

    Args:
        values: the stored integers.
        scale_and_offset: what they are multiplied by, and what is then added.
        present: bool [B], false where there is no value, which is delivered as NaN.
    """
    scale, offset = scale_and_offset
    numbers = tf.cast(values, tf.float32) * scale + offset
    if present is None:
        return numbers
    known = tf.reshape(present, (-1, *[1] * (len(values.shape) - 1)))
    return tf.where(known, numbers, float("nan"))


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
    data = checked(
        data,
        sizes == expected,
        f"field {name!r}: expected {expected} bytes ({dtype.name} {list(shape)}), "
        "found sizes",
        sizes,
    )
    numbers = tf.reshape(raw_numbers(data, dtype), (-1, *shape))
    return tf.ensure_shape(numbers, (data.shape[0], *shape))


def raw_numbers(data: tf.Tensor, dtype: tf.DType) -> tf.Tensor:
    """Decode raw little-endian numbers."""
    decoded = tf.io.decode_raw(data, _DECODED_AS.get(dtype, dtype))
    return tf.bitcast(decoded, dtype) if dtype in _DECODED_AS else decoded
