"""What rows hold under each key, and the records that the core in C writes of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ctypes import Structure, c_char_p, c_int32, c_int64, c_void_p
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ..native import address, addresses, core, fill_frames
from ..native.memory import empty
from ..shared.tfrecord import FOOTER_SIZE, FRAMING, HEADER_SIZE, Framed
from ..shared.wire import Buffer
from .columns import NO_BYTES, Column, Rows, extents
from .part import BYTES, FLOAT, INT, Part

Stored = Sequence[Any] | NDArray[Any]
"""What one row holds under one key: numbers, an array [N] of them, or bytes values."""

# `enum Form` and `enum Message` of encode.c
_FORMS = {BYTES: 1, FLOAT: 2, INT: 3}
EXAMPLE, SEQUENCE_EXAMPLE = range(2)

# Records are written in runs of about so many bytes: enough for one write, and little
# enough for the processor's cache.
_RUN = 1 << 21


@dataclass(frozen=True)
class RawRows:
    """Raw numbers: one bytes value in each row.

    Attributes:
        array: the numbers of all rows, contiguous and as they are stored.
        sizes: int64 [rows], how many bytes each row has.
    """

    array: NDArray[Any]
    sizes: Rows


@dataclass(frozen=True)
class Written:
    """What all rows hold under one key: a feature each, or a list of features.

    Attributes:
        values: int64 or float32 [N] of all rows, or bytes values.
        counts: how many each feature has, -1 where a row has none: int64 [features], or
            the same for all.
        steps: how many features each row has in its list, -1 for no list: int64 [rows];
            None where each row has one feature, and no list.
    """

    values: NDArray[Any] | Sequence[Buffer] | RawRows
    counts: Rows | int = 1
    steps: Rows | None = None

    def scattered(self, given: Sequence[int], rows: int) -> Written:
        """Return what these rows are of several, of which the others hold nothing."""
        spread = np.full(rows, -1)
        if self.steps is not None:
            spread[given] = self.steps
            return replace(self, steps=spread)
        spread[given] = self.counts
        return replace(self, counts=spread)

    def lists(self, rows: int) -> list[list[Any] | None]:
        """Return what each row holds; None if it holds nothing."""
        counts = np.broadcast_to(self.counts, rows)
        ends = np.cumsum(np.maximum(counts, 0)).tolist()
        values: Any = self.values
        if isinstance(values, np.ndarray):
            values = values.tolist()
        return [
            None if count < 0 else [*values[end - count : end]]
            for count, end in zip(counts.tolist(), ends, strict=True)
        ]


def written_numbers(part: Part, values: NDArray[Any], counts: Rows | int) -> Written:
    """Return the lists of numbers of all rows.

    Args:
        part: where they are stored.
        values: of all rows, of any shape and dtype.
        counts: how many each row has: int64 [rows], or the same for all.
    """
    return Written(np.ascontiguousarray(values.reshape(-1), part.stored), counts)


def joined(part: Part, rows: Sequence[Stored]) -> Written:
    """Return what all rows hold in a part, given what each holds."""
    counts = np.fromiter(map(len, rows), np.int64, len(rows))
    if part.stored == BYTES:
        return Written([*chain.from_iterable(rows)], counts)
    if {*map(type, rows)} == {np.ndarray}:
        return written_numbers(part, np.concatenate(rows), counts)
    flat = [*chain.from_iterable(rows)]
    return written_numbers(part, np.array(flat, part.stored), counts)


def column_of_written(part: Part, written: Written, count: int) -> Column:
    """Return what features hold under a key as readers will have it.

    Args:
        part: where it is stored.
        written: what is stored, of rows or of all their steps.
        count: how many features there are, those that hold nothing included.
    """
    counts = np.broadcast_to(written.counts, count)
    rows, values = np.flatnonzero(counts >= 0), written.values
    lengths = counts[rows]
    if isinstance(values, np.ndarray):
        return Column(part.key, part.kind, rows, lengths, values, NO_BYTES)
    if isinstance(values, RawRows):
        data, sizes = values.array.reshape(-1).view(np.uint8), values.sizes
    else:
        data = np.frombuffer(b"".join(values), np.uint8)
        sizes = np.fromiter(map(len, values), np.int64, len(values))
    return Column(part.key, part.kind, rows, lengths, extents(sizes), data)


class WrittenRecords:
    """Records that are measured, and written when they are asked for.

    Until then the values of the columns must stay as they are.

    Args:
        columns: what the rows hold in each part, in the order in which it is written.
        rows: how many there are.
        message: EXAMPLE or SEQUENCE_EXAMPLE.

    Attributes:
        ends: int64 [rows], where the frame of each ends.
    """

    def __init__(
        self, columns: Sequence[tuple[Part, Written]], rows: int, message: int
    ) -> None:
        self._memory = [
            (
                *(part, written),
                None
                if isinstance(written.values, np.ndarray)
                else _places(written.values),
            )
            for part, written in columns
        ]
        self._columns = (_WrittenStruct * len(columns))(
            *(_column(*each) for each in self._memory)
        )
        self._rows = rows
        self._message = message
        self._values = np.empty((len(columns), rows), np.int64)
        self._maps = np.empty((rows, 2), np.int64)
        self.ends = np.empty(rows, np.int64)
        core.records_measure(
            *(self._columns, len(columns), rows, message),
            *addresses(self._values, self._maps, self.ends),
        )

    @property
    def sizes(self) -> Rows:
        """How many bytes each record has: int64 [rows]."""
        return np.diff(self.ends, prepend=0) - FRAMING

    @property
    def entry_sizes(self) -> Rows:
        """How many bytes the entries of each record have: int64 [rows]."""
        sizes: Rows = self._maps.sum(axis=1)
        return sizes

    def write(self, first: int, last: int) -> memoryview:
        """Write the rows from one to another, those before having been written before."""
        start = int(self.ends[first - 1]) if first else 0
        out = empty(int(self.ends[last - 1]) - start if last else 0, np.uint8)
        core.records_write(
            *(self._columns, len(self._columns), self._rows, self._message),
            *addresses(self._values, self._maps),
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


class _BytesPointers(NamedTuple):
    """Bytes values in memory.

    Attributes:
        at: where each is, uint64 [N].
        sizes: how many bytes it has, int64 [N].
        memory: what has to stay as long as they are used.
    """

    at: NDArray[np.uint64]
    sizes: Rows
    memory: Any


def _places(values: Sequence[Buffer] | RawRows) -> _BytesPointers:
    if isinstance(values, RawRows):
        start = address(values.array) if values.array.size else 0
        at = np.cumsum(values.sizes) - values.sizes + start
        return _BytesPointers(at.astype(np.uint64), values.sizes, values)
    sizes = np.fromiter(map(len, values), np.int64, len(values))
    if not len(values):
        return _BytesPointers(sizes.view(np.uint64), sizes, values)
    if set(map(type, values)) == {bytes}:
        pointers: Any = (c_char_p * len(values))(*cast("Sequence[bytes]", values))
        return _BytesPointers(
            np.frombuffer(pointers, np.uint64), sizes, (pointers, values)
        )
    arrays = [np.frombuffer(value, np.uint8) for value in values]
    return _BytesPointers(np.array([*map(address, arrays)], np.uint64), sizes, arrays)


class _WrittenStruct(Structure):
    """`Written` of encode.c."""

    _fields_ = (
        ("key", c_char_p),
        ("key_size", c_int64),
        ("form", c_int32),
        ("of_lists", c_int32),
        ("steps", c_void_p),
        ("counts", c_void_p),
        ("each", c_int64),
        ("ints", c_void_p),
        ("floats", c_void_p),
        ("places", c_void_p),
        ("sizes", c_void_p),
        ("next_feature", c_int64),
        ("next", c_int64),
    )


def _column(
    part: Part, written: Written, places: _BytesPointers | None
) -> _WrittenStruct:
    key, counts, steps = part.key.encode(), written.counts, written.steps
    column = _WrittenStruct(key=key, key_size=len(key), form=_FORMS[part.stored])
    if steps is not None:
        column.of_lists, column.steps = 1, address(steps)
    if isinstance(counts, int):
        column.each = counts
    else:
        column.counts = address(counts)
    if places is not None:
        column.places, column.sizes = addresses(places.at, places.sizes)
    elif part.stored == FLOAT:
        column.floats = address(cast("NDArray[Any]", written.values))
    else:
        column.ints = address(cast("NDArray[Any]", written.values))
    return column
