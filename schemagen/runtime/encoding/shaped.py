"""Tensors of any shape: with their sizes next to them, or inside a TensorProto."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from ..shared.wire import Buffer, Pieces, varint
from .base import Compound, NumberFeature
from .columns import buffer_of
from .tensor import Tensor, size_features, stored_axes

# The dtypes' numbers in TensorFlow's types.proto.
_TYPES = {
    "float32": 1,
    "float64": 2,
    "int32": 3,
    "uint8": 4,
    "int16": 5,
    "int8": 6,
    "int64": 9,
    "bool": 10,
    "bfloat16": 14,
    "uint16": 17,
    "float16": 19,
    "uint32": 22,
    "uint64": 23,
}


@dataclass(eq=False, kw_only=True)
class SizedTensor(Compound):
    """A tensor of any shape, whose sizes are stored next to it.

    Attributes:
        shape: of one row's value; None for a size that may vary.
        dtype: by its TensorFlow name.
        shape_key: the key of all sizes, or one for each dimension with None for a
            fixed one that is not stored.
        encoding: "raw" for little-endian bytes, "list" for an int64 or float list.
        exact: refuse floats that `dtype` cannot hold exactly.
        finite: refuse NaN and infinities.
    """

    shape: tuple[int | None, ...]
    dtype: str
    shape_key: str | tuple[str | None, ...]
    encoding: str = "raw"
    exact: bool = False
    finite: bool = True

    def __post_init__(self) -> None:
        numbers = Tensor(
            self.name,
            key=self.key,
            shape=self.shape,
            dtype=self.dtype,
            encoding=self.encoding,
            exact=self.exact,
            finite=self.finite,
        )
        if isinstance(self.shape_key, str):
            rank = (len(self.shape),)
            sizes = Tensor(self.name, key=self.shape_key, shape=rank, dtype="int64")
            self.parts = (numbers, sizes)
        else:
            self.parts = (numbers, *size_features(self.name, self.shape_key))
            self._axes = stored_axes(self.shape_key)

    def convert(self, value: Any) -> NDArray[Any]:
        array: NDArray[Any] = self.parts[0].convert(value)
        return array

    def split(self, value: Any) -> Sequence[Any]:
        if isinstance(self.shape_key, str):
            return value, list(value.shape)
        return value, *(value.shape[axis] for axis in self._axes)


@dataclass(eq=False, kw_only=True)
class SerializedTensor(NumberFeature):
    """A tensor of any shape, in the bytes that tf.io.serialize_tensor makes of it.

    Attributes:
        shape: of one row's value; None for a size that may vary.
    """

    shape: tuple[int | None, ...]

    def __post_init__(self) -> None:
        self._store_numbers(self.shape, raw=True)
        self._type = b"\x08" + varint(_TYPES[self.dtype])

    def contents(self, value: NDArray[Any]) -> Buffer:
        return b"".join(self._message(value))

    def _pieces(self, value: Any) -> Pieces:
        head, numbers = self._message(self.convert(value))
        return self._entry.packed_head(len(head) + len(numbers)), head, numbers

    def _message(self, array: NDArray[Any]) -> tuple[bytes, Buffer]:
        """Return the TensorProto of an array: what comes before its numbers, and these."""
        sizes = b"".join(map(_dimension, array.shape))
        numbers = buffer_of(self._numbers.raw(array))
        head = self._type + b"\x12" + varint(len(sizes)) + sizes
        if len(numbers):
            head += b"\x22" + varint(len(numbers))
        return head, numbers


def _dimension(size: int) -> bytes:
    """Return a size as a message of its own; protobuf leaves out a zero."""
    message = b"\x08" + varint(size) if size else b""
    return b"\x12" + varint(len(message)) + message
