"""Bytes that hold numbers: serialized tensors, and the likely dtypes of raw ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..columns import Rows
from .draft import Draft, Scene

# Numbers that people store lie between these, or are 0.
_LOW, _HIGH = 1e-9, 1e9
_LOW_HALF, _HIGH_HALF = 1e-6, 6e4
_MOST_SEEN = 4096
_USUAL_SHARE = 0.99
_MOST_EXPONENTS = 24

# By size: the dtypes of floats and of integers.
_DTYPES = {2: ("float16", "uint16"), 4: ("float32", "int32"), 8: ("float64", "int64")}
_OTHERS = {
    "float16": "uint16",
    "uint16": "int16 or float16",
    "float32": "int32",
    "int32": "uint32 or float32",
    "float64": "int64",
    "int64": "float64",
}


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
        draft = Draft(seen.key, "Tensor", tensor_facts(shape, dtypes.pop(), "proto"))
        draft.notes.append("written by tf.io.serialize_tensor")
        scene.add(draft)


def tensor_facts(
    shape: tuple[int | None, ...], dtype: str, encoding: str
) -> dict[str, Any]:
    """Return the parameters of a Tensor."""
    padding: bool | int | float = 0
    if dtype == "bool":
        padding = False
    elif "float" in dtype or "complex" in dtype:
        padding = 0.0
    return {
        "shape": shape,
        "dtype": dtype,
        "encoding": encoding,
        "padding_value": padding,
    }


def common_shape(shapes: Rows) -> tuple[int | None, ...]:
    """Return each size that is the same in all rows; None for others, and for 0."""
    same = (shapes == shapes[0]).all(axis=0) & (shapes[0] > 0)
    pairs = zip(shapes[0].tolist(), same.tolist(), strict=True)
    return tuple(size if is_same else None for size, is_same in pairs)


def likely_item(
    size: int, samples: Sequence[bytes], *, open_end: bool
) -> tuple[int, str] | None:
    """Return channels and dtype of pixels or numbers of so many bytes; None if unknown.

    Args:
        size: how many.
        samples: some values.
        open_end: whether the number of channels is not stored.
    """
    if size == 1:
        return 1, "uint8"
    if open_end and size == 3:
        return 3, "uint8"
    if open_end and size == 12:
        return 3, likely_dtype(samples, 4)
    if open_end and size == 4 and likely_dtype(samples, 4) == "int32":
        values = _viewed(samples, "int32")
        # Four bytes of a pixel make large numbers, ids do not.
        return (1, "int32") if np.abs(values).max(initial=0) < 1 << 24 else (4, "uint8")
    return (1, likely_dtype(samples, size)) if size in _DTYPES else None


def likely_dtype(samples: Sequence[bytes], size: int) -> str:
    """Return the dtype of numbers of so many bytes: floats if they look so."""
    name, integer = _DTYPES[size]
    return name if looks_like_floats(samples, name) else integer


def other_dtypes(dtype: str) -> str:
    """Return which dtypes numbers could have instead."""
    return _OTHERS[dtype]


def looks_like_floats(samples: Sequence[bytes], dtype: str) -> bool:
    """Return whether bytes, read as this dtype, are numbers that people store.

    Small integers are the bits of tiny floats, text is that of huge ones.
    """
    with np.errstate(invalid="ignore"):  # of bits that are not a number
        values = _viewed(samples, dtype).astype(np.float64)
    size = np.abs(values[values != 0])
    if not len(size):
        return False
    half = dtype == "float16"
    low, high = (_LOW_HALF, _HIGH_HALF) if half else (_LOW, _HIGH)
    usual = np.isfinite(size) & (size > low) & (size < high)
    if usual.mean() < _USUAL_SHARE:
        return False
    # Random bytes are usual halves, too, but of half of all exponents.
    return not half or len(np.unique(np.log2(size).round())) < _MOST_EXPONENTS


def _viewed(samples: Sequence[bytes], dtype: str) -> NDArray[Any]:
    item = np.dtype(dtype).newbyteorder("<")
    parts = [
        np.frombuffer(sample, item, len(sample) // item.itemsize) for sample in samples
    ]
    return np.concatenate([np.empty(0, item), *parts])[:_MOST_SEEN]
