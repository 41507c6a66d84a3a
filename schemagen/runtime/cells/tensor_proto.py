"""A TensorProto, as tf.io.serialize_tensor writes it, read without tensorflow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from ..shared.dtypes import DTYPES
from ..shared.errors import Problem
from ..shared.values import shape_text
from .faults import shown_bytes
from .message import MalformedError, read_varint, tagged

# The numbers of TensorFlow's types.proto.
TYPE_NAMES = {
    1: "float32",
    2: "float64",
    3: "int32",
    4: "uint8",
    5: "int16",
    6: "int8",
    7: "string",
    8: "complex64",
    9: "int64",
    10: "bool",
    11: "qint8",
    12: "quint8",
    13: "qint32",
    14: "bfloat16",
    15: "qint16",
    16: "quint16",
    17: "uint16",
    18: "complex128",
    19: "float16",
    22: "uint32",
    23: "uint64",
    24: "float8_e5m2",
    25: "float8_e4m3fn",
    29: "int4",
    30: "uint4",
}
DATA_TYPES = {name: number for number, name in TYPE_NAMES.items()}

_VARINT, _SIZED = 0, 2
_DTYPE, _SHAPE, _VERSION, _CONTENT = 1, 2, 3, 4
_LAST_FIELD = 18
_SIZE, _UNKNOWN_RANK = 2, 3
_LONGEST_RANK = 254

# What tensorflow's kernels can count.
_MOST = 2**31 - 1


@dataclass(frozen=True)
class TensorProto:
    """The header of a serialized tensor.

    Attributes:
        dtype: tensorflow's number for it.
        shape: its sizes.
        content: where its raw bytes begin and end; both 0 if it has none, as its
            values are stored one by one, or are zeros.
        unknown_rank: whether its shape is unknown.
        foreign: whether it has fields that a TensorProto does not have.
    """

    dtype: int
    shape: tuple[int, ...]
    content: tuple[int, int]
    unknown_rank: bool = False
    foreign: bool = False


class TensorHead(NamedTuple):
    """Dtype and sizes of a serialized tensor; None for an unknown rank."""

    dtype: str
    shape: tuple[int, ...] | None


class WholeTensor(NamedTuple):
    """Dtype and sizes of a serialized tensor that has all of its numbers."""

    dtype: str
    shape: tuple[int, ...]


def parse_tensor_proto(data: bytes) -> TensorProto:
    """Read a serialized tensor.

    Raises:
        MalformedError: it is not one.
    """
    dtype, content = 0, (0, 0)
    shape: list[int] = []
    unknown_rank = foreign = False
    for number, wire, start, stop in tagged(data, 0, len(data)):
        if number == _DTYPE and wire == _VARINT:
            dtype = read_varint(data, start, stop)[0]
        elif number == _SHAPE and wire == _SIZED:
            sizes, unknown = _sizes(data, start, stop)
            shape += sizes
            unknown_rank |= unknown
        elif number == _CONTENT and wire == _SIZED:
            content = (start, stop)
        elif number in (_DTYPE, _SHAPE, _CONTENT):
            raise MalformedError(start, f"field {number} of a tensor of another type")
        else:
            foreign |= number > _LAST_FIELD or (number == _VERSION) != (wire == _VARINT)
        if len(shape) > _LONGEST_RANK:
            raise MalformedError(start, "a tensor of too many dimensions")
    return TensorProto(dtype, tuple(shape), content, unknown_rank, foreign)


def _sizes(data: bytes, start: int, stop: int) -> tuple[list[int], bool]:
    sizes, unknown = [], False
    for number, wire, at, until in tagged(data, start, stop):
        unknown |= number == _UNKNOWN_RANK
        if number == _SIZE and wire == _SIZED:
            size = 0
            for part, kind, begin, end in tagged(data, at, until):
                if part == 1 and kind == _VARINT:
                    size = read_varint(data, begin, end)[0]
            sizes.append(size - (1 << 64) if size >> 63 else size)
    return sizes, unknown


def tensor_head(data: bytes) -> TensorHead | None:
    """Return dtype and sizes of a value that looks like a serialized tensor, or None.

    It begins with a dtype, has only fields of a TensorProto, and ends with a field.
    """
    proto = _plausible(data)
    if proto is None:
        return None
    shape = None if proto.unknown_rank else proto.shape
    return TensorHead(TYPE_NAMES[proto.dtype], shape)


def whole_tensor(data: bytes) -> WholeTensor | None:
    """Return dtype and sizes of a tensor whose numbers are all in one piece, or None.

    tf.io.serialize_tensor writes them like this. As a few bytes may happen to state a
    dtype, the number of bytes behind them has to be right as well.
    """
    proto = _plausible(data)
    if proto is None or proto.unknown_rank:
        return None
    dtype, (start, stop) = TYPE_NAMES[proto.dtype], proto.content
    if dtype not in DTYPES or prod(proto.shape) * DTYPES[dtype].size != stop - start:
        return None
    return WholeTensor(dtype, proto.shape)


def read_tensor(data: bytes, dtype: str, shape: Sequence[int | None]) -> TensorProto:
    """Read a serialized tensor that a schema describes.

    Args:
        data: as tf.io.serialize_tensor writes it.
        dtype: of its numbers.
        shape: its sizes; None for one that varies.

    Raises:
        Problem: it is another one, or its numbers are not in one piece.
    """
    expected = f"a serialized tensor of {dtype}, shape {shape_text(shape)}"
    try:
        proto = parse_tensor_proto(data)
    except MalformedError:
        raise Problem(f"other bytes: {shown_bytes(data)}", expected) from None
    sizes = shape_text(proto.shape)
    if proto.dtype != DATA_TYPES[dtype]:
        name = TYPE_NAMES.get(proto.dtype, f"tensorflow's type {proto.dtype}")
        raise Problem(f"a serialized tensor of {name}", expected)
    if len(proto.shape) != len(shape):
        rank = len(proto.shape)
        raise Problem(f"a serialized tensor of rank {rank}, {sizes}", expected)
    if any(
        found != size if size is not None else not 0 <= found <= _MOST
        for found, size in zip(proto.shape, shape, strict=True)
    ):
        raise Problem(f"a serialized tensor of shape {sizes}", expected)
    size = proto.content[1] - proto.content[0]
    if size != prod(proto.shape) * DTYPES[dtype].size:
        found = f"{size} bytes of numbers for the shape {sizes}"
        advice = "" if size else "write it with tf.io.serialize_tensor"
        raise Problem(found, expected, advice)
    return proto


def _plausible(data: bytes) -> TensorProto | None:
    """Read a value that looks like a serialized tensor."""
    if len(data) < 2 or data[0] != _DTYPE << 3 | _VARINT:
        return None
    try:
        proto = parse_tensor_proto(data)
    except MalformedError:
        return None
    negative = any(size < 0 for size in proto.shape)
    if proto.foreign or negative or proto.dtype not in TYPE_NAMES:
        return None
    return proto
