"""Lists of any length: numbers, items of a fixed shape, strings."""

from __future__ import annotations

from itertools import chain
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import Problem
from ..shared.values import RAW_ONLY, Numbers, check_shape, described, item_size
from ..shared.varints import pack_row, pack_rows
from ..shared.wire import BYTES_LIST, INT64_LIST, Buffer, Pieces, bytes_list, list_tag
from .base import Feature
from .columns import Strands, buffer_of, run_strands, value_strands
from .limit import Limit
from .text import encode_text


class VarLen(Feature):
    """A list of numbers, or of items of a fixed shape, of any length from 0.

    Args:
        name: the field's name.
        key: the feature's key in the Example.
        dtype: by its TensorFlow name; what tf.train.Example has no list for is
            stored as one value of raw little-endian bytes.
        max_length: the most items a row may have, or None.
        too_long: what becomes of more: "error", "keep_head" or "keep_tail".
        padding: what fills fewer up to `max_length` on disk; None for nothing.
        item_shape: the shape of one item; items are stored flat.
        optional: whether None is allowed; an empty list always is.
        exact: refuse floats that `dtype` cannot hold exactly.
        finite: refuse NaN and infinities.
    """

    def __init__(
        self,
        name: str,
        *,
        key: str,
        dtype: str,
        max_length: int | None = None,
        too_long: str = "error",
        padding: bool | float | None = None,
        item_shape: tuple[int, ...] = (),
        optional: bool = False,
        exact: bool = True,
        finite: bool = True,
    ) -> None:
        raw = dtype in RAW_ONLY
        tag = list_tag(dtype, raw=raw)
        super().__init__(name, key, tag, optional=optional)
        self._numbers = Numbers(dtype, exact, finite)
        self._limit = Limit(max_length, too_long, padding)
        self._item_shape = item_shape
        self._item_count = prod(item_shape)
        self._item_size = self._item_count * item_size(dtype)
        self._varints = tag == INT64_LIST
        self._raw = raw

    def convert(self, value: Any) -> NDArray[Any]:
        array = self._numbers.convert(value)
        if not array.size and array.ndim == 1:  # [] has no item to tell a shape
            array = array.reshape((0, *self._item_shape))
        check_shape(array, (None, *self._item_shape))
        self._limit.check(len(array))
        return array

    def encode(self, value: Any) -> Pieces:
        if (
            type(value) is np.ndarray
            and value.ndim
            and value.shape[1:] == self._item_shape
            and self._limit.keeps(len(value))
            and self._numbers.accepts(value)
        ):
            return self._stored(np.ascontiguousarray(value))
        return self._row(value, None)

    def _entry_of(self, run: Buffer) -> Pieces:
        if len(run) or self._raw:
            return self._entry.packed_head(len(run)), run
        return (self._entry.empty,)

    def _stored(self, array: NDArray[Any]) -> Pieces:
        """Encode an array in the form in which it is stored."""
        if not self._varints:
            return self._entry_of(buffer_of(array))
        flat = array.astype(np.int64, copy=False).reshape(-1)
        return self._entry_of(pack_row(flat))

    def _pieces(self, value: Any) -> Pieces:
        return self._stored(self._numbers.raw(self._limit.fit(self.convert(value))))

    def _column(self, values: Any, rows: int) -> Strands:
        items, lengths = self.joined(values)
        self._limit.check(int(lengths.max(initial=0)))
        items, lengths = self._limit.fit_rows(items, lengths)
        array = self._numbers.raw(items)
        if self._varints:
            flat = array.astype(np.int64, copy=False).reshape(-1)
            runs: list[Buffer] = [*pack_rows(flat, lengths * self._item_count)]
        else:
            memory = buffer_of(array)
            ends = (np.cumsum(lengths) * self._item_size).tolist()
            starts = [0, *ends[:-1]]
            runs = [memory[a:b] for a, b in zip(starts, ends, strict=True)]
        if self._raw:
            return value_strands(self._entry, runs)
        return run_strands(self._entry, runs)

    def joined(self, values: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return all rows' items in one array, and the number of each row's."""
        if isinstance(values, np.ndarray):
            array = self._numbers.convert(values)
            check_shape(array, (None, None, *self._item_shape))
            lengths = np.full(len(array), array.shape[1], np.int64)
            return array.reshape(-1, *self._item_shape), lengths
        lengths = np.fromiter(map(len, values), np.int64, len(values))
        kinds = set(map(type, values))
        if kinds == {np.ndarray}:
            if len({(row.dtype, row.shape[1:]) for row in values}) > 1:
                raise Problem("rows of different dtypes or shapes", "rows of one kind")
            joined: Any = np.concatenate(values)
        elif kinds <= {list, tuple}:
            joined = list(chain.from_iterable(values))
        else:
            raise Problem("rows of different types", "rows of one type")
        array = self._numbers.convert(joined)
        if not array.size:
            array = array.reshape((0, *self._item_shape))
        check_shape(array, (int(lengths.sum()), *self._item_shape))
        return array, lengths


class Strings(Feature):
    """A list of strings of any length from 0.

    Args:
        name: the field's name.
        key: the feature's key in the Example.
        dtype: "string" for str, stored as UTF-8, or "bytes" for bytes.
        max_length: the most strings a row may have, or None.
        too_long: what becomes of more: "error", "keep_head" or "keep_tail".
        padding: what fills fewer up to `max_length` on disk; None for nothing.
        optional: whether None is allowed; an empty list always is.
    """

    def __init__(
        self,
        name: str,
        *,
        key: str,
        dtype: str,
        max_length: int | None = None,
        too_long: str = "error",
        padding: str | None = None,
        optional: bool = False,
    ) -> None:
        super().__init__(name, key, BYTES_LIST, optional=optional)
        self._text = dtype == "string"
        filler = None if padding is None else encode_text(padding)
        self._limit = Limit(max_length, too_long, filler)

    def convert(self, value: Any) -> list[bytes]:
        expected = f"a list of {'str' if self._text else 'bytes'}"
        if isinstance(value, np.ndarray) and value.ndim == 1:
            value = value.tolist()
        if not isinstance(value, (list, tuple)):
            raise Problem(described(value), expected)
        self._limit.check(len(value))
        wanted = str if self._text else bytes
        for at, item in enumerate(value):
            if not isinstance(item, wanted):
                raise Problem(f"{described(item)} at [{at}]", expected)
        return [encode_text(item) if self._text else item for item in value]

    def _pieces(self, value: Any) -> Pieces:
        strings = self._limit.cut(self.convert(value))
        if self._limit.padding is not None:
            missing = (self._limit.max_length or 0) - len(strings)
            strings = [*strings, *[self._limit.padding] * missing]
        contents = bytes_list(strings)
        return self._entry.list_head(len(contents)), contents
