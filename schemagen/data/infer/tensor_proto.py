"""The head of what tf.io.serialize_tensor writes: dtype and shape of a TensorProto."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

# tensorflow's numbers of the dtypes that a Tensor can have.
_DTYPES = {
    1: ("float32", 4),
    2: ("float64", 8),
    3: ("int32", 4),
    4: ("uint8", 1),
    5: ("int16", 2),
    6: ("int8", 1),
    8: ("complex64", 8),
    9: ("int64", 8),
    10: ("bool", 1),
    14: ("bfloat16", 2),
    17: ("uint16", 2),
    18: ("complex128", 16),
    19: ("float16", 2),
    22: ("uint32", 4),
    23: ("uint64", 8),
}
_DTYPE, _SHAPE, _CONTENT = 0x08, 0x12, 0x22


class TensorHead(NamedTuple):
    """Dtype and sizes of a serialized tensor."""

    dtype: str
    shape: tuple[int, ...]


def tensor_head(data: bytes) -> TensorHead | None:
    """Read a TensorProto whose numbers stand in one piece; None if it is none.

    That is how tf.io.serialize_tensor writes tensors. So few bytes may say a dtype and
    no sizes that the number of bytes behind them has to be right as well.
    """
    if len(data) < 2 or data[0] != _DTYPE or data[1] not in _DTYPES:
        return None
    dtype, item = _DTYPES[data[1]]
    at, shape, size = 2, None, 0
    while at < len(data):
        tag = data[at]
        if tag not in (_SHAPE, _CONTENT):
            return None
        read = _varint(data, at + 1)
        if read is None or read[1] + read[0] > len(data):
            return None
        length, at = read
        if tag == _SHAPE:
            shape = _sizes(data[at : at + length])
            if shape is None:
                return None
        else:
            size = length
        at += length
    if shape is None or prod(shape) * item != size:
        return None
    return TensorHead(dtype, shape)


def _sizes(data: bytes) -> tuple[int, ...] | None:
    """Read a TensorShapeProto: a dimension a time, each with its size if it is not 0."""
    sizes: list[int] = []
    at = 0
    while at < len(data):
        if data[at] != _SHAPE or at + 1 >= len(data):
            return None
        stop = at + 2 + data[at + 1]
        at += 2
        size = 0
        if at < stop:
            read = _varint(data, at + 1)
            if data[at] != _DTYPE or read is None or read[1] != stop:
                return None
            size = read[0]
        sizes.append(size)
        at = stop
    return tuple(sizes)


def _varint(data: bytes, at: int) -> tuple[int, int] | None:
    value = 0
    for shift in range(0, 63, 7):
        if at >= len(data):
            return None
        value |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return value, at
    return None
