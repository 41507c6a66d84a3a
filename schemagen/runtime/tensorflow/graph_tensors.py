"""Tensors of any shape in graphs: sizes next to them or in them, and padding.

A batch whose tensors all have one shape takes one reshape; any other is taken apart
into rows and filled up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..shared.requirements import lazy_tf as tf
from .graph import checked, raw_numbers, refuse_unless

Shape = Sequence[int | None]

# What tensorflow's kernels can count. A batch of more is the work of a damaged size.
_MOST = 2**31 - 1


def deserialized(
    data: tf.Tensor, name: str, dtype: tf.DType, shape: Shape, absent: Any
) -> tuple[tf.Tensor, tf.Tensor]:
    """Read what tf.io.serialize_tensor wrote.

    Args:
        data: string [B], each a TensorProto.
        name: the field's name.
        dtype: of the numbers.
        shape: of one tensor; None varies.
        absent: bool [B], which rows have none; or False.

    Returns:
        The raw numbers, string [B], and their sizes, int64 [B, rank].
    """
    found, sizes, contents = _taken_apart(data, name, len(shape), absent)
    sizes = checked(
        sizes,
        (found == dtype.as_datatype_enum) | absent,
        f"field {name!r}: expected a serialized tensor of {dtype.name} (tensorflow's "
        f"type {dtype.as_datatype_enum}), found the types",
        found,
    )
    right = tf.fill(tf.shape(data), True)
    for axis, size in enumerate(shape):
        low, high = (0, _MOST) if size is None else (size, size)
        right &= (sizes[:, axis] >= low) & (sizes[:, axis] <= high)
    right |= absent
    wanted = ", ".join("?" if size is None else str(size) for size in shape)
    sizes = checked(
        sizes,
        right,
        f"field {name!r}: expected a tensor of shape [{wanted}], found the sizes",
        tf.boolean_mask(sizes, ~right)[:1],
    )
    # Integers would wrap around, and a damaged size could come out right by chance.
    count = tf.reduce_prod(tf.cast(sizes, tf.float64), axis=1)
    have = tf.strings.length(contents)
    contents = checked(
        contents,
        (tf.cast(have, tf.float64) == count * dtype.size) | absent,
        f"field {name!r}: expected the bytes of a {dtype.name} tensor of the stored "
        "sizes, as tf.io.serialize_tensor writes it, found",
        have,
    )
    return contents, sizes


def _taken_apart(
    data: tf.Tensor, name: str, rank: int, absent: Any
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Return the dtypes, int32 [B], sizes [B, rank] and contents [B] of TensorProtos.

    Sizes of a missing tensor are zero.
    """
    fields = ["dtype", "tensor_shape", "tensor_content"]
    types = [tf.int32, tf.string, tf.string]
    try:
        parts = tf.io.decode_proto(data, "tensorflow.TensorProto", fields, types)
    except tf.errors.DataLossError:  # in a graph the error comes when it runs
        message = f"field {name!r}: expected a serialized tensor, found other bytes"
        raise tf.errors.InvalidArgumentError(None, None, message) from None
    dtypes, shapes, contents = parts.values
    shapes = tf.strings.reduce_join(shapes, axis=-1)
    message = "tensorflow.TensorShapeProto"
    dims = tf.io.decode_proto(shapes, message, ["dim"], [tf.string])
    ranks = dims.sizes[:, 0]
    each = checked(
        dims.values[0],
        (ranks == rank) | absent,
        f"field {name!r}: expected a serialized tensor of rank {rank}, found ranks",
        ranks,
    )
    sizes = tf.io.decode_proto(each, f"{message}.Dim", ["size"], [tf.int64]).values[0]
    sizes = tf.reduce_sum(sizes, axis=-1)  # a size of 0 is left out of the message
    # Without any there are no columns, or one of nothing.
    sizes = tf.pad(sizes, [[0, 0], [0, rank]])[:, :rank]
    return (
        tf.reduce_sum(dtypes, axis=-1),
        tf.ensure_shape(sizes, (data.shape[0], rank)),
        tf.strings.reduce_join(contents, axis=-1),
    )


