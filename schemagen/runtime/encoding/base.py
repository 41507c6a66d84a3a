"""What all features have in common: names, absence, errors, rows and columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import Problem, RecordError
from ..shared.wire import Entry, Pieces, StepEntry
from .columns import Strands, strands_of

Column = Sequence[Any] | NDArray[Any]

# The features that a field is stored as, with their keys.
Entries = list[tuple[str, Pieces]]
EntryColumns = list[tuple[str, Strands]]


class Feature(ABC):
    """One field of a record and the tf.train.Feature that holds it.

    Attributes:
        name: the field's name, for errors.
        key: the feature's key; "" for one step of a feature list, which has none.
        optional: whether None is allowed, which leaves the feature out.
    """

    def __init__(self, name: str, key: str, list_tag: bytes, *, optional: bool) -> None:
        self.name = name
        self.key = key
        self.optional = optional
        self._entry = Entry(key, list_tag) if key else StepEntry(list_tag)

    @abstractmethod
    def convert(self, value: Any) -> Any:
        """Return the value as it will be stored, before it becomes bytes.

        Raises:
            Problem: the field cannot hold it.
        """

    @abstractmethod
    def _pieces(self, value: Any) -> Pieces:
        """Return the bytes of the entry that holds one value."""

    def _column(self, values: Any, rows: int) -> Strands:
        """Return the entries of a whole column, or raise any Problem with it.

        Which row is at fault is found by going through the rows again. Features that
        have a faster way for a column than one value after the other have their own.
        """
        return strands_of([self._pieces(value) for value in values])

    def encode(self, value: Any) -> Pieces:
        """Encode one row's value; nothing if it is None and may be.

        Features with a shorter way for what is mostly given have their own, and leave
        everything else to this one.

        Raises:
            RecordError: the field cannot hold the value.
        """
        return self._row(value, None)

    def encode_column(self, values: Any, rows: int) -> Strands:
        """Encode the values of `rows` rows; None stands for a column of None.

        Raises:
            RecordError: naming the first row with a value that cannot be held.
        """
        if values is None:
            return strands_of([self._row(None, row) for row in range(rows)])
        try:
            return self._column(values, rows)
        except (Problem, TypeError, ValueError):
            # A pandas Series gives Python's floats, and is of float64 all the same.
            each = np.asarray(values) if hasattr(values, "__array__") else values
            return strands_of([self._row(value, row) for row, value in enumerate(each)])

    def entries(self, value: Any, row: int | None = None) -> Entries:
        """Encode one row's value: every feature that holds it, by key.

        Raises:
            RecordError: the field cannot hold the value.
        """
        pieces = self._row(value, row)
        return [(self.key, pieces)] if pieces else []

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
            raise RecordError(
                self.name, problem.found, problem.expected, problem.advice, row
            ) from None


class Compound(Feature):
    """A field that is stored as several features, each under a key of its own.

    Args:
        name: the field's name.
        parts: the features; the first has the field's own key.
        optional: whether None is allowed, which leaves out all of them.
    """

    def __init__(self, name: str, *parts: Feature, optional: bool) -> None:
        self.name = name
        self.key = parts[0].key
        self.optional = optional
        self.parts = parts

    @abstractmethod
    def split(self, value: Any) -> Sequence[Any]:
        """Return what each part holds of a converted value; None for nothing.

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
                if held is not None
            ]
        except Problem as problem:
            raise RecordError(
                self.name, problem.found, problem.expected, problem.advice, row
            ) from None

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


def _part_column(part: Feature, values: tuple[Any, ...]) -> Strands:
    if any(value is None for value in values):
        return strands_of(() if v is None else part._pieces(v) for v in values)
    return part._column(list(values), len(values))
