"""Reading files with all cores: the parts of large files, and how many processes."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..runtime.native import follow_lengths
from ..runtime.shared.tfrecord import HEADER_SIZE
from .records import Part
from .stream import compression_of

PART_BYTES = 1 << 26
"""About how many bytes of one file make a part."""

# Below this a process takes longer to start than it helps.
_WORTH_BYTES = 1 << 26


def parts_of(file: Part, part_bytes: int = PART_BYTES) -> list[Part]:
    """Cut a whole file at the beginnings of records.

    Files that are small, compressed, remote or unreadable are one part. So is all that follows
    a damaged length, as the next record is not known.
    """
    if not isinstance(file.path, Path):
        return [file]
    with suppress(OSError, ValueError), file.open() as opened:
        large = os.fstat(opened.fileno()).st_size >= 2 * part_bytes
        if large and compression_of(opened.read(HEADER_SIZE) or b"") == "":
            with mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return list(_cut(file, data, part_bytes))
    return [file]


def _cut(file: Part, data: mmap.mmap, part_bytes: int) -> Iterator[Part]:
    memory, first, start = np.frombuffer(data, np.uint8), 0, 0
    while len(data) - start >= 2 * part_bytes:
        count, stop = follow_lengths(memory, start, start + part_bytes)
        # The length that follows has to be right, too.
        if not follow_lengths(memory, stop, stop + 1)[0]:
            break
        yield replace(file, start=start, stop=stop, first=first)
        start, first = stop, first + count
    del memory  # which keeps the file mapped
    yield replace(file, start=start, first=first)


def usual_workers(size: int) -> int:
    """Return how many processes to use for so many bytes: one for each core."""
    if size < _WORTH_BYTES:
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
