"""Numbers of a fixed shape: vectors, scalars and raw images."""

from __future__ import annotations

import struct
from collections.abc import Callable
from math import isfinite, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import Problem
from ..shared.values import INTEGERS, Numbers, check_shape, item_size
from ..shared.varints import pack_row
from ..shared.wire import INT64_LIST, Pieces, list_tag, varint
from .base import Feature
from .columns import Strands, buffer_of, fixed_strands, varint_strands

# Up to here it takes less time to copy an array's bytes than to refer to them.
_SHORT = 1 << 13

# numpy's own numbers that are as good as Python's. (A timedelta64 would be one of
# its integers, too.)
_NUMPY_NUMBERS = frozenset(
    np.dtype(name).type for name in ("bool", *INTEGERS, "float16", "float32", "float64")
)


class Tensor(Feature):
    """A tensor of fixed shape, as a list of numbers or as raw bytes.

    Args:
        name: the field's name.
        key: the feature's key in the Example.
        shape: the shape of one row's value; () is a single number.
        dtype: by its TensorFlow name.
        encoding: "list" for an int64 or float list in row-major order, "raw" for
            one bytes value of little-endian numbers.
        optional: whether None is allowed.
        exact: refuse floats that `dtype` cannot hold exactly.
        finite: refuse NaN and infinities.
    """

    def __init__(
        self,
        name: str,
        *,
        key: str,
        shape: tuple[int, ...],
        dtype: str,
        encoding: str = "list",
        optional: bool = False,
        exact: bool = True,
        finite: bool = True,
    ) -> None:
        raw = encoding == "raw"
        tag = list_tag(dtype, raw=raw)
        super().__init__(name, key, tag, optional=optional)
        self._shape = shape
        self._numbers = Numbers(dtype, exact, finite)
        self._varints = tag == INT64_LIST
        self._raw = raw
        self._count = prod(shape)
        self._exact = exact
        self._python_type, self._packed = _python_numbers(dtype, self._varints)
        if shape:
            self._python_type = None
        if not self._varints:
            size = self._count * item_size(dtype)
            # An empty list has no packed run, but empty bytes are still one value.
            self._head = self._head_of(size)

    def convert(self, value: Any) -> NDArray[Any]:
        array = self._numbers.convert(value)
        check_shape(array, self._shape)
        return array

    def encode(self, value: Any) -> Pieces:
        kind = type(value)
        if kind is np.ndarray:
            # What the field declares stays as it is.
            if value.shape == self._shape and self._numbers.accepts(value):
                return self._stored(value)
        elif self._python_type is not None:
            is_numpys = kind in _NUMPY_NUMBERS
            number = value.item() if is_numpys else value
            if type(number) is self._python_type:
                packed = self._packed(number, self._exact and is_numpys)
                if packed is not None:
                    return (self._entry.packed_head(len(packed)) + packed,)
        return self._row(value, None)

    def _head_of(self, size: int) -> bytes:
        return self._entry.packed_head(size) if size or self._raw else self._entry.empty

    def _stored(self, array: NDArray[Any]) -> Pieces:
        """Encode an array of little-endian numbers of the declared dtype."""
        if self._varints:
            packed = pack_row(array.astype(np.int64, copy=False).reshape(-1))
            return (self._head_of(len(packed)) + packed,)
        if array.nbytes <= _SHORT:
            return (self._head + array.tobytes(),)
        return self._head, buffer_of(np.ascontiguousarray(array))

    def _pieces(self, value: Any) -> Pieces:
        return self._stored(self._numbers.raw(self.convert(value)))

    def _column(self, values: Any, rows: int) -> Strands:
        array = self._numbers.convert(values)
        if array.shape != (rows, *self._shape):
            raise Problem(f"shape {list(array.shape)}", f"{[rows, *self._shape]}")
        array = self._numbers.raw(array)
        if not self._varints:
            return fixed_strands(self._head, array, rows)
        integers = array.astype(np.int64, copy=False).reshape(rows, self._count)
        return varint_strands(self._entry, integers)


def _python_numbers(
    dtype: str, varints: bool
) -> tuple[type | None, Callable[[Any, bool], bytes | None]]:
    """Return how Python's own numbers become bytes: for a type of theirs, a function.

    It takes a number and whether that has to be exact, and returns None for one that
    needs a closer look.
    """
    if dtype in ("float32", "float64"):
        layout = struct.Struct("<f" if dtype == "float32" else "<d")

        def packed_float(number: float, exact: bool) -> bytes | None:
            try:
                packed = layout.pack(number)
            except OverflowError:
                return None
            held = not exact or layout.unpack(packed)[0] == number
            return packed if held and isfinite(number) else None

        return float, packed_float
    if varints and dtype != "bool":
        bounds = np.iinfo(dtype)
        low, high = int(bounds.min), int(bounds.max)

        def packed_integer(number: int, _: bool) -> bytes | None:
            if low <= number <= high:
                return varint(number & 0xFFFF_FFFF_FFFF_FFFF)
            return None

        return int, packed_integer
    if varints:
        return bool, lambda number, _: (b"\x00", b"\x01")[number]
    return None, lambda *_: None
