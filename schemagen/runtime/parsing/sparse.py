"""Sparse tensors: lists of indices, and of the values that stand there."""

from __future__ import annotations

from collections.abc import Sequence

from ..shared.requirements import tf
from .checks import checked
from .numbers import as_dtype


def sparse(
    values: tf.RaggedTensor,
    indices: Sequence[tf.RaggedTensor],
    name: str,
    shape: Sequence[int],
    *,
    dtype: tf.DType | None = None,
) -> tf.SparseTensor:
    """Join values and their indices, as tf.io.SparseFeature does, but checked.

    Args:
        values: ragged [B, (T)].
        indices: for each dimension of `shape`, ragged int64 [B, (T)].
        name: the field's name.
        shape: of one record's tensor.
        dtype: to narrow int64 to; None keeps what is stored.

    Returns:
        Sparse [B, *shape], in row-major order.
    """
    flat = as_dtype(values.flat_values, name, dtype)
    lengths = values.row_lengths()
    found = []
    for axis, (stored, size) in enumerate(zip(indices, shape, strict=True)):
        counts = stored.row_lengths()
        message = (
            f"field {name!r}: expected as many indices as values, found numbers of"
        )
        same = counts == lengths
        index = checked(stored.flat_values, same, message, counts, lengths)
        where = f" of dimension {axis}" if len(shape) > 1 else ""
        message = f"field {name!r}: expected indices{where} from 0 to {size - 1}, found"
        found.append(checked(index, (index >= 0) & (index < size), message))
    joined = tf.SparseTensor(
        tf.stack([values.value_rowids(), *found], axis=1),
        flat,
        tf.stack([values.nrows(), *shape]),
    )
    ordered = tf.sparse.reorder(joined)
    again = tf.reduce_all(ordered.indices[1:] == ordered.indices[:-1], axis=1)
    ordered = ordered.with_values(
        checked(
            ordered.values,
            ~again,
            f"field {name!r}: expected each index once, found twice",
            tf.boolean_mask(ordered.indices[1:, 1:], again),
        )
    )
    ordered.set_shape((values.shape[0], *shape))
    return ordered


def dense(batch: tf.SparseTensor) -> tf.Tensor:
    """Return a sparse tensor with its zeros: [B, *shape]."""
    return tf.ensure_shape(tf.sparse.to_dense(batch), batch.shape)


def first_of_sparse(batch: tf.SparseTensor) -> tf.SparseTensor:
    """Return the only record of a batch of one: sparse [*shape]."""
    alone = tf.SparseTensor(batch.indices[:, 1:], batch.values, batch.dense_shape[1:])
    alone.set_shape(batch.shape[1:])
    return alone
