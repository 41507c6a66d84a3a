"""Columns of entries as bytes, and their concatenation to records.

A column of entries is a list of buffer columns. A buffer column has a chunk of bytes for
each row; the entry of a row is the concatenation of its chunks. Wide values are chunks that
refer to their memory. Narrow ones, such as numbers, are slices of a table of bytes: adjacent
slices are joined and cut into rows at once, so that a number costs little more than its
bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared.wire import (
    Buffer,
    Entry,
    Pieces,
    largest_varint,
    pack_rows,
    varint_table,
    written_rows,
)

# From here on a row's bytes are better left where they are than copied to a table.
_NARROW = 256

# How many bytes of a table are cut into rows at once, to stay in the cache.
_BLOCK = 1 << 16


@dataclass(frozen=True)
class TableSlice:
    """A buffer column that takes equally many bytes of a table in each row.

    Attributes:
        table: uint8 [rows, W].
        written: bool [rows, W], the bytes that belong to the row; None for all.
    """

    table: NDArray[np.uint8]
    written: NDArray[np.bool_] | None = None


BufferColumn = TableSlice | Sequence[Buffer]
BufferColumns = list[BufferColumn]
Chunks = list[Sequence[Buffer]]


def buffer_columns(entries: Iterable[Pieces]) -> BufferColumns:
    """Return the entries of a column, given as the pieces of each row."""
    return list(zip_longest(*entries, fillvalue=b""))


def chunks_of(buffers: BufferColumns) -> Chunks:
    """Return the chunks of buffer columns, adjacent slices of tables as one."""
    chunks: Chunks = []
    adjacent: list[TableSlice] = []
    for buffer in buffers:
        if isinstance(buffer, TableSlice):
            adjacent.append(buffer)
            continue
        if adjacent:
            chunks.append(_cut(adjacent))
            adjacent = []
        chunks.append(buffer)
    if adjacent:
        chunks.append(_cut(adjacent))
    return chunks


def sizes_of(chunks: Chunks, rows: int) -> NDArray[np.int64]:
    """Return how many bytes each row has in all of the chunks: int64 [rows]."""
    sizes = np.zeros(rows, np.int64)
    for chunk in chunks:
        sizes += np.fromiter(map(len, chunk), np.int64, rows)
    return sizes


def joined(chunks: Chunks) -> list[bytes]:
    """Return the bytes of each row in one piece; no rows if there are no chunks."""
    return [*map(b"".join, zip(*chunks, strict=True))]


def joined_rows(buffers: BufferColumns, rows: int) -> list[bytes]:
    """Return the bytes of each row of buffer columns, of which there may be none."""
    return joined(chunks_of(buffers)) or [b""] * rows


def _cut(slices: list[TableSlice]) -> list[bytes]:
    """Join adjacent slices and cut them into rows."""
    table = np.concatenate([each.table for each in slices], axis=1)
    rows, width = table.shape
    if all(each.written is None for each in slices):
        memory = table.tobytes()
        return [memory[at : at + width] for at in range(0, len(memory), width)]
    written = np.ones(table.shape, np.bool_)
    at = 0
    for each in slices:
        end = at + each.table.shape[1]
        if each.written is not None:
            written[:, at:end] = each.written
        at = end
    cut: list[bytes] = []
    block = max(1, _BLOCK // width)
    for first in range(0, rows, block):
        part = table[first : first + block]
        ends = np.arange(1, len(part) + 1) * width
        cut += written_rows(part, written[first : first + block], ends)
    return cut


def repeated(chunk: bytes, rows: int) -> TableSlice:
    """Return a buffer column with the same bytes in every row."""
    return TableSlice(
        np.broadcast_to(np.frombuffer(chunk, np.uint8), (rows, len(chunk)))
    )


def fixed_buffers(head: bytes, array: NDArray[Any], rows: int) -> BufferColumns:
    """Return the entries of values that take equally many bytes.

    Args:
        head: what comes before each value.
        array: the values of all rows, contiguous and as they are stored.
        rows: how many of them there are, at least one.
    """
    size = array.nbytes // rows
    if size <= _NARROW:
        table = array.reshape(-1).view(np.uint8).reshape(rows, size)
        return [repeated(head, rows), TableSlice(table)]
    memory = buffer_of(array)
    chunks = [memory[at : at + size] for at in range(0, size * rows, size)]
    return [repeated(head, rows), chunks]


def varint_buffers(entry: Entry, values: NDArray[np.int64]) -> BufferColumns:
    """Return the entries of equally many integers in each row: int64 [rows, N]."""
    rows, count = values.shape
    if not count:
        return [repeated(entry.empty, rows)]
    width = largest_varint(values)
    if width * count > _NARROW:
        lengths = np.full(rows, count, np.int64)
        return list_buffers(entry, pack_rows(values.reshape(-1), lengths))
    table, written = varint_table(values.reshape(-1))
    table = table[:, :width].reshape(rows, -1)
    written = written[:, :width].reshape(rows, -1)
    sizes = np.add.reduce(written, axis=1, dtype=np.intp)
    least, most = int(sizes.min()), int(sizes.max())
    if least == table.shape[1]:
        return [repeated(entry.packed_head(least), rows), TableSlice(table)]
    heads = [entry.packed_head(size) for size in range(least, most + 1)]
    if len(set(map(len, heads))) > 1:
        ends = np.arange(1, rows + 1) * table.shape[1]
        return list_buffers(entry, written_rows(table, written, ends))
    head_table = np.frombuffer(b"".join(heads), np.uint8).reshape(len(heads), -1)
    return [
        TableSlice(head_table.take(sizes - least, axis=0)),
        TableSlice(table, written),
    ]


def list_buffers(entry: Entry, chunks: Sequence[Buffer]) -> BufferColumns:
    """Return the entries of packed numbers, given as the bytes of each row's."""
    heads = [
        entry.packed_head(len(chunk)) if len(chunk) else entry.empty for chunk in chunks
    ]
    return [heads, chunks]


def value_buffers(entry: Entry, values: Sequence[Buffer]) -> BufferColumns:
    """Return the entries of one value of bytes in each row."""
    return [[*map(entry.packed_head, map(len, values))], values]


def buffer_of(array: NDArray[Any]) -> Buffer:
    """Return a contiguous array's memory as bytes, without copying it."""
    return array.reshape(-1).data.cast("B") if array.size else b""
