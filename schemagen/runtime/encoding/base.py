"""What all features have in common: names, absence, errors, rows and columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import Problem, RecordError
from ..shared.values import Numbers, check_shape, shortened
from ..shared.wire import (
    BYTES_LIST,
    INT64_LIST,
    Buffer,
    Entry,
    Pieces,
    list_tag,
    pack_row,
)
from .columns import BufferColumns, buffer_columns, buffer_of, value_buffers

Column = Sequence[Any] | NDArray[Any]

# The features that a field is stored as, with their keys.
Entries = list[tuple[str, Pieces]]
EntryColumns = list[tuple[str, BufferColumns]]

# Up to here it takes less time to copy an array's bytes than to refer to them.
_SHORT = 1 << 13


@dataclass(eq=False)
class Feature(ABC):
    """One field of a record and the tf.train.Feature that holds it.

    Attributes:
        name: the field's name, for errors.
        key: the feature's key; "" for one step of a feature list, which has none.
        optional: whether None is allowed, which leaves the feature out.
    """

    name: str
    _: KW_ONLY
    key: str
    optional: bool = False

    def __post_init__(self) -> None:
        self._store_as(BYTES_LIST)

    def _store_as(self, tag: bytes) -> None:
        self._entry = Entry(self.key, tag)

    @abstractmethod
    def convert(self, value: Any) -> Any:
        """Return the value as it will be stored, before it becomes bytes.

        Raises:
            Problem: the field cannot hold it.
        """

    @abstractmethod
    def _pieces(self, value: Any) -> Pieces:
        """Return the bytes of the entry that holds one value."""

    def _column(self, values: Any, rows: int) -> BufferColumns:
        """Return the entries of a whole column, or raise any Problem with it.

        Which row is at fault is found by going through the rows again. Features that
        have a faster way for a column than one value after the other have their own.
        """
        return buffer_columns([self._pieces(value) for value in values])

    def encode(self, value: Any) -> Pieces:
        """Encode one row's value; nothing if it is None and may be.

        Features with a shorter way for what is mostly given have their own, and leave
        everything else to this one.

        Raises:
            RecordError: the field cannot hold the value.
        """
        return self._row(value, None)

    def encode_column(self, values: Any, rows: int) -> BufferColumns:
        """Encode the values of `rows` rows; None stands for a column of None.

        Raises:
            RecordError: naming the first row with a value that cannot be held.
        """
        if values is None:
            return buffer_columns([self._row(None, row) for row in range(rows)])
        try:
            return self._column(values, rows)
        except (Problem, TypeError, ValueError):
            return buffer_columns(
                [self._row(value, row) for row, value in enumerate(values)]
            )

    def entries(self, value: Any, row: int | None = None) -> Entries:
        """Encode one row's value: every feature that holds it, by key.

        Raises:
            RecordError: the field cannot hold the value.
        """
        pieces = self._row(value, row)
        return [(self.key, pieces)] if pieces else []

    def shown(self, value: Any, key: str) -> str:
        """Return what of a value is stored under one of the field's keys, in words."""
        return shortened(value.tolist() if isinstance(value, np.ndarray) else value)

    def entry_columns(self, values: Any, rows: int) -> EntryColumns:
        """Encode the values of `rows` rows: every feature that holds them, by key.

        Raises:
            RecordError: naming the first row with a value that cannot be held.
        """
        return [(self.key, self.encode_column(values, rows))]

    def _row(self, value: Any, row: int | None) -> Pieces:
        if value is None and self.optional:
            return ()
        try:
            return self._pieces(value)
        except Problem as problem:
            raise RecordError.of(problem.about(value), self.name, row) from None


class BytesFeature(Feature):
    """A feature with one value of bytes."""

    def contents(self, value: Any) -> Buffer:
        """Return a converted value as the bytes that are stored.

        Raises:
            Problem: they cannot be made.
        """
        data: Buffer = value
        return data

    def _pieces(self, value: Any) -> Pieces:
        data = self.contents(self.convert(value))
        return self._entry.packed_head(len(data)), data

    def _column(self, values: Any, rows: int) -> BufferColumns:
        contents = [self.contents(self.convert(value)) for value in values]
        return value_buffers(self._entry, contents)


