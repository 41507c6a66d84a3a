"""From lists in lists, and lists of arrays, to what numpy makes one array of."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import Problem

# More dimensions than numpy's arrays have; a list may even hold itself.
_DEEPEST = 64


def flatten(value: Sequence[Any]) -> tuple[Sequence[object], tuple[int, ...]]:
    """Return the items of nested lists or tuples, and their common shape."""
    level: Sequence[Any] = value
    shape = [len(level)]
    while level and isinstance(level[0], (list, tuple)):
        if not all(isinstance(item, (list, tuple)) for item in level):
            raise Problem("a list among numbers", "lists of equal depth")
        sizes = set(map(len, level))
        if len(sizes) > 1:
            raise Problem(
                f"lists of different lengths ({min(sizes)} to {max(sizes)})",
                "lists of equal length",
            )
        shape.append(sizes.pop())
        if len(shape) > _DEEPEST:
            raise Problem(
                f"lists nested more than {_DEEPEST} deep", "numpy's dimensions"
            )
        level = list(chain.from_iterable(level))
    return level, tuple(shape)


def masked() -> Problem:
    """Return what is wrong with any array that has a mask."""
    return Problem("a masked array", "an array without mask", "a mask is not written")


def stacked(rows: Sequence[Any]) -> NDArray[Any]:
    """Join arrays along a new first dimension, without joining their dtypes."""
    if any(isinstance(row, np.ma.MaskedArray) for row in rows):
        raise masked()
    arrays = [np.asarray(row) for row in rows]
    if len({array.shape for array in arrays}) > 1:
        raise Problem("arrays of different shapes", "arrays of one shape")
    if len({array.dtype for array in arrays}) > 1:
        raise Problem("arrays of different dtypes", "arrays of one dtype")
    # As `np.stack`, which takes longer for many small arrays.
    joined: NDArray[Any] = np.concatenate([array.reshape(-1) for array in arrays])
    return joined.reshape(len(arrays), *arrays[0].shape)
