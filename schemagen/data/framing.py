"""From a file's bytes to records: framing, checksums, and reading on behind damage.

A record is framed by its length (8 bytes), a checksum of the length, and a checksum of
the record behind it. Behind a damaged length the next record is found by trying every
place: a length with its right checksum, and a record with its own behind it, do not
occur by accident.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from ..runtime.reading.records import Records
from ..runtime.shared.compression import fill_from, inflated
from ..runtime.shared.tfrecord import HEADER_SIZE, MOST_RECORD_BYTES
from .records import Damage, Part
from .remote_path import FilePath
from .scanner import Scanner
from .stream import Stream, compression_of

# How many bytes are read at a time where no one looks for records.
_SCRATCH_BYTES = 1 << 20

Advance = Callable[[int], object]
"""Called with the number of bytes that were read since the last call."""


def scan(
    source: FilePath | Part,
    *,
    advance: Advance = lambda size: None,
    on_data: Callable[[memoryview], object] | None = None,
    max_record_bytes: int = MOST_RECORD_BYTES,
) -> Iterator[Records | Damage]:
    """Yield the good records of a file in runs, and the places that hold none.

    The content decides the compression, and an empty file yields nothing. The damages of a
    run follow its records. It never raises, regardless of the contents.

    Args:
        source: the file, or a part of it.
        advance: called with numbers of bytes as they are read.
        on_data: given all bytes as they are read, also those behind the last record that
            is searched.
        max_record_bytes: longer records are damages, of kind "limit", and never held.
    """
    part = source if isinstance(source, Part) else Part(source)
    try:
        with part.open() as file:
            size = file.seek(0, os.SEEK_END) if part.stop is None else part.stop
            left = size - file.seek(part.start)

            def fill(memory: memoryview) -> int:
                nonlocal left
                got = file.readinto(memory[:left]) or 0
                left -= got
                advance(got)
                if on_data is not None:
                    on_data(memory[:got])
                return got

            stream = Stream(fill, part.start)
            yield from _scanned(stream, part, size, max_record_bytes)
            rest = memoryview(bytearray(_SCRATCH_BYTES if on_data else 0))
            while fill(rest):
                pass
    except OSError as error:
        reason = error.strerror or str(error)
        expected = "a file that can be read"
        yield Damage(str(part.path), 0, 0, "unreadable", reason, expected)


def _scanned(
    stream: Stream, part: Part, size: int | None, limit: int
) -> Iterator[Records | Damage]:
    """Scan a stream that begins with the beginning of a file, or with a record.

    Raises:
        OSError: the bytes cannot be read.
    """
    compression: str | None = ""
    if not part.start:
        stream.need(HEADER_SIZE)
        compression = compression_of(stream.data[:HEADER_SIZE].tobytes())
    if compression:
        stream, size = Stream(fill_from(inflated(stream.rest(), compression))), None
    scanner = Scanner(stream, str(part.path), size, part.first, limit)
    if not part.start:
        yield from scanner.find_start(compression or "")
    yield from scanner.runs()
