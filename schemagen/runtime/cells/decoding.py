"""From records to columns, by the core in C."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import Structure, byref, c_char_p, c_float, c_int32, c_int64, string_at
from math import inf
from struct import Struct
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..native import BYTES, FLOAT, INT64, NOTHING, address, addresses, core
from ..native.memory import empty
from .columns import Column, Columns, Malformed, OnDemand, Rows, StepColumn
from .serialized import Records

_KINDS = (NOTHING, BYTES, FLOAT, INT64)

# `enum Message` of decode.c, in words.
_MESSAGES = (
    "the record",
    "the map of features",
    "a map entry",
    "a feature",
    "a feature list",
    *(f"a list of {kind} values" for kind in _KINDS),
)

# `enum Fact`
_FACTS = _UNKNOWN, _REPEATED, _UNUSUAL = "unknown", "repeated", "unusual"

_MOST_UNKNOWN, _FURTHER = 1000, "further fields"
"""So many different unknown fields are told apart; a record may have any number."""

_LEAST, _GREATEST = -(1 << 63), (1 << 63) - 1


class Expected(NamedTuple):
    """What all records are expected to hold under a key.

    Attributes:
        key: the wire key.
        kind: BYTES, FLOAT or INT64.
        optional: whether records may be without it.
        length: how many values each record has; None for any number.
        most: how many values a record has at most; None for no limit.
        size: how many bytes each bytes value has; None for any number.
        text: whether its bytes are UTF-8.
        finite: whether its floats are finite.
        bounds: the least and the greatest of its numbers, of which NaN is; None for no
            limit.
    """

    key: str
    kind: str
    optional: bool = False
    length: int | None = None
    most: int | None = None
    size: int | None = None
    text: bool = False
    finite: bool = False
    bounds: tuple[Any, Any] = (None, None)


# What `columns_items` returns, by number, as decode.c declares it.
_COLUMN = Struct("@Pqqqqqiiii")
_ITEMS = _COLUMN, Struct("@qqiqq"), Struct("@qiiqq")
_COLUMNS, _MALFORMED, _NOTED = range(len(_ITEMS))


class _ExpectedStruct(Structure):
    _fields_ = (
        ("name", c_char_p),
        ("size", c_int64),
        ("kind", c_int32),
        ("optional", c_int32),
        ("finite", c_int32),
        ("text", c_int32),
        ("count", c_int64),
        ("most", c_int64),
        ("each", c_int64),
        ("low", c_int64),
        ("high", c_int64),
        ("least", c_float),
        ("greatest", c_float),
    )


def _expected(expected: Expected) -> _ExpectedStruct:
    name = expected.key.encode()
    limits = expected.length, expected.most, expected.size
    integers, floats = [_LEAST, _GREATEST], [-inf, inf]
    bounds = floats if expected.kind == FLOAT else integers
    for at, bound in enumerate(expected.bounds):
        if bound is not None:
            bounds[at] = bound
    return _ExpectedStruct(
        name,
        len(name),
        _KINDS.index(expected.kind),
        expected.optional,
        expected.finite,
        expected.text,
        *(-1 if limit is None else limit for limit in limits),
        *integers,
        *floats,
    )


class CheckPlan:
    """What is expected of some keys.

    Records are compared with it as they are read, so that what is as expected needs no
    checks.

    Args:
        expected: of each key.
    """

    def __init__(self, expected: Sequence[Expected]) -> None:
        self.keys = [each.key for each in expected]
        self.structures = (_ExpectedStruct * len(expected))(*map(_expected, expected))


NO_PLAN = CheckPlan([])


def decode(records: Records, plan: CheckPlan = NO_PLAN) -> Columns:
    """Read records into columns, and compare them with a plan.

    Raises:
        MemoryError: there is not enough.
    """
    data = records.data if records.data.size else np.zeros(1, np.uint8)
    starts = np.ascontiguousarray(records.starts)
    stops = np.ascontiguousarray(records.stops)
    count, sequences = len(starts), np.empty(len(starts), np.bool_)
    places = addresses(data, starts, stops)
    handle = core.columns_read(*places, count, address(sequences))
    if not handle:
        raise MemoryError
    try:
        sizes, found = (c_int64 * 5)(), np.empty(len(plan.keys), np.int32)
        core.columns_sizes(handle, sizes)
        of_ints, of_floats, *counts = sizes
        ints, floats = empty(of_ints, np.int64), empty(of_floats, np.float32)
        arrays = addresses(ints, floats)
        if not core.columns_fill(handle, *arrays):
            raise MemoryError
        core.columns_expect(
            handle, *arrays, count, plan.structures, len(plan.keys), address(found)
        )
        return _columns(
            handle,
            records,
            ints,
            floats,
            counts,
            sequences,
            {
                key
                for key, number in zip(plan.keys, found.tolist(), strict=True)
                if number >= 0
            },
        )
    finally:
        core.columns_free(handle)


def _items(handle: int, what: int, counts: Sequence[int]) -> bytes:
    """Return the items of a vector of the core, one behind the other."""
    if not counts[what]:
        return b""
    place = core.columns_items(handle, what)
    return string_at(place, counts[what] * _ITEMS[what].size)


class _DecodedColumns(NamedTuple):
    """The columns of some records, in the order of features and steps, keys and kinds.

    Attributes:
        items: what the core says of each.
        ints: the memory of their rows, lengths, and values but for floats.
        floats: that of floats.
        data: that of bytes values.
    """

    items: bytes
    ints: Rows
    floats: NDArray[np.float32]
    data: NDArray[np.uint8]

    def places(self) -> tuple[dict[str, int], dict[str, int]]:
        """Return where the columns of each key begin: of features, and of lists."""
        found: tuple[dict[str, int], dict[str, int]] = {}, {}
        at = 0
        while at < len(self.items):
            item = _COLUMN.unpack_from(self.items, at)
            found[item[-3]][string_at(item[0], item[1]).decode()] = at
            at += item[-1] * _COLUMN.size
        return found

    def features(self, key: str, at: int) -> tuple[Column, ...]:
        """Return the columns of a key, one for each kind."""
        return tuple([self._column(key, item) for item in self._same(at)])

    def lists(self, key: str, at: int) -> StepColumn:
        """Return the feature lists of a key, which come after the columns of their steps."""
        *kinds, lists = self._same(at)
        _, _, count, _, at, *_ = lists
        rows, steps = self.ints[at : at + 2 * count].reshape(2, -1)
        columns = tuple([self._column(key, item) for item in kinds])
        return StepColumn(key, rows, steps, columns)

    def _same(self, at: int) -> list[tuple[int, ...]]:
        """Return what the core says of the columns of one key."""
        found = [_COLUMN.unpack_from(self.items, at)]
        while len(found) < found[0][-1]:
            at += _COLUMN.size
            found.append(_COLUMN.unpack_from(self.items, at))
        return found

    def _column(self, key: str, item: tuple[int, ...]) -> Column:
        _, _, count, size, at, at_floats, number, *_ = item
        ints, kind, until = self.ints, _KINDS[number], at + 2 * count
        values: NDArray[Any]
        if kind == FLOAT:
            values = self.floats[at_floats : at_floats + size]
        elif kind == BYTES:
            values = ints[until : until + 2 * size].reshape(-1, 2)
        else:
            values = ints[until : until + size]
        rows, lengths = ints[at : at + count], ints[at + count : until]
        return Column(key, kind, rows, lengths, values, self.data)


def _columns(
    handle: int,
    records: Records,
    ints: Rows,
    floats: NDArray[np.float32],
    counts: Sequence[int],
    sequences: NDArray[np.bool_],
    expected: set[str],
) -> Columns:
    items = _items(handle, _COLUMNS, counts)
    table = _DecodedColumns(items, ints, floats, records.data)
    of_features, of_lists = table.places()
    return Columns(
        records,
        OnDemand(of_features, table.features),
        OnDemand(of_lists, table.lists),
        sequences,
        tuple(
            Malformed(row, at, _reason(reason, a, b))
            for row, at, reason, a, b in _ITEMS[_MALFORMED].iter_unpack(
                _items(handle, _MALFORMED, counts)
            )
        ),
        **_facts(handle, _items(handle, _NOTED, counts)),
        expected=expected,
    )


def _facts(handle: int, items: bytes) -> dict[str, dict[str, list[int]]]:
    """Return the rows of what was noted, by the fact and what has it."""
    found: dict[str, dict[str, list[int]]] = {fact: {} for fact in _FACTS}
    for row, number, key, a, b in _ITEMS[_NOTED].iter_unpack(items):
        fact = _FACTS[number]
        if fact == _UNKNOWN:
            what = f"field {a} of {_MESSAGES[b]}"
            if what not in found[fact] and len(found[fact]) >= _MOST_UNKNOWN:
                what = _FURTHER
        else:
            what = _key(handle, fact == _REPEATED and a, key) if key >= 0 else ""
        rows = found[fact].setdefault(what, [])
        if not rows or rows[-1] != row:
            rows.append(row)
    return found


def _key(handle: int, of_lists: int, number: int) -> str:
    """Return a key by its number among those of features, or of feature lists."""
    size = c_int64()
    name = core.columns_key(handle, of_lists, number, byref(size))
    return string_at(name, size.value).decode()


def _reason(reason: int, a: int, b: int) -> str:
    """Return why a record is malformed, in words; in the order of `enum Reason`."""
    return (
        "",
        "an unterminated number",
        f"the field number {a}",
        f"the wire type {a}",
        f"a field that ends {a} bytes after the end of its message",
        "a key that is not UTF-8",
        f"a number as field {a} of {_MESSAGES[b]}",
        "a bytes list that holds a number",
        f"{a} bytes in place of float values",
        "fixed-width numbers in an int64 list",
    )[reason]
