"""Tensors of any shape: with their sizes next to them, or inside a TensorProto."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared.values import Numbers, check_shape
from ..shared.varints import pack_row
from ..shared.wire import INT64_LIST, Buffer, Pieces, list_tag, varint
from .base import Compound, Feature
from .columns import buffer_of
from .tensor import Tensor

# The dtypes' numbers in TensorFlow's types.proto.
_TYPES = {
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


class _Shaped(Feature):
    """Numbers of a shape some sizes of which may vary.

    Args:
        name: the field's name.
        key: the feature's key in the Example.
        shape: of one row's value; None for a size that may vary.
        dtype: by its TensorFlow name.
        raw: whether it is stored as little-endian bytes, not as a list.
        optional: whether None is allowed.
        exact: refuse floats that `dtype` cannot hold exactly.
        finite: refuse NaN and infinities.
    """

    def __init__(
        self,
        name: str,
        *,
        key: str,
        shape: tuple[int | None, ...],
        dtype: str,
        raw: bool,
        optional: bool,
        exact: bool,
        finite: bool,
    ) -> None:
        tag = list_tag(dtype, raw=raw)
        super().__init__(name, key, tag, optional=optional)
        self._shape = shape
        self._numbers = Numbers(dtype, exact, finite)
        self._raw = raw
        self._varints = tag == INT64_LIST

    def convert(self, value: Any) -> NDArray[Any]:
        array = self._numbers.convert(value)
        if array.shape == (0,) and self._shape[:1] == (None,):
            # [] has no item to tell the sizes that come after.
            array = array.reshape(tuple(size or 0 for size in self._shape))
        check_shape(array, self._shape)
        return array

    def _pieces(self, value: Any) -> Pieces:
        array = self._numbers.raw(self.convert(value))
        run: Buffer = buffer_of(array)
        if self._varints:
            run = pack_row(array.astype(np.int64, copy=False).reshape(-1))
        if len(run) or self._raw:
            return self._entry.packed_head(len(run)), run
        return (self._entry.empty,)


class SizedTensor(Compound):
    """A tensor of any shape, whose sizes are stored next to it.

    Args:
        name: the field's name.
        key: the feature's key in the Example.
        shape: of one row's value; None for a size that may vary.
        dtype: by its TensorFlow name.
        shape_key: the key of all sizes, or one for each dimension with None for a
            fixed one that is not stored.
        encoding: "raw" for little-endian bytes, "list" for an int64 or float list.
        optional: whether None is allowed.
        exact: refuse floats that `dtype` cannot hold exactly.
        finite: refuse NaN and infinities.
    """

    def __init__(
        self,
        name: str,
        *,
        key: str,
        shape: tuple[int | None, ...],
        dtype: str,
        shape_key: str | tuple[str | None, ...],
        encoding: str = "raw",
        optional: bool = False,
        exact: bool = True,
        finite: bool = True,
    ) -> None:
        self._numbers = _Shaped(
            name,
            key=key,
            shape=shape,
            dtype=dtype,
            raw=encoding == "raw",
            optional=optional,
            exact=exact,
            finite=finite,
        )
        self._together = isinstance(shape_key, str)
        if isinstance(shape_key, str):
            sizes = [Tensor(name, key=shape_key, shape=(len(shape),), dtype="int64")]
        else:
            sizes = [
                Tensor(name, key=size_key, shape=(), dtype="int64")
                for size_key in shape_key
                if size_key is not None
            ]
            self._stored = [at for at, k in enumerate(shape_key) if k is not None]
        super().__init__(name, self._numbers, *sizes, optional=optional)

    def convert(self, value: Any) -> NDArray[Any]:
        return self._numbers.convert(value)

    def split(self, value: Any) -> Sequence[Any]:
        sizes = list(value.shape)
        if self._together:
            return value, sizes
        return value, *(sizes[at] for at in self._stored)


class SerializedTensor(_Shaped):
    """A tensor of any shape, in the bytes that tf.io.serialize_tensor makes of it.

    Args:
        name: the field's name.
        key: the feature's key in the Example.
        shape: of one row's value; None for a size that may vary.
        dtype: by its TensorFlow name.
        optional: whether None is allowed.
        exact: refuse floats that `dtype` cannot hold exactly.
        finite: refuse NaN and infinities.
    """

    def __init__(
        self,
        name: str,
        *,
        key: str,
        shape: tuple[int | None, ...],
        dtype: str,
        optional: bool = False,
        exact: bool = True,
        finite: bool = True,
    ) -> None:
        super().__init__(
            name,
            key=key,
            shape=shape,
            dtype=dtype,
            raw=True,
            optional=optional,
            exact=exact,
            finite=finite,
        )
        self._type = b"\x08" + varint(_TYPES[dtype])

    def _pieces(self, value: Any) -> Pieces:
        array = self.convert(value)
        sizes = b"".join(map(_dimension, array.shape))
        content = buffer_of(self._numbers.raw(array))
        head = self._type + b"\x12" + varint(len(sizes)) + sizes
        if len(content):
            head += b"\x22" + varint(len(content))
        return self._entry.packed_head(len(head) + len(content)), head, content


def _dimension(size: int) -> bytes:
    """Return a size as a message of its own; protobuf leaves out a zero."""
    message = b"\x08" + varint(size) if size else b""
    return b"\x12" + varint(len(message)) + message
