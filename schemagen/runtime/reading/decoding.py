"""From records to columns, by the core in C."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ctypes import (
    Structure,
    byref,
    c_char_p,
    c_int32,
    c_int64,
    c_void_p,
    string_at,
)
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..native import BYTES, FLOAT, INT64, NOTHING, address, addresses, core
from ..native.memory import empty
from .columns import Column, Columns, Malformed, Rows, StepColumn
from .records import Records

_KINDS = (NOTHING, BYTES, FLOAT, INT64)
_LISTS = len(_KINDS)

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
        bounds: the least and the greatest of its integers; None for no limit.
    """

    key: str
    kind: str
    optional: bool = False
    length: int | None = None
    most: int | None = None
    size: int | None = None
    text: bool = False
    finite: bool = False
    bounds: tuple[int | None, int | None] | None = None


class _Column(Structure):
    _fields_ = (
        ("name", c_void_p),
        ("size", c_int64),
        ("rows", c_int64),
        ("values", c_int64),
        ("ints", c_int64),
        ("floats", c_int64),
        ("kind", c_int32),
        ("of_steps", c_int32),
    )


class _Malformed(Structure):
    _fields_ = (
        ("row", c_int64),
        ("at", c_int64),
        ("reason", c_int32),
        ("a", c_int64),
        ("b", c_int64),
    )


class _Noted(Structure):
    _fields_ = (
        ("row", c_int64),
        ("fact", c_int32),
        ("key", c_int32),
        ("a", c_int64),
        ("b", c_int64),
    )


class _Expected(Structure):
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
    )


# What `columns_items` returns, by number.
_ITEMS = (_Column, _Malformed, _Noted)


def _expected(expected: Expected) -> _Expected:
    name = expected.key.encode()
    low, high = expected.bounds or (None, None)
    limits = expected.length, expected.most, expected.size
    return _Expected(
        name,
        len(name),
        _KINDS.index(expected.kind),
        expected.optional,
        expected.finite,
        expected.text,
        *(-1 if limit is None else limit for limit in limits),
        _LEAST if low is None else low,
        _GREATEST if high is None else high,
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
        self.structures = (_Expected * len(expected))(*map(_expected, expected))


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
        sizes, found = np.empty(2, np.int64), np.empty(len(plan.keys), np.int32)
        core.columns_sizes(handle, address(sizes))
        ints, floats = empty(int(sizes[0]), np.int64), empty(int(sizes[1]), np.float32)
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
            sequences,
            {
                key
                for key, number in zip(plan.keys, found.tolist(), strict=True)
                if number >= 0
            },
        )
    finally:
        core.columns_free(handle)


def _items(handle: int, what: int) -> Iterator[Any]:
    count = c_int64()
    place = core.columns_items(handle, what, byref(count))
    if count.value:
        yield from (_ITEMS[what] * count.value).from_address(place)


def _columns(
    handle: int,
    records: Records,
    ints: Rows,
    floats: NDArray[np.float32],
    sequences: NDArray[np.bool_],
    expected: set[str],
) -> Columns:
    by_key: dict[str, tuple[Column, ...]] = {}
    lists: dict[str, tuple[Rows, Rows]] = {}
    of_steps: dict[str, tuple[Column, ...]] = {}
    for each in _items(handle, 0):
        key = string_at(each.name, each.size).decode()
        at, count = each.ints, each.rows
        rows, lengths = ints[at : at + count], ints[at + count : at + 2 * count]
        if each.kind == _LISTS:
            lists[key] = rows, lengths
            continue
        kind, at = _KINDS[each.kind], at + 2 * count
        values: NDArray[Any] = ints[:0]
        if kind == FLOAT:
            values = floats[each.floats : each.floats + each.values]
        elif kind == INT64:
            values = ints[at : at + each.values]
        elif kind == BYTES:
            values = ints[at : at + 2 * each.values].reshape(-1, 2)
        found = of_steps if each.of_steps else by_key
        column = Column(key, kind, rows, lengths, values, records.data)
        found[key] = (*found.get(key, ()), column)
    facts: dict[str, dict[str, dict[int, None]]] = {fact: {} for fact in _FACTS}
    for note in _items(handle, 2):
        fact = _FACTS[note.fact]
        facts[fact].setdefault(_noted(handle, fact, note), {})[note.row] = None
    return Columns(
        records,
        dict(sorted(by_key.items())),
        {
            key: StepColumn(key, *lists[key], of_steps.get(key, ()))
            for key in sorted(lists)
        },
        sequences,
        tuple(
            Malformed(each.row, each.at, _reason(each.reason, each.a, each.b))
            for each in _items(handle, 1)
        ),
        **{
            fact: {what: tuple(rows) for what, rows in noted.items()}
            for fact, noted in facts.items()
        },
        expected=expected,
    )


def _noted(handle: int, fact: str, note: _Noted) -> str:
    """Return what is notable: a field in words, or a key."""
    if fact == _UNKNOWN:
        return f"field {note.a} of {_MESSAGES[note.b]}"
    if note.key < 0:
        return ""
    size, of_lists = c_int64(), fact == _REPEATED and note.a
    name = core.columns_key(handle, of_lists, note.key, byref(size))
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
