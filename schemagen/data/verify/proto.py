"""A TensorProto, as tf.io.serialize_tensor writes it, read without tensorflow."""

from __future__ import annotations

from dataclasses import dataclass

from ..message import MalformedError, read_varint, tagged

# tensorflow's numbers for its dtypes.
DATA_TYPES = {
    "float32": 1,
    "float64": 2,
    "int32": 3,
    "uint8": 4,
    "int16": 5,
    "int8": 6,
    "complex64": 8,
    "int64": 9,
    "bool": 10,
    "bfloat16": 14,
    "uint16": 17,
    "complex128": 18,
    "float16": 19,
    "uint32": 22,
    "uint64": 23,
}
DTYPES = {number: name for name, number in DATA_TYPES.items()}

_VARINT, _SIZED = 0, 2
_DTYPE, _SHAPE, _CONTENT = 1, 2, 4
_LONGEST_RANK = 254


@dataclass(frozen=True)
class TensorProto:
    """What a serialized tensor says of itself.

    Attributes:
        dtype: tensorflow's number for it.
        shape: its sizes.
        content: where its raw bytes begin and end; both 0 if it has none, and its
            values stand one by one, or are zeros.
    """

    dtype: int
    shape: tuple[int, ...]
    content: tuple[int, int]


def parse_tensor_proto(data: bytes) -> TensorProto:
    """Read a serialized tensor.

    Raises:
        MalformedError: it is none.
    """
    dtype, shape, content = 0, [], (0, 0)
    for number, wire, start, stop in tagged(data, 0, len(data)):
        if number == _DTYPE and wire == _VARINT:
            dtype = read_varint(data, start, stop)[0]
        elif number == _SHAPE and wire == _SIZED:
            shape += _sizes(data, start, stop)
        elif number == _CONTENT and wire == _SIZED:
            content = (start, stop)
        elif number in (_DTYPE, _SHAPE, _CONTENT):
            raise MalformedError(start, f"field {number} of a tensor of another type")
        if len(shape) > _LONGEST_RANK:
            raise MalformedError(start, "a tensor of too many dimensions")
    return TensorProto(dtype, tuple(shape), content)


def _sizes(data: bytes, start: int, stop: int) -> list[int]:
    sizes = []
    for number, wire, at, until in tagged(data, start, stop):
        if number == 2 and wire == _SIZED:
            size = 0
            for part, kind, begin, end in tagged(data, at, until):
                if part == 1 and kind == _VARINT:
                    size = read_varint(data, begin, end)[0]
            sizes.append(size - (1 << 64) if size >> 63 else size)
    return sizes