@dataclass(eq=False, kw_only=True)
class NumberFeature(Feature):
    """A feature with the numbers of an array, as a list or as raw bytes.

    Attributes:
        dtype: by its TensorFlow name.
        exact: refuse floats that `dtype` cannot hold exactly.
        finite: refuse NaN and infinities.
    """

    dtype: str
    exact: bool = False
    finite: bool = True

    def _store_numbers(self, shape: Sequence[int | None], *, raw: bool) -> None:
        """Set how the numbers are stored.

        Args:
            shape: of one row's value; None for a size that may vary.
            raw: whether it is one value of little-endian bytes, not a list.
        """
        tag = list_tag(self.dtype, raw=raw)
        self._store_as(tag)
        self._numbers = Numbers(
            self.dtype, self.exact, self.finite, single=tuple(shape) == ()
        )
        self._shape = tuple(shape)
        self._varints = tag == INT64_LIST
        self._raw = raw

    def convert(self, value: Any) -> NDArray[Any]:
        array = self._numbers.convert(value)
        if array.shape == (0,) and self._shape[:1] == (None,):
            # [] has no item to tell the sizes that come after.
            array = array.reshape(tuple(size or 0 for size in self._shape))
        check_shape(array, self._shape)
        return array

    def contents(self, value: NDArray[Any]) -> Buffer:
        """Return a converted value as the bytes that are stored, of raw numbers."""
        return buffer_of(self._numbers.raw(value))

    def _stored(self, array: NDArray[Any]) -> Pieces:
        """Encode an array of little-endian numbers of the declared dtype."""
        run: Buffer
        if self._varints:
            run = pack_row(array.astype(np.int64, copy=False).reshape(-1))
        elif array.nbytes <= _SHORT:
            run = array.tobytes()
        else:
            run = buffer_of(np.ascontiguousarray(array))
        # An empty list has no packed run, but empty bytes are still one value.
        if not run and not self._raw:
            return (self._entry.empty,)
        return self._entry.packed_head(len(run)), run

    def _pieces(self, value: Any) -> Pieces:
        return self._stored(self._numbers.raw(self.convert(value)))


@dataclass(eq=False)
class Compound(Feature):
    """A field that is stored as several features, each under a key of its own.

    Attributes:
        parts: the features; the first has the field's own key.
    """

    parts: Sequence[Feature] = field(init=False, repr=False)

    @abstractmethod
    def split(self, value: Any) -> Sequence[Any]:
        """Return what each part holds of a converted value.

        Raises:
            Problem: the field cannot hold it.
        """

    def entries(self, value: Any, row: int | None = None) -> Entries:
        if value is None and self.optional:
            return []
        try:
            values = self.split(self.convert(value))
            return [
                (part.key, part._pieces(held))
                for part, held in zip(self.parts, values, strict=True)
            ]
        except Problem as problem:
            raise RecordError.of(problem.about(value), self.name, row) from None

    def shown(self, value: Any, key: str) -> str:
        held = zip(self.parts, self.split(self.convert(value)), strict=True)
        return next(part.shown(each, key) for part, each in held if part.key == key)

    def entry_columns(self, values: Any, rows: int) -> EntryColumns:
        """Encode the values of `rows` rows: a column for each part.

        Raises:
            Problem, RecordError, TypeError, ValueError: a value that cannot be held;
                which row is at fault is found by going through the rows again.
        """
        absent = (None,) * len(self.parts)
        held = [
            absent
            if value is None and self.optional
            else self.split(self.convert(value))
            for value in ([None] * rows if values is None else values)
        ]
        return [
            (part.key, _part_column(part, column))
            for part, column in zip(self.parts, zip(*held, strict=True), strict=True)
        ]

    def _pieces(self, value: Any) -> Pieces:
        return tuple(piece for _, pieces in self.entries(value) for piece in pieces)


def _part_column(part: Feature, values: tuple[Any, ...]) -> BufferColumns:
    if any(value is None for value in values):
        return buffer_columns(() if v is None else part._pieces(v) for v in values)
    return part._column(list(values), len(values))


def of_each(
    function: Callable[[Any], Any], items: Iterable[Any], place: str = "{} at [{}]"
) -> list[Any]:
    """Return a function's results for items.

    Args:
        function: raises a Problem with an item.
        items: in their order.
        place: the text of what the Problem found, from its own text and the position.

    Raises:
        Problem: that of the first item that has one, with its position.
    """
    found = []
    for at, item in enumerate(items):
        try:
            found.append(function(item))
        except Problem as problem:
            where = place.format(problem.found, at)
            raise Problem(where, problem.expected, problem.advice) from None
    return found
