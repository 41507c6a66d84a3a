"""Lists of any length: numbers, items of a fixed shape, strings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..reading.columns import Rows
from ..reading.decoding import Expected
from ..shared.dtypes import DTYPES, FLOATS, RAW_ONLY
from ..shared.errors import Problem
from ..shared.values import Numbers, check_shape, described, shape_text
from .changes import (
    DTYPE,
    GROUP,
    ITEM_SHAPE,
    LIMIT,
    PAD_ON_DISK,
    PADDING,
    TOO_LONG,
    parameter,
)
from .decoded import Shape
from .limits import Limit, Listed
from .numbers import NumbersCodec, numbers_in
from .part import Part, values_part
from .stored import Read, Rule, Source
from .strings import encode_text
from .written import RawRows, Stored, Written, written_numbers


@dataclass(eq=False, kw_only=True)
class ListCodec(Listed):
    """A list of any length from 0.

    Attributes:
        dtype: of the items; "string" is text, "bytes" opaque.
        max_length: the most items a row may have, or None.
        too_long: what becomes of more: "error", "keep_head" or "keep_tail".
        pad_on_disk: fill fewer up to `max_length` with `padding_value` when writing.
        padding_value: what fills a batch up to its longest row; 0 is the zero of each
            dtype.
        ragged: deliver a RaggedTensor in place of a padded batch.
        item_shape: the shape of one item; items are stored flat.
        group: the group of fields that are equally long.
    """

    dtype: str = parameter(*DTYPE)
    max_length: int | None = parameter(*LIMIT, default=None)
    too_long: str = parameter(*TOO_LONG, default="error")
    pad_on_disk: bool = parameter(*PAD_ON_DISK, default=False)
    padding_value: Any = parameter(*PADDING, default=0)
    ragged: bool = parameter(default=False)
    item_shape: tuple[int, ...] = parameter(*ITEM_SHAPE, default=())
    group: str | None = parameter(*GROUP, default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        padding = self.filler if self.pad_on_disk else None
        self._limit = Limit(self.max_length, self.too_long, padding)

    def make_parts(self) -> tuple[Part, ...]:
        size = prod(self.item_shape)
        most = None if self.max_length is None else self.max_length * size
        if not self.pad_on_disk:
            if self.too_long != "error":
                most = None  # files may hold more, which readers cut
            part = values_part(self.key, self.dtype, None, most)
            missing = b"" if self.optional and part.encoding == "raw" else None
            return (replace(part, missing=missing),)
        part = values_part(self.key, self.dtype, most)
        if part.encoding != "raw":
            part = replace(part, shape=(self.max_length or 0, *self.item_shape))
        return (self._with_missing(part) if self.optional else part,)

    def _with_missing(self, part: Part) -> Part:
        """State that a missing list is all padding."""
        padding = self.filler
        if isinstance(padding, str):
            return replace(part, missing=padding.encode())
        if part.encoding != "raw":
            number = float(padding) if self.dtype in FLOATS else int(padding)
            return replace(part, missing=number)
        numbers = Numbers(self.dtype, finite=False)
        item = numbers.raw(numbers.convert(padding)).tobytes()
        count = (self.max_length or 0) * prod(self.item_shape)
        return replace(part, missing=item, repeats=count)

    @property
    def delivered_shape(self) -> Shape:
        length = self.max_length if self.pad_on_disk else None
        return (length, *self.item_shape)

    @property
    def item_size(self) -> int | None:
        if self.pad_on_disk:
            return None
        return prod(self.item_shape) * self._value_size

    @property
    def _value_size(self) -> int:
        """How many stored values or raw bytes a number takes."""
        return DTYPES[self.dtype].size if self.dtype in RAW_ONLY else 1

    @property
    def expected(self) -> Expected | None:
        (part,) = self.parts
        if part.encoding == "raw" or (
            prod(self.item_shape) != 1 and part.count is None
        ):
            return None
        finite = bool(getattr(self, "finite", False))
        expected = part.expected(optional=self.optional, finite=finite)
        limited = self._limit.too_long == "error" and part.count is None
        return expected and expected._replace(most=self.max_length if limited else None)

    def read(self, source: Source) -> Read:
        if self.pad_on_disk:
            shape = (self.max_length or 0, *self.item_shape)
            found = self._values_in(source, shape)
            return found, lambda: found.dense(self.dtype, shape)
        found, count = self.items(source), prod(self.item_shape)
        found = self._limit.checked(found, lambda: found.lengths // count)

        def lists() -> Any:
            kept = self._limit.kept(found.lists(self.dtype, self.item_shape))
            return kept if self.ragged else found.padded(kept, self.filler)

        return found, lists

    def items(self, source: Source, *, fill: bool = False) -> Any:
        """Return the rows with right items, whatever their number; see `Source.read`."""
        found = self._values_in(source, (None, *self.item_shape), fill=fill)
        count = prod(self.item_shape)
        if count == 1:
            return found
        items = f"items of {count} values (shape {shape_text(self.item_shape)})"
        return found.check_rows(
            lambda: (found.lengths % count == 0, found.lengths),
            Rule("SG524", "values are not a whole number of items", items),
            "{} values",
        )

    def _values_in(self, source: Source, shape: Shape, *, fill: bool = False) -> Any:
        (part,) = self.parts
        if self.dtype in ("string", "bytes"):
            found = source.read(part, f"{part.text} ({self.dtype})", fill=fill)
            return found.text() if self.dtype == "string" else found
        finite = bool(getattr(self, "finite", False))
        return numbers_in(source, part, self.dtype, shape, finite=finite, fill=fill)


@dataclass(eq=False, kw_only=True)
class VarLen(ListCodec, NumbersCodec):
    """A list of numbers, or of items of a fixed shape, of any length from 0.

    What tf.train.Example has no list for is stored as raw bytes.
    """

    @property
    def shape_of_rows(self) -> Shape:
        return (None, *self.item_shape)

    def convert(self, value: Any) -> NDArray[Any]:
        array: NDArray[Any] = super().convert(value)
        self._limit.check(len(array))
        return array

    def store(self, value: Any) -> Sequence[Stored]:
        if (
            type(value) is np.ndarray
            and value.ndim
            and value.shape[1:] == self.item_shape
            and self._limit.keeps(len(value))
            and self._numbers.accepts(value)
        ):
            return (self._stored(value),)
        return (self._stored(self._numbers.raw(self._limit.fit(self.convert(value)))),)

    def store_column(self, values: Any, rows: int) -> Sequence[Written]:
        items, lengths = self.concatenated(values)
        self._limit.check(int(lengths.max(initial=0)))
        items, lengths = self._limit.fit_rows(items, lengths)
        array = self._numbers.raw(items)
        counts = lengths * prod(self.item_shape)
        if self._raw:
            sizes = counts * DTYPES[self.dtype].size
            return (Written(RawRows(array, sizes)),)
        return (written_numbers(self.parts[0], array, counts),)

    def concatenated(self, values: Any) -> tuple[NDArray[Any], Rows]:
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
class Strings(ListCodec):
    """A list of strings of any length from 0."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._filler = [encode_text(self.filler)] if self.pad_on_disk else []

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

    def store(self, value: Any) -> Sequence[Stored]:
        strings: list[bytes] = self._limit.cut(self.convert(value))
        missing = (self.max_length or 0) - len(strings)
        return ([*strings, *self._filler * missing],)


def list_codec(dtype: str) -> type[VarLen] | type[Strings]:
    """Return the codec of a list with items of a dtype."""
    return Strings if dtype in ("string", "bytes") else VarLen