def shaped(
    data: Any,
    name: str,
    dtype: tf.DType,
    shape: Shape,
    sizes: Sequence[Any],
    filler: Any,
    absent: Any,
) -> tf.Tensor:
    """Give numbers their shapes, and fill them up to the largest of the batch.

    Args:
        data: string [B] of raw numbers, or ragged [B, (N)].
        name: the field's name.
        dtype: of the numbers.
        shape: of one tensor; None varies.
        sizes: int64 [B] for each dimension, or one for all rows.
        filler: what fills tensors up.
        absent: bool [B], which rows have none, and are all filler; or False.

    Returns:
        dtype [B, *shape].
    """
    rows = data.row_lengths() if isinstance(data, tf.RaggedTensor) else data
    nothing = tf.zeros(tf.shape(rows), tf.int64)
    if not shape:  # a single number, which may be missing, is a vector of at most one
        count = tf.where(absent, nothing, nothing + 1)
        return shaped(data, name, dtype, (None,), [count], filler, False)[:, 0]
    table = tf.stack([size + nothing for size in sizes], axis=1)
    if absent is not False:
        table = tf.where(absent[:, tf.newaxis], tf.zeros_like(table), table)
    known = tf.constant([[size or 0 for size in shape]], tf.int64)
    largest = tf.reduce_max(tf.concat([table, known], axis=0), axis=0)
    count = tf.shape(table, tf.int64)[:1]
    batch_shape = tf.concat([count, largest], axis=0)

    def reshaped() -> tf.Tensor:
        if isinstance(data, tf.RaggedTensor):
            return tf.reshape(data.flat_values, batch_shape)
        return tf.reshape(raw_numbers(data, dtype), batch_shape)

    def filled_up() -> tf.Tensor:
        if isinstance(data, tf.RaggedTensor):
            numbers = data.flat_values
        else:
            numbers = raw_numbers(tf.strings.reduce_join(data), dtype)
        return _padded(numbers, name, shape, table, batch_shape, filler)

    if absent is False and None not in shape:
        tensors = reshaped()
    else:
        alike = tf.reduce_all(table == largest)
        tensors = tf.cond(alike, reshaped, filled_up)
    return tf.ensure_shape(tensors, (table.shape[0], *shape))


def _padded(
    numbers: tf.Tensor,
    name: str,
    shape: Shape,
    sizes: tf.Tensor,
    batch_shape: tf.Tensor,
    padding_value: Any,
) -> tf.Tensor:
    """Fill tensors, whose numbers [N] follow each other, up to one shape."""
    checks = refuse_unless(
        tf.reduce_prod(tf.cast(batch_shape, tf.float64)) <= _MOST,
        f"field {name!r}: expected tensors that can be batched, found sizes so "
        "different that the batch would have the shape",
        batch_shape,
    )
    with tf.control_dependencies(checks):
        # Also what comes from sizes alone would be made next to the check in a graph.
        numbers, sizes = tf.identity(numbers), tf.identity(sizes)
    # Dimensions after the last one that varies stay whole. One at least is taken
    # apart, since what is missing has no rows even where every size is fixed.
    cut = max((at + 1 for at, size in enumerate(shape) if size is None), default=1)
    lengths = []
    blocks = tf.ones_like(sizes[:, 0])  # how many each row has of a dimension's blocks
    for at in range(cut):
        lengths.append(tf.repeat(sizes[:, at], blocks))
        blocks *= sizes[:, at]
    items = tf.reshape(numbers, (-1, *shape[cut:]))
    ragged = tf.RaggedTensor.from_nested_row_lengths(items, lengths, validate=False)
    filler = tf.constant(padding_value, numbers.dtype)
    dense: tf.Tensor = ragged.to_tensor(filler, shape=batch_shape)
    return dense
