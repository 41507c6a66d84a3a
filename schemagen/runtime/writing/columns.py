"""From rows to columns: the values of rows, which stay when their source goes on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from enum import Enum
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kinds.images import size_name
from ..kinds.kind import Kind
from ..records.nesting import nested_members

CHUNK_BYTES = 1 << 20
"""A chunk ends with the row that makes it about this large."""

CHUNK_ROWS = 1024
"""A chunk is of no more rows than this, written or refused."""

# What no one can change, of about eight bytes.
_NUMBERS = frozenset({bool, int, float, type(None), date, datetime, timedelta})


class WrongNamesError(Exception):
    """A row that lacks a required name, or has an unknown one."""


class Members:
    """The names in a row, or in a nested value of it.

    Args:
        fields: those of the record, or of the nested value.
        path: the names that lead to the nested value; empty for the row.

    Attributes:
        names: all names, in the order of their declaration.
        required: the names that have to be there, nested values among them.
        fields: the names of the fields, in the order in which `values` returns theirs.
        sizes: the names of stored sizes, which readers add and the writer leaves out.
    """

    def __init__(self, fields: Iterable[Kind], path: tuple[str, ...] = ()) -> None:
        self.fields: tuple[str, ...] = ()
        by_name: dict[str, list[Kind]] = {}
        for field in fields:
            by_name.setdefault(field.label.split(".")[len(path)], []).append(field)
        self._label = ".".join(path)
        self._nested: dict[int, Members] = {}
        optional = []
        sizes = set()
        for at, (name, (first, *more)) in enumerate(by_name.items()):
            inner = (*path, name)
            if first.label == ".".join(inner):
                self.fields += (first.name,)
                if size_name(first):
                    sizes.add(f"{name}_size")
                if first.optional:
                    optional.append(name)
            else:
                self._nested[at] = Members((first, *more), inner)
                self.fields += self._nested[at].fields
        self.names, self.sizes = tuple(by_name), frozenset(sizes)
        self.required = tuple(name for name in by_name if name not in optional)
        self._optional = tuple(optional)
        self._known, self._needed = frozenset(self.names), frozenset(self.required)
        # Of several names, `itemgetter` returns a tuple.
        self._all = itemgetter(*self.names) if len(self.names) > 1 else self._one

    def values(self, given: Mapping[str, Any]) -> Sequence[Any]:
        """Return the value of each field; None for optional ones that are not given.

        Raises:
            WrongNamesError: the names of the row are not those of the record.
            RecordError: a nested value is none, or its names are wrong.
        """
        found: Sequence[Any]
        try:
            all_given = len(given) == len(self.names)
            found = self._all(given) if all_given else ()
        except KeyError:
            all_given = False
        if not all_given:
            names = given.keys() - self.sizes
            if not self._needed <= names <= self._known:
                raise WrongNamesError
            found = [given.get(name) for name in self.names]
        if not self._nested:
            return found
        values: list[Any] = []
        for at, value in enumerate(found):
            nested = self._nested.get(at)
            if nested is None:
                values.append(value)
            else:
                values += nested._values_of(value)
        return values

    def _one(self, given: Mapping[str, Any]) -> tuple[Any]:
        return (given[self.names[0]],)

    def _values_of(self, value: Any) -> Sequence[Any]:
        """Return the values of a nested value, which may be an instance of its model."""
        if type(value) is dict:
            try:
                return self.values(value)
            except WrongNamesError:  # which the next lines describe
                pass
        return self.values(
            nested_members(self._label, value, self.required, self._optional)
        )


class UnkeptError(Exception):
    """A value that cannot be copied, or of which it is not known how to copy it."""


class _Stack:
    """Copies of a field's arrays of one dtype and shape, where a column has them.

    Args:
        first: one of them.

    Attributes:
        dtype: of each array.
        shape: of each array.
        array: a place for each row that a chunk has: [rows, *shape].
    """

    __slots__ = ("array", "dtype", "shape")

    def __init__(self, first: NDArray[Any]) -> None:
        self.dtype, self.shape = first.dtype, first.shape
        rows = min(CHUNK_ROWS, CHUNK_BYTES // max(1, first.nbytes) + 1)
        self.array = np.empty((rows, *self.shape), self.dtype)


class KeptRows:
    """The values of some rows, of which nothing changes once they are added.

    Arrays of one dtype and shape are copied once, to their place in a column.

    Args:
        names: of the fields.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._rows: list[Sequence[Any]] = []  # with a stack in place of an array in it
        self._stacks: dict[int, _Stack] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, values: Sequence[Any]) -> int:
        """Add a row, given as the value of each field.

        Returns:
            About how many bytes it has.

        Raises:
            UnkeptError: a value that cannot be copied; the row is not added.
        """
        if _NUMBERS.issuperset(map(type, values)):
            self._rows.append(values)
            return 8 * len(values)
        size, row, number = 0, [], len(self._rows)
        try:
            for at, value in enumerate(values):
                kind = type(value)
                if kind is not np.ndarray:
                    kept, each = (value, 8) if kind in _NUMBERS else _kept(value)
                    row.append(kept)
                    size += each
                    continue
                stack = self._stacks.get(at) if number else self._begun(at, value)
                if (
                    stack is not None
                    and value.shape == stack.shape
                    and value.dtype == stack.dtype
                    and number < len(stack.array)
                ):
                    stack.array[number] = value
                    row.append(stack)
                else:
                    row.append(_kept_array(value))
                size += value.nbytes
        except Exception as error:  # such as of a list that holds itself
            raise UnkeptError from error
        self._rows.append(row)
        return size

    def _begun(self, at: int, first: NDArray[Any]) -> _Stack | None:
        """Return the stack for a field's arrays, given that of the first row."""
        stack = self._stacks.get(at)
        if stack is None or (stack.dtype, stack.shape) != (first.dtype, first.shape):
            if not first.ndim or first.dtype.kind not in "biuf":
                return None
            self._stacks[at] = stack = _Stack(first)
        return stack

    def values(self, row: int) -> dict[str, Any]:
        """Return the values of a row by field."""
        values = [
            value.array[row] if type(value) is _Stack else value
            for value in self._rows[row]
        ]
        return dict(zip(self._names, values, strict=True))

    def columns(self, rows: Sequence[int]) -> dict[str, Any]:
        """Return the values of some rows by field; they stay until a row is added.

        Args:
            rows: their numbers, in order; not all of them may be left out.
        """
        given = [self._rows[row] for row in rows]
        columns: list[Any] = [*map(list, zip(*given, strict=True))]
        for at, stack in self._stacks.items():
            column = columns[at]
            if not all(value is stack for value in column):
                columns[at] = [
                    stack.array[row] if value is stack else value
                    for row, value in zip(rows, column, strict=True)
                ]
            elif isinstance(rows, range):
                columns[at] = stack.array[rows.start : rows.stop]
            else:
                columns[at] = stack.array[rows]
        return dict(zip(self._names, columns, strict=True))

    def clear(self) -> None:
        """Remove all rows."""
        self._rows.clear()


