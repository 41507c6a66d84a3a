"""Sorting records by key and position, and finding keys that are not unique."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import DatasetError
from ..shared.tfrecord import Framed
from .bucket_file import Block, Entries

# How much is delivered at a time. Small records are limited by their number: while
# they are put together, each takes some hundred bytes more.
_PIECE_BYTES = 1 << 20
_PIECE_RECORDS = 1 << 13

Position = tuple[int, int]
"""The part of a source and the row in it."""


class DuplicateKeyError(DatasetError):
    """Two records have the same value in the key field.

    Attributes:
        key_field: the field's name.
        first: part and row of one of them, the one that comes first in the source.
        second: part and row of another.
        parts: whether the source has several parts.
    """

    def __init__(
        self, key_field: str, first: Position, second: Position, parts: bool
    ) -> None:
        super().__init__(key_field, first, second, parts)
        self.key_field = key_field
        self.first = first
        self.second = second
        self.parts = parts

    def __str__(self) -> str:
        (part, row), (other_part, other_row) = self.first, self.second
        if self.parts:
            where = f"row {row} of part {part} and row {other_row} of part {other_part}"
        else:
            where = f"rows {row} and {other_row}"
        return (
            f"key field {self.key_field!r}: {where} have the same value, expected one of "
            "its own in every row; remove one of them, or take another key field"
        )


def sorting(entries: Entries, key_field: str | None, parts: bool) -> NDArray[np.intp]:
    """Return what sorts entries by key and position.

    Args:
        entries: ENTRY [records].
        key_field: the field whose values the keys stand for, if they do.
        parts: whether positions are in several parts, for the error.

    Returns:
        The places of the entries in sorted order.

    Raises:
        DuplicateKeyError: two keys of a key field are equal.
    """
    high = entries["high"]
    order = np.argsort(high)
    high = high[order]
    if not (high[1:] == high[:-1]).any():
        return order
    order = np.lexsort([entries[name] for name in ("row", "part", "low", "high")])
    if key_field is not None:
        found = entries[order]
        same = found["high"][1:] == found["high"][:-1]
        same &= found["low"][1:] == found["low"][:-1]
        if same.any():
            at = int(same.argmax())
            pair = found[["part", "row"]][at : at + 2].tolist()
            raise DuplicateKeyError(key_field, pair[0], pair[1], parts)
    return order


def sorted_records(
    blocks: Iterable[Block], key_field: str | None, parts: bool, skip: int
) -> Iterator[Framed]:
    """Yield the records of some blocks in order, about 1 MiB at a time.

    Args:
        blocks: all are held in memory.
        key_field: as for `sorting`.
        parts: as for `sorting`.
        skip: how many records to leave out at the beginning.

    Raises:
        DuplicateKeyError: two keys of a key field are equal.
    """
    listed: list[Entries] = []
    sources: list[bytes] = []
    starts: list[NDArray[np.int64]] = []
    for block in blocks:
        listed.append(block.entries)
        sources.append(block.data)
        starts.append(np.cumsum(block.entries["size"]) - block.entries["size"])
    numbers = np.repeat(np.arange(len(sources)), [len(some) for some in listed])
    entries = np.concatenate(listed)
    listed.clear()
    order = sorting(entries, key_field, parts)[skip:]
    sizes = entries["size"][order]
    del entries
    numbers = numbers[order]
    begins = np.concatenate(starts)[order]
    ends = begins + sizes
    total = np.cumsum(sizes)
    first = 0
    while first < len(order):
        before = int(total[first] - sizes[first])
        last = int(np.searchsorted(total, before + _PIECE_BYTES, "right"))
        some = slice(first, min(max(last, first + 1), first + _PIECE_RECORDS))
        places = zip(
            numbers[some].tolist(),
            begins[some].tolist(),
            ends[some].tolist(),
            strict=True,
        )
        data = b"".join([sources[at][start:end] for at, start, end in places])
        yield Framed(data, total[some] - before)
        first = some.stop
