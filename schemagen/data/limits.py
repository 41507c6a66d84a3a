"""Limits on the size of a record, so that a small file cannot fill the memory."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from .message import MalformedError, tagged

MAX_RECORD_BYTES = 1 << 28
"""The most bytes of a record that is read, unless the user raises it: 256 MiB."""

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMG]?)(?:i?B)?", re.IGNORECASE)

# How many bytes of a record allow one value. A packed number takes up to 32 bytes while
# it is decoded; values that take Python objects count as several.
_BYTES_A_VALUE, _FEWEST_VALUES = 16, 1 << 12
_NUMBER_VALUES, _BYTES_VALUES, _STEP_VALUES, _ENTRY_VALUES = 2, 4, 8, 32

# No byte of a record costs more than this many values: an entry has two or more.
_MOST_VALUES_A_BYTE = _ENTRY_VALUES // 2

_BYTES, _FLOAT, _INT64 = 1, 2, 3
_SIZED, _FIRST, _BLOCK = 2, 0x0A, 1 << 20


def byte_count(text: str) -> int:
    """Read a size such as "256MB", "1GiB" or "4096"; units are powers of 1,024.

    Raises:
        ValueError: it is not a size of at least one byte.
    """
    match = _SIZE.fullmatch(text.strip())
    size = int(float(match[1]) * _UNITS[match[2].upper()]) if match else 0
    if size < 1:
        raise ValueError(f"{text!r} is not a size; expected one such as 256MB or 2GB")
    return size


def size_text(size: int) -> str:
    """Write a number of bytes so that `byte_count` reads it again, rounded up."""
    for unit, factor in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if size >= factor:
            return f"{-(-size // factor)}{unit}"
    return str(size)


def most_values(max_record_bytes: int) -> int:
    """Return how many values a record may hold."""
    return max(_FEWEST_VALUES, max_record_bytes // _BYTES_A_VALUE)


def may_have_many(sizes: NDArray[np.int64], max_record_bytes: int) -> NDArray[np.bool_]:
    """Return which records are long enough to hold more values than may be decoded."""
    return sizes * _MOST_VALUES_A_BYTE > most_values(max_record_bytes)


def has_many_values(record: memoryview, max_record_bytes: int) -> bool:
    """Return whether a record holds more values than may be decoded.

    A bytes value, a step of a feature list and an entry of a map count as several.
    """
    try:
        _Counting(record, most_values(max_record_bytes)).record()
    except _Exceeded:
        return True
    except MalformedError:
        pass  # decoding says where
    return False


class _Exceeded(Exception):
    """There are more values than allowed."""


class _Counting:
    """Counts the values of a record without holding any.

    Args:
        data: the record.
        left: the most values that it may have.

    Raises:
        _Exceeded: by any method, if it has more.
        MalformedError: it is not a tf.train.Example or SequenceExample.
    """

    def __init__(self, data: memoryview, left: int) -> None:
        self._data = data
        self._left = left

    def record(self) -> None:
        """Count the values of the whole record."""
        for number, wire, at, until in tagged(self._data, 0, len(self._data)):
            if wire == _SIZED and number in (1, 2):
                self._map(at, until, in_steps=number == 2)

    def _take(self, values: int) -> None:
        self._left -= values
        if self._left < 0:
            raise _Exceeded

    def _map(self, start: int, stop: int, *, in_steps: bool) -> None:
        for _, wire, at, until in tagged(self._data, start, stop):
            self._take(_ENTRY_VALUES)
            if wire != _SIZED:
                continue
            for number, kind, begin, end in tagged(self._data, at, until):
                if number == 2 and kind == _SIZED and in_steps:
                    self._steps(begin, end)
                elif number == 2 and kind == _SIZED:
                    self._feature(begin, end)

    def _steps(self, start: int, stop: int) -> None:
        for _, wire, at, until in tagged(self._data, start, stop):
            self._take(_STEP_VALUES)
            if wire == _SIZED and at < until:
                self._feature(at, until)

    def _feature(self, start: int, stop: int) -> None:
        for number, wire, at, until in tagged(self._data, start, stop):
            if wire == _SIZED:
                self._list(number, at, until)

    def _list(self, kind: int, start: int, stop: int) -> None:
        if kind == _BYTES:
            start = self._short_bytes(start, stop)
        for _, wire, at, until in tagged(self._data, start, stop):
            self._take(_BYTES_VALUES if kind == _BYTES else _NUMBER_VALUES)
            if wire == _SIZED and kind == _FLOAT:
                self._take((until - at) // 4)
            elif wire == _SIZED and kind == _INT64:
                self._varints(at, until)

    def _short_bytes(self, start: int, stop: int) -> int:
        """Count the short values at the beginning of a list, and return where they end.

        This is many times as fast as `tagged`.
        """
        data, at, last = self._data, start, stop - 1
        most = self._left // _BYTES_VALUES
        found = 0
        while at < last and found <= most and data[at] == _FIRST:
            behind = at + 2 + data[at + 1]
            if data[at + 1] >= 0x80 or behind > stop:
                break
            at = behind
            found += 1
        self._take(found * _BYTES_VALUES)
        return at

    def _varints(self, start: int, stop: int) -> None:
        for at in range(start, stop, _BLOCK):
            block = np.frombuffer(self._data[at : min(stop, at + _BLOCK)], np.uint8)
            self._take(int(np.count_nonzero(block < 0x80)))