def _kept_array(array: NDArray[Any]) -> NDArray[Any]:
    """Return a copy of an array.

    Raises:
        UnkeptError: it has objects that may be changed.
    """
    if array.dtype.hasobject:
        plain = (*_NUMBERS, str, bytes)
        if not {*map(type, array.reshape(-1).tolist())} <= {*plain}:
            raise UnkeptError
    return array.copy()


def _kept(value: Any) -> tuple[Any, int]:
    """Return a copy of what can be changed in a value, and about how many bytes it has.

    Raises:
        UnkeptError: it is not known how to copy it.
    """
    kind = type(value)
    if kind in _NUMBERS:
        return value, 8
    if kind is str or kind is bytes:
        return value, len(value)
    if kind is np.ndarray:
        return _kept_array(value), value.nbytes
    if kind is list or kind is tuple:
        if _NUMBERS.issuperset(map(type, value)):
            return kind(value), 8 * len(value)
        pairs = [*map(_kept, value)]
        return kind([kept for kept, _ in pairs]), sum(size for _, size in pairs)
    if kind is dict:
        kept, size = _kept([*value.values()])
        return dict(zip(value, kept, strict=True)), size
    if isinstance(value, np.generic):
        return value, value.nbytes
    if isinstance(value, Enum):
        return value, 8
    raise UnkeptError
