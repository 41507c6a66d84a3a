"""Tensors: those that tf.io.serialize_tensor has written, and the parameters of all."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...runtime.reading.columns import Rows
from .draft import Draft, Scene
from .evidence import KeyEvidence
from .sizes import Sizes


def take_protos(scene: Scene) -> None:
    """Make fields of tensors that tf.io.serialize_tensor has written."""
    for seen in list(scene.open()):
        tensors = seen.values.tensors
        if not (seen.is_single and tensors) or tensors.total() < seen.values.values:
            continue
        dtypes = {head.dtype for head in tensors}
        ranks = {len(head.shape) for head in tensors}
        if len(dtypes) > 1 or len(ranks) > 1:
            continue
        shapes = np.array([head.shape for head in tensors], np.int64)
        shape = common_shape(shapes.reshape(len(shapes), -1))
        facts = {"shape": shape, "dtype": dtypes.pop(), "encoding": "proto"}
        said = "written by tf.io.serialize_tensor"
        scene.add(Draft(seen.key, "Tensor", facts, notes=[said]))


def sized_facts(
    scene: Scene, seen: KeyEvidence, sizes: Sizes, each: int, dtype: str, encoding: str
) -> dict[str, Any] | None:
    """Return the parameters of a Tensor whose sizes other keys hold, and take these keys.

    Args:
        scene: where the keys are taken.
        seen: its numbers.
        sizes: the stored sizes.
        each: how many numbers there are for each element of these.
        dtype: of the numbers.
        encoding: of the Tensor.

    Returns:
        None if it cannot be declared, or if the keys are those of other fields.
    """
    keys: Any = sizes.keys
    shape = common_shape(sizes.shapes[seen.lengths >= 0])
    alone = isinstance(keys, str)
    shared = list(zip((keys,) if alone else keys, sizes.contents, strict=True))
    if (alone and each > 1) or not scene.share_all(shared):
        return None
    if each > 1:
        shape, keys = (*shape, each), (*keys, None)
    return {"shape": shape, "dtype": dtype, "encoding": encoding, "shape_key": keys}


def common_shape(shapes: Rows) -> tuple[int | None, ...]:
    """Return each size that is the same in all rows; None for others, and for 0."""
    same = (shapes == shapes[0]).all(axis=0) & (shapes[0] > 0)
    pairs = zip(shapes[0].tolist(), same.tolist(), strict=True)
    return tuple(size if is_same else None for size, is_same in pairs)
