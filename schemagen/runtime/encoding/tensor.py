"""Numbers of a shape: vectors, scalars, raw images and sizes."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from ..shared.errors import Problem
from ..shared.values import INTEGERS
from ..shared.wire import Pieces, varint
from .base import Feature, NumberFeature
from .columns import BufferColumns, fixed_buffers, varint_buffers

# numpy's own numbers that are as good as Python's. (A timedelta64 would be one of
# its integers, too.)
_NUMPY_NUMBERS = frozenset(
    np.dtype(name).type for name in ("bool", *INTEGERS, "float16", "float32", "float64")
)


@dataclass(eq=False, kw_only=True)
class Tensor(NumberFeature):
    """A tensor, as a list of numbers in row-major order or as raw bytes.

    Attributes:
        shape: of one row's value; () is a single number, and None a size that varies.
        encoding: "list" for an int64 or float list, "raw" for one bytes value of
            little-endian numbers.
    """

    shape: tuple[int | None, ...]
    encoding: str = "list"

    def __post_init__(self) -> None:
        self._store_numbers(self.shape, raw=self.encoding == "raw")
        self._python_type, self._packed = _python_numbers(self.dtype, self._varints)
        if self.shape or self.exact:
            self._python_type = None

    def encode(self, value: Any) -> Pieces:
        kind = type(value)
        if kind is np.ndarray:
            # What the field declares stays as it is.
            if value.shape == self._shape and self._numbers.accepts(value):
                return self._stored(value)
        elif self._python_type is not None:
            number = value.item() if kind in _NUMPY_NUMBERS else value
            if type(number) is self._python_type:
                packed = self._packed(number)
                if packed is not None:
                    return (self._entry.packed_head(len(packed)) + packed,)
        return self._row(value, None)

    def _column(self, values: Any, rows: int) -> BufferColumns:
        if None in self._shape:
            return super()._column(values, rows)
        array = self._numbers.convert(values)
        if array.shape != (rows, *self._shape):
            raise Problem(f"shape {list(array.shape)}", f"{[rows, *self._shape]}")
        array = self._numbers.raw(array)
        if self._varints:
            integers = array.astype(np.int64, copy=False).reshape(rows, -1)
            return varint_buffers(self._entry, integers)
        size = array.nbytes // rows
        held = size or self._raw
        head = self._entry.packed_head(size) if held else self._entry.empty
        return fixed_buffers(head, array, rows)


def size_features(name: str, keys: Sequence[str | None]) -> list[Feature]:
    """Return the features of a value's sizes, for those that have a key."""
    return [Tensor(name, key=key, shape=(), dtype="int64") for key in keys if key]


def stored_axes(keys: Sequence[str | None]) -> list[int]:
    """Return the dimensions whose sizes have a key."""
    return [axis for axis, key in enumerate(keys) if key]


def _python_numbers(
    dtype: str, varints: bool
) -> tuple[type | None, Callable[[Any], bytes | None]]:
    """Return how Python's own numbers become bytes: for a type of theirs, a function.

    It takes a number and returns None for one that needs a closer look.
    """
    if dtype in ("float32", "float64"):
        layout = struct.Struct("<f" if dtype == "float32" else "<d")

        def packed_float(number: float) -> bytes | None:
            try:
                return layout.pack(number) if isfinite(number) else None
            except OverflowError:
                return None

        return float, packed_float
    if varints and dtype != "bool":
        bounds = np.iinfo(dtype)
        low, high = int(bounds.min), int(bounds.max)

        def packed_integer(number: int) -> bytes | None:
            if low <= number <= high:
                return varint(number & 0xFFFF_FFFF_FFFF_FFFF)
            return None

        return int, packed_integer
    if varints:
        return bool, lambda number: (b"\x00", b"\x01")[number]
    return None, lambda _: None
