"""The core in C: framing, checksums, and records to columns, loaded by ctypes.

A call frees the interpreter's lock, so threads may read ranges of records at once. Arrays
are passed by address and have to be contiguous; `_address` sees to that.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from ctypes import POINTER, Structure, c_int, c_int32, c_int64, c_void_p
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]
Bytes = NDArray[np.uint8]

_PATH = Path(__file__).with_name("_core.so")

BYTES, FLOAT, INT64 = "bytes", "float", "int64"
NOTHING = ""
"""The kind of a feature that holds no list at all."""

_KINDS = (NOTHING, BYTES, FLOAT, INT64)
_LISTS = len(_KINDS)

_MESSAGES = (
    *(
        "the record",
        "the map of features",
        "a map entry",
        "a feature",
        "a feature list",
    ),
    *(f"a list of {kind} values" for kind in _KINDS),
)
_UNKNOWN, _REPEATED, _UNUSUAL = range(3)


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


def _load() -> Any:
    """Load the core.

    Raises:
        ImportError: it was not built for this platform.
    """
    try:
        core = ctypes.CDLL(str(_PATH))
    except OSError as error:
        raise ImportError(
            f"{_PATH}: the core of schemagen is missing or is not for this platform; "
            f"install schemagen again: {error}"
        ) from None
    signatures: dict[str, tuple[Any, ...]] = {
        "crc32c": (ctypes.c_uint32, ctypes.c_uint32, c_void_p, c_int64),
        "frames_check": (c_int64, c_void_p, c_void_p, c_void_p, c_int64, c_void_p),
        "columns_read": (c_void_p, c_void_p, c_void_p, c_void_p, c_int64, c_void_p),
        "columns_sizes": (None, c_void_p, POINTER(c_int64), POINTER(c_int64)),
        "columns_items": (c_void_p, c_void_p, c_int, POINTER(c_int64)),
        "columns_key": (c_void_p, c_void_p, c_int, c_int32, POINTER(c_int64)),
        "columns_fill": (c_int, c_void_p, c_void_p, c_void_p),
        "columns_free": (None, c_void_p),
    }
    for name, (result, *arguments) in signatures.items():
        function = getattr(core, name)
        function.restype, function.argtypes = result, arguments
    return core


_core = _load()


def _address(array: NDArray[Any]) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


def _addresses(*arrays: NDArray[Any]) -> list[int]:
    return [_address(array) for array in arrays]


class RawColumn(NamedTuple):
    """The features of one key that are of one kind, or the feature lists of one key.

    Attributes:
        key: the wire key.
        kind: BYTES, FLOAT, INT64 or NOTHING; None for feature lists.
        of_steps: whether the features are those of steps.
        rows: int64 [M], the records that have it, ascending; of steps their numbers,
            counted over all records.
        lengths: int64 [M], how many values each has; of feature lists, how many steps.
        values: float32 or int64 [sum of lengths]; of bytes int64 [sum, 2], where each
            value begins and ends.
    """

    key: str
    kind: str | None
    of_steps: bool
    rows: Rows
    lengths: Rows
    values: NDArray[Any]


class Damage(NamedTuple):
    """A record that is not a tf.train.Example.

    Attributes:
        row: its row.
        at: the position in the record at which it stops being one.
        reason: what is there.
    """

    row: int
    at: int
    reason: str


class Note(NamedTuple):
    """What a record has that readers pass over, or read differently.

    Attributes:
        row: its row.
        fact: "unknown", "repeated" or "unusual".
        what: a field in words, or a key.
    """

    row: int
    fact: str
    what: str


def crc32c(data: Bytes, crc: int = 0) -> int:
    """Return the CRC-32C of bytes that come after others with a known one."""
    found: int = _core.crc32c(crc, _address(data) if data.size else None, data.size)
    return found


def damaged(data: Bytes, starts: Rows, stops: Rows) -> Rows:
    """Return the rows of frames whose length or checksums are wrong.

    Args:
        data: uint8 [bytes], the memory of the frames.
        starts: int64 [N], where each frame begins.
        stops: int64 [N], where it ends.
    """
    wrong = np.empty(len(starts), np.uint8)
    starts, stops = np.ascontiguousarray(starts), np.ascontiguousarray(stops)
    count = len(starts)
    if not _core.frames_check(*_addresses(data, starts, stops), count, _address(wrong)):
        return np.empty(0, np.int64)
    return np.flatnonzero(wrong)


def read_columns(
    data: Bytes, starts: Rows, stops: Rows
) -> tuple[list[RawColumn], list[Damage], list[Note], NDArray[np.bool_]]:
    """Read records into columns.

    Args:
        data: uint8 [bytes], the memory of the records.
        starts: int64 [N], where each record begins.
        stops: int64 [N], where it ends.

    Returns:
        The columns; the records that are in none; what else is notable; and which records
        have a field of feature lists, bool [N].

    Raises:
        MemoryError: there is not enough.
    """
    data = data if data.size else np.zeros(1, np.uint8)
    starts, stops = np.ascontiguousarray(starts), np.ascontiguousarray(stops)
    sequences = np.empty(len(starts), np.uint8)
    places = _addresses(data, starts, stops)
    handle = _core.columns_read(*places, len(starts), _address(sequences))
    if not handle:
        raise MemoryError
    try:
        ints, floats = c_int64(), c_int64()
        _core.columns_sizes(handle, ctypes.byref(ints), ctypes.byref(floats))
        numbers = np.empty(ints.value, np.int64)
        singles = np.empty(floats.value, np.float32)
        if not _core.columns_fill(handle, _address(numbers), _address(singles)):
            raise MemoryError
        columns = [
            _column(each, numbers, singles) for each in _items(handle, 0, _Column)
        ]
        damage = [
            Damage(each.row, each.at, _reason(each.reason, each.a, each.b))
            for each in _items(handle, 1, _Malformed)
        ]
        notes = [_note(handle, each) for each in _items(handle, 2, _Noted)]
    finally:
        _core.columns_free(handle)
    return columns, damage, notes, sequences.astype(np.bool_)


def _items(handle: int, what: int, kind: type[Any]) -> Iterator[Any]:
    count = c_int64()
    address = _core.columns_items(handle, what, ctypes.byref(count))
    if count.value:
        yield from (kind * count.value).from_address(address)


def _column(found: _Column, ints: Rows, floats: NDArray[np.float32]) -> RawColumn:
    at, count = found.ints, found.rows
    rows, lengths = ints[at : at + count], ints[at + count : at + 2 * count]
    at += 2 * count
    kind = None if found.kind == _LISTS else _KINDS[found.kind]
    values: NDArray[Any] = ints[:0]
    if kind == FLOAT:
        values = floats[found.floats : found.floats + found.values]
    elif kind == INT64:
        values = ints[at : at + found.values]
    elif kind == BYTES:
        values = ints[at : at + 2 * found.values].reshape(-1, 2)
    key = ctypes.string_at(found.name, found.size).decode()
    return RawColumn(key, kind, bool(found.of_steps), rows, lengths, values)


def _note(handle: int, found: _Noted) -> Note:
    key = ""
    if found.key >= 0:
        size = c_int64()
        of_lists = found.fact == _REPEATED and found.a == 1
        name = _core.columns_key(handle, of_lists, found.key, ctypes.byref(size))
        key = ctypes.string_at(name, size.value).decode()
    if found.fact == _UNKNOWN:
        return Note(found.row, "unknown", f"field {found.a} of {_MESSAGES[found.b]}")
    return Note(found.row, ("", "repeated", "unusual")[found.fact], key)


def _reason(reason: int, a: int, b: int) -> str:
    """Return why a record is malformed, in words; in the order of `enum Reason`."""
    return (
        "",
        "a number that has no end",
        f"the field number {a}",
        f"the wire type {a}",
        f"a field that ends {a} bytes behind what holds it",
        "a key that is not UTF-8",
        f"a number as field {a} of {_MESSAGES[b]}",
        "a bytes list that holds a number",
        f"{a} bytes in place of float values",
        "fixed-width numbers in an int64 list",
    )[reason]
