"""Records sorted by key on disk: files of buckets, and the order within one of them.

A bucket's file is a sequence of blocks. A block is a header, an array of `ENTRY` with one
item for each record, and the framed records one after the other. Whatever a crash or a
disk does to the file, reading it gives the records that were written or an error.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from google_crc32c import value as crc32c  # type: ignore[import-untyped, unused-ignore]
from numpy.typing import NDArray

from ..shared.errors import DatasetError
from ..shared.tfrecord import Framed
from ..storage.local import named

ENTRY = np.dtype(
    [("high", "<u8"), ("low", "<u8"), ("part", "<i8"), ("row", "<i8"), ("size", "<i8")]
)
"""A record's key (two words), its position, and how many bytes it has when framed."""

Entries = NDArray[np.void]

# How many records, how many bytes they have, and the checksums of entries and bytes;
# then the checksum of the header itself.
_HEADER = struct.Struct("<4sQQII")
_CHECKSUM = struct.Struct("<I")
_MAGIC = b"SGB1"
_HEADER_SIZE = _HEADER.size + _CHECKSUM.size


_INDEX = "index.json"
_FORMAT = 2


@dataclass(frozen=True, slots=True)
class Block:
    """Records that were written to a bucket together.

    Attributes:
        entries: ENTRY [records].
        data: the framed records, one after the other.
    """

    entries: Entries
    data: bytes


def add_block(path: Path, entries: Entries, data: bytes) -> int:
    """Append a block to a bucket's file and return how many bytes it takes there.

    Raises:
        OSError: the disk refuses, naming the file, which is torn then.
    """
    listed = entries.tobytes()
    header = _HEADER.pack(_MAGIC, len(entries), len(data), crc32c(listed), crc32c(data))
    pieces = (header, _CHECKSUM.pack(crc32c(header)), listed, data)
    block = memoryview(b"".join(pieces))
    rest = block
    with named(path), path.open("ab", buffering=0) as file:
        while rest:
            rest = rest[file.write(rest) :]
    return len(block)


def read_blocks(path: Path) -> Iterator[Block]:
    """Yield the blocks of a bucket's file, one in memory at a time.

    Raises:
        DatasetError: the file is damaged.
        OSError: it cannot be read.
    """
    place = 0
    with path.open("rb") as file:
        while header := file.read(_HEADER_SIZE):
            if len(header) < _HEADER_SIZE:
                raise _damaged(path, place, "the file ends inside its header")
            magic, records, size, entries_sum, data_sum = _HEADER.unpack_from(header)
            (checksum,) = _CHECKSUM.unpack_from(header, _HEADER.size)
            if magic != _MAGIC or checksum != crc32c(header[: _HEADER.size]):
                raise _damaged(path, place, "its header is not what was written")
            listed = file.read(records * ENTRY.itemsize)
            data = file.read(size)
            missing = records * ENTRY.itemsize + size - len(listed) - len(data)
            if missing:
                raise _damaged(path, place, f"the file ends {missing} bytes too early")
            if crc32c(listed) != entries_sum or crc32c(data) != data_sum:
                raise _damaged(path, place, "its checksum does not match")
            yield Block(np.frombuffer(listed, ENTRY), data)
            place += _HEADER_SIZE + len(listed) + size


def _damaged(path: Path, place: int, what: str) -> DatasetError:
    return DatasetError(
        f"{path}: the block at byte {place} of this bucket of a shuffle is damaged: "
        f"{what}; delete the folder {path.parent} and write the split from the start"
    )


@dataclass(frozen=True)
class Index:
    """What a folder of buckets holds, once all has been added.

    Attributes:
        bits: how many bits of the keys tell its buckets apart.
        records: how many records each bucket has.
        bytes: how long each bucket's file is.
        parts: whether positions are in several parts.
        key_field: the field whose values the keys stand for, if they do.
        refused: the rows that were left out, as JSON objects.
    """

    bits: int
    records: list[int]
    bytes: list[int]
    parts: bool
    key_field: str | None
    refused: list[dict[str, Any]]


def save_index(folder: Path, index: Index) -> None:
    """Write a folder's index in one step."""
    text = json.dumps({"format": _FORMAT, **asdict(index)}, sort_keys=True)
    temporary = folder / f"{_INDEX}.tmp"
    with named(temporary):
        temporary.write_text(f"{crc32c(text.encode()):08x} {text}", encoding="utf-8")
    os.replace(temporary, folder / _INDEX)


def load_index(folder: Path) -> Index | None:
    """Return a folder's index; None if it has none, or none that is whole."""
    try:
        checksum, _, text = (folder / _INDEX).read_bytes().partition(b" ")
    except FileNotFoundError:
        return None
    if checksum != f"{crc32c(text):08x}".encode():
        return None
    data = json.loads(text)
    return Index(**data) if data.pop("format") == _FORMAT else None


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
) -> Iterator[tuple[NDArray[np.uint64], Framed]]:
    """Yield the keys and records of some blocks in order, about 1 MiB at a time.

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
    keys = np.stack([entries[word][order] for word in ("high", "low")], axis=1)
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
        yield keys[some], Framed(data, total[some] - before)
        first = some.stop
