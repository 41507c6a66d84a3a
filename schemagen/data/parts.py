"""Cutting files into parts that are read side by side, wherever that is possible."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..runtime.shared.tfrecord import checksum_bytes, crc32c_of_lengths
from .compression import compression_of

PART_BYTES = 1 << 26
"""About how many bytes of one file make a part."""

_HEADER, _FRAMING = 12, 16

# So many headers are held and checked at a time: a part may hold millions.
_HEADERS = 1 << 14
_LENGTH = struct.Struct("<Q")


@dataclass(frozen=True)
class Part:
    """Some of a file's records.

    Attributes:
        path: the file.
        start: where they begin.
        stop: where they end; None for the file's end.
        first: the number of the first one.
    """

    path: Path
    start: int = 0
    stop: int | None = None
    first: int = 0


def parts_of(path: Path, part_bytes: int = PART_BYTES) -> Iterator[Part]:
    """Cut a file at the beginnings of records.

    Files that are small, compressed or cannot be read are one part. Behind a damaged
    length nothing says where a record begins: all that follows is one part.
    """
    try:
        size = path.stat().st_size
        if size < 2 * part_bytes:
            yield Part(path)
            return
        with path.open("rb") as file:
            if compression_of(file.read(_HEADER)) != "":
                yield Part(path)
                return
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                yield from _cut(path, data, part_bytes)
    except (OSError, ValueError):
        yield Part(path)


def _cut(path: Path, data: mmap.mmap, part_bytes: int) -> Iterator[Part]:
    start = first = 0
    while len(data) - start >= 2 * part_bytes:
        stop, count = _walk(data, start, part_bytes)
        if stop is None:
            break
        yield Part(path, start, stop, first)
        start, first = stop, first + count
    yield Part(path, start, None, first)


def _walk(data: mmap.mmap, start: int, part_bytes: int) -> tuple[int | None, int]:
    """Follow lengths for a part, and return where it ends and how many there were.

    None if a length on the way is damaged, or the one that stands behind the part.
    """
    unpack, size = _LENGTH.unpack_from, len(data)
    at, until = start, start + part_bytes
    count, headers = 0, [data[at : at + _HEADER]]
    while at < until:
        at += unpack(data, at)[0] + _FRAMING
        if at + _HEADER > size:
            return None, 0
        count += 1
        headers.append(data[at : at + _HEADER])
        if len(headers) >= _HEADERS:
            if not _all_right(headers):
                return None, 0
            headers.clear()
    return (at, count) if _all_right(headers) else (None, 0)


def _all_right(headers: list[bytes]) -> bool:
    table = np.frombuffer(b"".join(headers), np.uint8).reshape(-1, _HEADER)
    right = checksum_bytes(crc32c_of_lengths(table[:, :8])) == table[:, 8:]
    return bool(right.all())
