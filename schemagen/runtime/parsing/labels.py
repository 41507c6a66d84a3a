"""Class labels: ids as stored, names, and several of them as a multi-hot row."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..shared.requirements import tf
from .checks import checked


def class_ids(
    ids: tf.Tensor,
    name: str,
    num_classes: int,
    *,
    offset: int = 0,
    optional: bool = False,
) -> tf.Tensor:
    """Check stored class ids and count them from 0.

    Args:
        ids: int64 [B], from `offset` on; -1 stands for none if they are optional.
        name: the field's name.
        num_classes: how many classes there are.
        offset: the stored id of the first class.
        optional: whether there may be none, which stays -1.
    """
    right = (ids >= offset) & (ids < offset + num_classes)
    last = offset + num_classes - 1
    ids = checked(
        ids,
        right | (ids == -1) if optional else right,
        f"field {name!r}: expected class ids from {offset} to {last}, found",
    )
    if not offset:
        return ids
    return tf.where(ids == -1, ids, ids - offset) if optional else ids - offset


def class_ids_of_names(
    names: tf.Tensor, name: str, classes: Sequence[str], *, optional: bool = False
) -> tf.Tensor:
    """Look up the ids of classes that are stored by name.

    Args:
        names: string [B]; "" stands for none if they are optional.
        name: the field's name.
        classes: the classes' names in the order of their ids.
        optional: whether there may be none, which then is -1.

    Returns:
        int64 [B].
    """
    # A search in a constant needs no table, which a saved model would have to track.
    hashes, ids = _sorted_hashes(tuple(classes))
    places = tf.searchsorted(tf.constant(hashes), _hashed(names))
    found = tf.gather(tf.constant(ids), tf.minimum(places, len(ids) - 1))
    known = tf.gather(tf.constant(list(classes)), found) == names
    missing = names == ""
    right = known | missing if optional else known
    shown = ", ".join(map(repr, classes[:5])) + (", ..." if len(classes) > 5 else "")
    found = checked(
        found,
        right,
        f"field {name!r}: expected one of {len(classes)} classes, {shown}, found",
        tf.boolean_mask(names, ~right),
    )
    return tf.where(known, found, tf.constant(-1, tf.int64)) if optional else found


def _hashed(names: tf.Tensor) -> tf.Tensor:
    return tf.strings.to_hash_bucket_fast(names, 2**63 - 1)


@lru_cache(maxsize=64)
def _sorted_hashes(
    classes: tuple[str, ...],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the hashes of names in order, and the ids of the names they belong to."""
    with tf.init_scope():  # computed once, also where a graph is being traced
        hashes = _hashed(tf.constant(list(classes))).numpy()
    order = np.argsort(hashes)
    return hashes[order], order


def multi_hot(
    labels: tf.RaggedTensor,
    name: str,
    num_classes: int,
    *,
    offset: int = 0,
    classes: Sequence[str] = (),
) -> tf.Tensor:
    """Check sets of classes; their order, and one given twice, make no difference.

    Args:
        labels: ragged [B, (T)] of stored ids, int64, or of names, string.
        name: the field's name.
        num_classes: how many classes there are.
        offset: the stored id of the first class.
        classes: the classes' names, if names are stored.

    Returns:
        float32 [B, num_classes]: 1 for the classes that are there, else 0.
    """
    flat = labels.flat_values
    if classes:
        ids = class_ids_of_names(flat, name, classes)
    else:
        ids = class_ids(flat, name, num_classes, offset=offset)
    hot = tf.tensor_scatter_nd_max(
        tf.zeros((labels.nrows(), num_classes)),
        tf.stack([labels.value_rowids(), ids], axis=1),
        tf.ones_like(ids, tf.float32),
    )
    return tf.ensure_shape(hot, (labels.shape[0], num_classes))
