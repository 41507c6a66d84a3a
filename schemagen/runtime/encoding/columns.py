"""Whole columns as bytes, and how they come together in records.

A column of entries is a list of strands. A strand has a run of bytes for each row, and
a row's bytes are those of all strands in order. Wide values are strands of a run each,
without copying; narrow ones, such as numbers, are cells of a table of bytes: the cells
of neighbouring columns are laid side by side and cut into rows at once, so that a
number in a column costs little more than its bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared.tfrecord import table_rows
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
class Cells:
    """A strand that takes equally many bytes of a table in each row.

    Attributes:
        table: uint8 [rows, W].
        written: bool [rows, W], which of them belong to the row; None for all.
    """

    table: NDArray[np.uint8]
    written: NDArray[np.bool_] | None = None


Strand = Cells | Sequence[Buffer]
Strands = list[Strand]
Runs = list[Sequence[Buffer]]


def strands_of(entries: Iterable[Pieces]) -> Strands:
    """Return the entries of a column, given as the pieces of each row, as strands."""
    return list(zip_longest(*entries, fillvalue=b""))


def runs_of(strands: Strands) -> Runs:
    """Return strands as runs of bytes, one or none for each row in each of them."""
    runs: Runs = []
    beside: list[Cells] = []
    for strand in strands:
        if isinstance(strand, Cells):
            beside.append(strand)
            continue
        if beside:
            runs.append(_cut(beside))
            beside = []
        runs.append(strand)
    if beside:
        runs.append(_cut(beside))
    return runs


def sizes_of(runs: Runs, rows: int) -> NDArray[np.int64]:
    """Return how many bytes each row has in all of the runs: int64 [rows]."""
    sizes = np.zeros(rows, np.int64)
    for run in runs:
        sizes += np.fromiter(map(len, run), np.int64, rows)
    return sizes


def joined(runs: Runs) -> list[bytes]:
    """Return the bytes of each row in one piece; no rows if there are no runs."""
    return [*map(b"".join, zip(*runs, strict=True))]


def joined_rows(strands: Strands, rows: int) -> list[bytes]:
    """Return the same of strands, of which there may be none."""
    return joined(runs_of(strands)) or [b""] * rows


def _cut(cells: list[Cells]) -> list[bytes]:
    """Lay cells side by side and cut them into rows."""
    table = np.concatenate([cell.table for cell in cells], axis=1)
    rows, width = table.shape
    if all(cell.written is None for cell in cells):
        return table_rows(table)
    written = np.ones(table.shape, np.bool_)
    at = 0
    for cell in cells:
        end = at + cell.table.shape[1]
        if cell.written is not None:
            written[:, at:end] = cell.written
        at = end
    cut: list[bytes] = []
    block = max(1, _BLOCK // width)
    for first in range(0, rows, block):
        part = table[first : first + block]
        ends = np.arange(1, len(part) + 1) * width
        cut += written_rows(part, written[first : first + block], ends)
    return cut


def repeated(run: bytes, rows: int) -> Cells:
    """Return a strand with the same bytes in every row."""
    return Cells(np.broadcast_to(np.frombuffer(run, np.uint8), (rows, len(run))))


def fixed_strands(head: bytes, array: NDArray[Any], rows: int) -> Strands:
    """Return the entries of values that take equally many bytes.

    Args:
        head: what comes before each value.
        array: the values of all rows, contiguous and as they are stored.
        rows: how many of them there are, at least one.
    """
    size = array.nbytes // rows
    if size <= _NARROW:
        table = array.reshape(-1).view(np.uint8).reshape(rows, size)
        return [repeated(head, rows), Cells(table)]
    memory = buffer_of(array)
    runs = [memory[at : at + size] for at in range(0, size * rows, size)]
    return [repeated(head, rows), runs]


def varint_strands(entry: Entry, values: NDArray[np.int64]) -> Strands:
    """Return the entries of equally many integers in each row: int64 [rows, N]."""
    rows, count = values.shape
    if not count:
        return [repeated(entry.empty, rows)]
    width = largest_varint(values)
    if width * count > _NARROW:
        lengths = np.full(rows, count, np.int64)
        return run_strands(entry, pack_rows(values.reshape(-1), lengths))
    table, written = varint_table(values.reshape(-1))
    table = table[:, :width].reshape(rows, -1)
    written = written[:, :width].reshape(rows, -1)
    sizes = np.add.reduce(written, axis=1, dtype=np.intp)
    least, most = int(sizes.min()), int(sizes.max())
    if least == table.shape[1]:
        return [repeated(entry.packed_head(least), rows), Cells(table)]
    heads = [entry.packed_head(size) for size in range(least, most + 1)]
    if len(set(map(len, heads))) > 1:
        ends = np.arange(1, rows + 1) * table.shape[1]
        return run_strands(entry, written_rows(table, written, ends))
    head_table = np.frombuffer(b"".join(heads), np.uint8).reshape(len(heads), -1)
    return [Cells(head_table.take(sizes - least, axis=0)), Cells(table, written)]


def run_strands(entry: Entry, runs: Sequence[Buffer]) -> Strands:
    """Return the entries of packed numbers, given as the bytes of each row's."""
    heads = [entry.packed_head(len(run)) if len(run) else entry.empty for run in runs]
    return [heads, runs]


def value_strands(entry: Entry, values: Sequence[Buffer]) -> Strands:
    """Return the entries of one value of bytes in each row."""
    return [[*map(entry.packed_head, map(len, values))], values]


def buffer_of(array: NDArray[Any]) -> Buffer:
    """Return a contiguous array's memory as bytes, without copying it."""
    return array.reshape(-1).data.cast("B") if array.size else b""
