"""Lists of any length: numbers, items of a fixed shape, strings."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import Problem
from ..shared.values import RAW_ONLY, check_shape, described, item_size
from ..shared.wire import Buffer, Pieces, pack_rows
from .base import Feature, NumberFeature
from .columns import BufferColumns, buffer_of, list_buffers, value_buffers
from .text import encode_text


@dataclass(frozen=True)
class Limit:
    """The lengths of a field's sequences.

    Attributes:
        max_length: the most items a row may have; None for any number.
        too_long: what becomes of more: "error", "keep_head" or "keep_tail".
        padding: what fills fewer up to `max_length` on disk; None for nothing.
    """

    max_length: int | None = None
    too_long: str = "error"
    padding: Any = None

    def check(self, length: int) -> None:
        """Refuse a length above the limit, unless what is above is cut off.

        Raises:
            Problem: naming both.
        """
        limit = self.max_length
        if limit is not None and length > limit and self.too_long == "error":
            raise Problem(f"{length} items", f"at most {limit}")

    def keeps(self, length: int) -> bool:
        """Return whether rows of this length are stored as they are."""
        limit = self.max_length
        return limit is None or (length <= limit and self.padding is None)

    def cut(self, items: Any) -> Any:
        """Return the items of one row that are kept, of a list or an array."""
        if self.max_length is None or len(items) <= self.max_length:
            return items
        if self.too_long == "keep_tail":
            return items[-self.max_length :]
        return items[: self.max_length]

    def fit(self, items: NDArray[Any]) -> NDArray[Any]:
        """Return the items [T, ...] of one row as they are stored."""
        kept: NDArray[Any] = self.cut(items)
        if self.padding is None or self.max_length is None:
            return kept
        filled = np.full((self.max_length, *kept.shape[1:]), self.padding, kept.dtype)
        filled[: len(kept)] = kept
        return filled

    def fit_rows(
        self, items: NDArray[Any], lengths: NDArray[np.int64]
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Do what `fit` does with all rows at once.

        Args:
            items: [N, ...], the rows' items one after the other.
            lengths: int64 [rows], how many of them each row has.

        Returns:
            Items and lengths as they are stored.
        """
        limit = self.max_length
        if limit is None or (self.padding is None and not (lengths > limit).any()):
            return items, lengths
        first = np.cumsum(lengths) - lengths
        within = np.arange(len(items)) - np.repeat(first, lengths)
        if self.too_long == "keep_tail":
            within -= np.repeat(np.maximum(lengths - limit, 0), lengths)
        kept = (within >= 0) & (within < limit)
        if self.padding is None:
            return items[kept], np.minimum(lengths, limit)
        rows = len(lengths)
        filled = np.full((rows, limit, *items.shape[1:]), self.padding, items.dtype)
        filled[np.repeat(np.arange(rows), lengths)[kept], within[kept]] = items[kept]
        return filled.reshape(-1, *items.shape[1:]), np.full(rows, limit, np.int64)


@dataclass(eq=False, kw_only=True)
class VarLen(NumberFeature):
    """A list of numbers, or of items of a fixed shape, of any length from 0.

    What tf.train.Example has no list for is stored as raw bytes.

    Attributes:
        max_length: the most items a row may have, or None.
        too_long: what becomes of more: "error", "keep_head" or "keep_tail".
        padding: what fills fewer up to `max_length` on disk; None for nothing.
        item_shape: the shape of one item; items are stored flat.
    """

    max_length: int | None = None
    too_long: str = "error"
    padding: bool | float | None = None
    item_shape: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self._store_numbers((None, *self.item_shape), raw=self.dtype in RAW_ONLY)
        self._limit = Limit(self.max_length, self.too_long, self.padding)

    def convert(self, value: Any) -> NDArray[Any]:
        array = super().convert(value)
        self._limit.check(len(array))
        return array

    def encode(self, value: Any) -> Pieces:
        if (
            type(value) is np.ndarray
            and value.ndim
            and value.shape[1:] == self.item_shape
            and self._limit.keeps(len(value))
            and self._numbers.accepts(value)
        ):
            return self._stored(value)
        return self._row(value, None)

    def _pieces(self, value: Any) -> Pieces:
        return self._stored(self._numbers.raw(self._limit.fit(self.convert(value))))

    def _column(self, values: Any, rows: int) -> BufferColumns:
        items, lengths = self.joined(values)
        self._limit.check(int(lengths.max(initial=0)))
        items, lengths = self._limit.fit_rows(items, lengths)
        array = self._numbers.raw(items)
        numbers = lengths * prod(self.item_shape)
        if self._varints:
            flat = array.astype(np.int64, copy=False).reshape(-1)
            chunks: list[Buffer] = [*pack_rows(flat, numbers)]
        else:
            memory = buffer_of(array)
            ends = (np.cumsum(numbers) * item_size(self.dtype)).tolist()
            chunks = [memory[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True)]
        if self._raw:
            return value_buffers(self._entry, chunks)
        return list_buffers(self._entry, chunks)

    def joined(self, values: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return all rows' items in one array, and the number of each row's."""
        if isinstance(values, np.ndarray):
            array = self._numbers.convert(values)
            check_shape(array, (None, None, *self.item_shape))
            lengths = np.full(len(array), array.shape[1], np.int64)
            return array.reshape(-1, *self.item_shape), lengths
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
            array = array.reshape((0, *self.item_shape))
        check_shape(array, (int(lengths.sum()), *self.item_shape))
        return array, lengths


@dataclass(eq=False, kw_only=True)
class Strings(Feature):
    """A list of strings of any length from 0.

    Attributes:
        dtype: "string" for str, stored as UTF-8, or "bytes" for bytes.
        max_length: the most strings a row may have, or None.
        too_long: what becomes of more: "error", "keep_head" or "keep_tail".
        padding: what fills fewer up to `max_length` on disk; None for nothing.
    """

    dtype: str
    max_length: int | None = None
    too_long: str = "error"
    padding: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._limit = Limit(self.max_length, self.too_long)
        self._filler = [] if self.padding is None else [encode_text(self.padding)]

    def convert(self, value: Any) -> list[bytes]:
        text = self.dtype == "string"
        expected = f"a list of {'str' if text else 'bytes'}"
        if isinstance(value, np.ndarray) and value.ndim == 1:
            value = value.tolist()
        if not isinstance(value, (list, tuple)):
            raise Problem(described(value), expected)
        self._limit.check(len(value))
        wanted = str if text else bytes
        for at, item in enumerate(value):
            if not isinstance(item, wanted):
                raise Problem(f"{described(item)} at [{at}]", expected)
        return [encode_text(item) if text else item for item in value]

    def _pieces(self, value: Any) -> Pieces:
        strings = self._limit.cut(self.convert(value))
        missing = (self.max_length or 0) - len(strings)
        return self._entry.listing([*strings, *self._filler * missing])
