"""Columns of entries, and the records that the core in C writes of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from ctypes import Structure, c_char_p, c_int32, c_int64, c_void_p
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ..native import address, addresses, core, fill_frames
from ..native.memory import empty
from ..reading.columns import Rows
from ..shared.tfrecord import FOOTER_SIZE, FRAMING, HEADER_SIZE, Framed
from ..shared.wire import Buffer, Entry, Pieces

# `enum Form` and `enum Message` of encode.c
_ENTRIES, BYTES, FLOAT, INT64 = range(4)
_BARE, EXAMPLE, SEQUENCE_EXAMPLE = range(3)

# Records are written in runs of about so many bytes: enough for one write, and little
# enough for the processor's cache.
_RUN = 1 << 21


class Places(NamedTuple):
    """Bytes values in memory.

    Attributes:
        at: where each is, uint64 [N].
        sizes: how many bytes it has, int64 [N].
        memory: what has to stay as long as they are used.
    """

    at: NDArray[np.uint64]
    sizes: Rows
    memory: Any


@dataclass(frozen=True)
class EntryColumn:
    """The entry of one key in each row, as the values that it holds.

    Attributes:
        key: of the entry; None for a step of a feature list.
        form: BYTES, FLOAT or INT64, or entries as they are.
        values: int64 or float32 [N] of all rows; or bytes values.
        counts: how many values each row has: int64 [rows], or the same for all.
        of_lists: whether it is an entry of feature lists.
    """

    key: bytes | None
    form: int
    values: NDArray[Any] | Places
    counts: Rows | int = 1
    of_lists: bool = False


def numbers_column(
    entry: Entry, values: NDArray[Any], counts: Rows | int
) -> EntryColumn:
    """Return the column of lists of numbers.

    Args:
        entry: of the key.
        values: of all rows, as they are stored, of any shape.
        counts: how many each row has: int64 [rows], or the same for all.
    """
    dtype = np.float32 if entry.form == FLOAT else np.int64
    flat = np.ascontiguousarray(values.reshape(-1), dtype)
    return EntryColumn(entry.key, entry.form, flat, counts)


def bytes_column(
    entry: Entry, values: Sequence[Buffer], counts: Rows | int = 1
) -> EntryColumn:
    """Return the column of lists of bytes values.

    Args:
        entry: of the key.
        values: of all rows.
        counts: how many each row has: int64 [rows], or the same for all.
    """
    return EntryColumn(entry.key, BYTES, _places_of(values), counts)


def raw_column(entry: Entry, array: NDArray[Any], sizes: Rows) -> EntryColumn:
    """Return the column of raw numbers, one bytes value in each row.

    Args:
        entry: of the key.
        array: the numbers of all rows, contiguous and as they are stored.
        sizes: int64 [rows], how many bytes each row has.
    """
    begins = np.cumsum(sizes) - sizes + (address(array) if array.size else 0)
    places = Places(begins.astype(np.uint64), sizes, array)
    return EntryColumn(entry.key, BYTES, places)


def entries_column(entries: Iterable[Pieces]) -> EntryColumn:
    """Return the column of entries that are bytes already; without any where empty."""
    return EntryColumn(None, _ENTRIES, _places_of([b"".join(each) for each in entries]))


def _places_of(values: Sequence[Buffer]) -> Places:
    sizes = np.fromiter(map(len, values), np.int64, len(values))
    if set(map(type, values)) <= {bytes}:
        pointers: Any = (c_char_p * len(values))(*cast("Sequence[bytes]", values))
        at = (
            np.frombuffer(pointers, np.uint64) if len(values) else sizes.view(np.uint64)
        )
        return Places(at, sizes, (pointers, values))
    arrays = [np.frombuffer(value, np.uint8) for value in values]
    return Places(np.array([*map(address, arrays)], np.uint64), sizes, arrays)


def entries_of(column: EntryColumn, rows: int) -> list[bytes]:
    """Return the entry of each row as bytes."""
    records = Records([column], rows, _BARE)
    memory = bytes(records.write(0, rows))
    return [memory[a:b] for a, b in pairwise([0, *records.ends.tolist()])]


class Records:
    """Records that are measured, and written when they are asked for.

    Until then the values of the columns must stay as they are.

    Args:
        columns: in the order in which they are written.
        rows: how many there are.
        message: EXAMPLE or SEQUENCE_EXAMPLE.

    Attributes:
        ends: int64 [rows], where the frame of each ends.
    """

    def __init__(self, columns: Sequence[EntryColumn], rows: int, message: int) -> None:
        self._columns = columns
        self._structures = (_Written * len(columns))(*map(_written, columns))
        self._rows = rows
        self._message = message
        self._lists = np.empty((len(columns), rows), np.int64)
        self._maps = np.empty((rows, 2), np.int64)
        self.ends = np.empty(rows, np.int64)
        core.records_measure(
            *(self._structures, len(columns), rows, message),
            *addresses(self._lists, self._maps, self.ends),
        )

    @property
    def sizes(self) -> Rows:
        """How many bytes each record has: int64 [rows]."""
        return np.diff(self.ends, prepend=0) - FRAMING

    @property
    def is_empty(self) -> NDArray[np.bool_]:
        """Which rows have no entry: bool [rows]."""
        return np.logical_not(self._maps.any(axis=1))

    def write(self, first: int, last: int) -> memoryview:
        """Write the rows from one to another, those before having been written before."""
        start = int(self.ends[first - 1]) if first else 0
        out = empty(int(self.ends[last - 1]) - start if last else 0, np.uint8)
        core.records_write(
            *(self._structures, len(self._columns), self._rows, self._message),
            *addresses(self._lists, self._maps),
            *(first, last, address(out)),
        )
        return out.data

    def framed(self) -> Iterator[Framed]:
        """Yield the records in their frames, about a megabyte at a time."""
        for first, last in self._runs():
            start = int(self.ends[first - 1]) if first else 0
            ends = self.ends[first:last] - start
            data = self.write(first, last)
            fill_frames(data, ends)
            yield Framed(data, ends)

    def unframed(self) -> list[bytes]:
        """Return the records alone."""
        found: list[bytes] = []
        for first, last in self._runs():
            memory = self.write(first, last)
            start = int(self.ends[first - 1]) if first else 0
            bounds = pairwise([0, *(self.ends[first:last] - start).tolist()])
            found += [
                memory[begin + HEADER_SIZE : end - FOOTER_SIZE].tobytes()
                for begin, end in bounds
            ]
        return found

    def _runs(self) -> Iterator[tuple[int, int]]:
        """Yield the rows of each run, from one to another: one row at least."""
        first, start = 0, 0
        while first < self._rows:
            last = int(np.searchsorted(self.ends, start + _RUN, "right"))
            last = max(first + 1, last)
            yield first, last
            first, start = last, int(self.ends[last - 1])


class _Written(Structure):
    _fields_ = (
        ("key", c_char_p),
        ("key_size", c_int64),
        ("form", c_int32),
        ("of_lists", c_int32),
        ("counts", c_void_p),
        ("each", c_int64),
        ("ints", c_void_p),
        ("floats", c_void_p),
        ("places", c_void_p),
        ("sizes", c_void_p),
        ("next", c_int64),
    )


def _written(column: EntryColumn) -> _Written:
    key, counts, values = column.key, column.counts, column.values
    written = _Written(
        key=key,
        key_size=-1 if key is None else len(key),
        form=column.form,
        of_lists=column.of_lists,
    )
    if isinstance(counts, int):
        written.each = counts
    else:
        written.counts = address(counts)
    if isinstance(values, Places):
        written.places, written.sizes = addresses(values.at, values.sizes)
    elif column.form == FLOAT:
        written.floats = address(values)
    else:
        written.ints = address(values)
    return written
