"""Numbers of a fixed shape: vectors, scalars and raw images."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Problem
from ..values import Numbers, check_shape, item_size
from ..wire import INT64_LIST, Pieces, list_tag, pack_row
from .base import Feature, buffer_of, equal_runs, packed_integers


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
        if not self._varints:
            size = self._count * item_size(dtype)
            # An empty list has no packed run, but empty bytes are still one value.
            self._head = self._head_of(size)

    def convert(self, value: Any) -> NDArray[Any]:
        array = self._numbers.convert(value)
        check_shape(array, self._shape)
        return array

    def _head_of(self, size: int) -> bytes:
        return self._entry.packed_head(size) if size or self._raw else self._entry.empty

    def _pieces(self, value: Any) -> Pieces:
        array = self._numbers.raw(self.convert(value))
        if not self._varints:
            return self._head, buffer_of(array)
        packed = pack_row(array.astype(np.int64, copy=False).reshape(-1))
        return self._head_of(len(packed)), packed

    def _column(self, values: Any, rows: int) -> list[Pieces]:
        array = self._numbers.convert(values)
        if array.shape != (rows, *self._shape):
            raise Problem(f"shape {list(array.shape)}", f"{[rows, *self._shape]}")
        array = self._numbers.raw(array)
        if not self._varints:
            return [(self._head, run) for run in equal_runs(array, rows)]
        flat = array.astype(np.int64, copy=False).reshape(-1)
        runs = packed_integers(flat, np.full(rows, self._count, np.int64))
        return [(self._head_of(len(run)), run) for run in runs]
