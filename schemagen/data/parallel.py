"""Reading files with all cores: the parts of large files, and how many processes."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np

from ..runtime.shared.tfrecord import FRAMING, HEADER_SIZE, are_headers
from .frames import length_at
from .records import Part
from .remote_path import FilePath
from .stream import compression_of

PART_BYTES = 1 << 26
"""About how many bytes of one file make a part."""

# How many headers are held and checked at a time: a part may have millions.
_HEADERS = 1 << 14

# Below this a process takes longer to start than it helps.
_WORTH_BYTES = 1 << 26


def parts_of(path: FilePath, part_bytes: int = PART_BYTES) -> list[Part]:
    """Cut a file at the beginnings of records.

    Files that are small, compressed, remote or unreadable are one part. So is all that follows
    a damaged length, as the next record is not known.
    """
    with suppress(OSError, ValueError):
        if isinstance(path, Path) and path.stat().st_size >= 2 * part_bytes:
            with path.open("rb") as file:
                if compression_of(file.read(HEADER_SIZE)) == "":
                    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                        return list(_cut(path, data, part_bytes))
    return [Part(path)]


def _cut(path: Path, data: mmap.mmap, part_bytes: int) -> Iterator[Part]:
    start = first = 0
    while len(data) - start >= 2 * part_bytes:
        stop, count = _follow(data, start, part_bytes)
        if stop is None:
            break
        yield Part(path, start, stop, first)
        start, first = stop, first + count
    yield Part(path, start, None, first)


def _follow(data: mmap.mmap, start: int, part_bytes: int) -> tuple[int | None, int]:
    """Follow lengths for a part, and return where it ends and its number of records.

    None if a length on the way is damaged, or the one that follows the part.
    """
    at, count = start, 0
    headers = [data[at : at + HEADER_SIZE]]
    while at < start + part_bytes:
        at += length_at(data, at) + FRAMING
        if at + HEADER_SIZE > len(data):
            return None, 0
        count += 1
        headers.append(data[at : at + HEADER_SIZE])
        if len(headers) >= _HEADERS:
            if not _all_right(headers):
                return None, 0
            headers.clear()
    return (at, count) if _all_right(headers) else (None, 0)


def _all_right(headers: list[bytes]) -> bool:
    table = np.frombuffer(b"".join(headers), np.uint8)
    return bool(are_headers(table.reshape(-1, HEADER_SIZE)).all())


def usual_workers(size: int) -> int:
    """Return how many processes to use for so many bytes: one for each core."""
    if size < _WORTH_BYTES:
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
