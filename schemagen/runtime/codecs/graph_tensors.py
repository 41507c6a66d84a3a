"""Tensors of any shape in graphs: sizes next to them or in them, and padding.

A batch whose tensors all have one shape takes one reshape; any other is taken apart
into rows and filled up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .graph import as_dtype, checked, raw_numbers, refuse_unless
from .tensorflow import tf

Shape = Sequence[int | None]

# What tensorflow's kernels can count. A batch of more is the work of a damaged size.
_MOST = 2**31 - 1


def sized(
    data: Any,
    name: str,
    dtype: tf.DType,
    shape: Shape,
    *,
    sizes: Any,
    padding_value: Any,
    present: tf.Tensor | None = None,
) -> tf.Tensor:
    """Give stored numbers the shape that is stored next to them.

    Args:
        data: string [B] of raw little-endian numbers, or ragged [B, (N)].
        name: the field's name.
        dtype: of the numbers.
        shape: of one tensor; None varies.
        sizes: int64 [B, rank], or for each dimension int64 [B] or a fixed size.
        padding_value: what fills tensors up to the batch's largest sizes.
        present: bool [B], false for what is missing and reads as only padding.

    Returns:
        dtype [B, *shape].
    """
    rows = data.row_lengths() if isinstance(data, tf.RaggedTensor) else data
    nothing = tf.zeros(tf.shape(rows), tf.int64)
    if isinstance(sizes, tuple):
        sizes = tf.stack([size + nothing for size in sizes], axis=1)
    even = present is None and None not in shape
    if present is None:
        present = nothing == 0
    sizes = _checked_sizes(sizes, name, shape, present)
    if isinstance(data, tf.RaggedTensor):
        data = data.with_flat_values(as_dtype(data.flat_values, name, dtype))
    data = _counted(data, name, dtype, sizes)
    return _shaped(data, name, dtype, shape, sizes, padding_value, even=even)


def deserialized(
    data: tf.Tensor,
    name: str,
    dtype: tf.DType,
    shape: Shape,
    *,
    padding_value: Any,
    present: tf.Tensor | None = None,
) -> tf.Tensor:
    """Read what tf.io.serialize_tensor wrote.

    Args:
        data: string [B], each a TensorProto.
        name: the field's name.
        dtype: of the numbers.
        shape: of one tensor; None varies.
        padding_value: what fills tensors up to the batch's largest sizes.
        present: bool [B], false for what is missing and reads as only padding.

    Returns:
        dtype [B, *shape].
    """
    even = present is None and None not in shape
    if present is None:
        present = tf.fill(tf.shape(data), True)
    found, sizes, contents = _taken_apart(data, name, len(shape), present)
    sizes = checked(
        sizes,
        (found == dtype.as_datatype_enum) | ~present,
        f"field {name!r}: expected a serialized tensor of {dtype.name} (tensorflow's "
        f"type {dtype.as_datatype_enum}), found the types",
        found,
    )
    sizes = _checked_sizes(sizes, name, shape, present)

    def contents_of_all() -> tf.Tensor:
        """Bring other ways of holding numbers, such as float_val, to one."""

        def rewritten(one: tf.Tensor) -> tf.Tensor:
            return tf.io.serialize_tensor(tf.io.parse_tensor(one, dtype))

        some = tf.boolean_mask(data, present)
        again = tf.map_fn(rewritten, some, fn_output_signature=tf.string)
        where = tf.where(present)
        whole = tf.scatter_nd(where, again, tf.shape(data, tf.int64))
        return _taken_apart(whole, name, len(shape), present)[2]

    bytes_of = tf.strings.length(contents)
    plain = tf.reduce_all(tf.cast(bytes_of, tf.float64) == _count(sizes) * dtype.size)
    contents = tf.cond(plain, lambda: contents, contents_of_all)
    if not shape:  # a single number, which may be missing, is a vector of at most one
        one = tf.cast(present, tf.int64)[:, tf.newaxis]
        padded = _shaped(contents, name, dtype, (1,), one, padding_value, even=even)
        return padded[:, 0]
    contents = _counted(contents, name, dtype, sizes)
    return _shaped(contents, name, dtype, shape, sizes, padding_value, even=even)


def _taken_apart(
    data: tf.Tensor, name: str, rank: int, present: tf.Tensor
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
        (ranks == rank) | ~present,
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


def _checked_sizes(
    sizes: tf.Tensor, name: str, shape: Shape, present: tf.Tensor
) -> tf.Tensor:
    """Return sizes [B, rank] that go with a shape; those of what is missing are 0."""
    present = present[:, tf.newaxis]
    lowest = tf.constant([0 if size is None else size for size in shape], tf.int64)
    largest = tf.constant([_MOST if n is None else n for n in shape], tf.int64)
    right = tf.reduce_all(((sizes >= lowest) & (sizes <= largest)) | ~present, axis=1)
    wanted = ", ".join("?" if size is None else str(size) for size in shape)
    sizes = checked(
        sizes,
        right,
        f"field {name!r}: expected a tensor of shape [{wanted}], found the sizes",
        tf.boolean_mask(sizes, ~right)[:1],
    )
    return tf.where(present, sizes, tf.zeros_like(sizes))


def _count(sizes: tf.Tensor) -> tf.Tensor:
    """Return how many numbers tensors of these sizes have, as float64 [B].

    Integers would wrap around, and a damaged size could come out right by chance.
    """
    return tf.reduce_prod(tf.cast(sizes, tf.float64), axis=1)


def _counted(data: Any, name: str, dtype: tf.DType, sizes: tf.Tensor) -> Any:
    """Return numbers once there are as many in each row as its sizes ask for."""
    if isinstance(data, tf.RaggedTensor):
        unit, item, found = "numbers", 1, data.row_lengths()
    else:
        unit, item, found = "bytes", dtype.size, tf.strings.length(data)
    expected = _count(sizes) * item
    wrong = tf.cast(found, tf.float64) != expected
    return checked(
        data,
        ~wrong,
        f"field {name!r}: expected the {unit} of a {dtype.name} tensor of the stored "
        "sizes, found other ones (sizes, expected, found):",
        tf.boolean_mask(sizes, wrong)[:1],
        tf.cast(tf.boolean_mask(expected, wrong)[:1], tf.int64),
        tf.boolean_mask(found, wrong)[:1],
    )


def _shaped(
    data: Any,
    name: str,
    dtype: tf.DType,
    shape: Shape,
    sizes: tf.Tensor,
    padding_value: Any,
    *,
    even: bool,
) -> tf.Tensor:
    """Give numbers, string [B] or ragged [B, (N)], the sizes that go with `shape`.

    If `even`, all tensors are known to have the same sizes.
    """
    known = tf.constant([[size or 0 for size in shape]], tf.int64)
    largest = tf.reduce_max(tf.concat([sizes, known], axis=0), axis=0)
    rows = tf.shape(sizes, tf.int64)[:1]
    batch_shape = tf.concat([rows, largest], axis=0)

    def reshaped() -> tf.Tensor:
        if isinstance(data, tf.RaggedTensor):
            return tf.reshape(data.flat_values, batch_shape)
        return tf.reshape(raw_numbers(data, dtype), batch_shape)

    def filled_up() -> tf.Tensor:
        if isinstance(data, tf.RaggedTensor):
            numbers = data.flat_values
        else:
            numbers = raw_numbers(tf.strings.reduce_join(data), dtype)
        return _padded(numbers, name, shape, sizes, batch_shape, padding_value)

    if even:
        tensors = reshaped()
    else:
        alike = tf.reduce_all(sizes == largest)
        tensors = tf.cond(alike, reshaped, filled_up)
    return tf.ensure_shape(tensors, (sizes.shape[0], *shape))


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
