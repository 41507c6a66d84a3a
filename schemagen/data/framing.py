"""From a file's bytes to records: framing, checksums, and reading on behind damage.

A record is framed by its length (8 bytes), a checksum of the length, and a checksum of
the record behind it. Behind a damaged length the next record is found by trying every
place: a length with its right checksum, and a record with its own behind it, do not
occur by accident.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..runtime.reading.records import Records
from ..runtime.shared.tfrecord import HEADER_SIZE
from .frames import is_header
from .limits import MAX_RECORD_BYTES
from .records import Damage, Part
from .remote_path import FilePath, file_path
from .scanner import Scanner
from .stream import Stream, compression_of, fill_from, inflated

# How many bytes are read at a time where no one looks for records.
_SCRATCH_BYTES = 1 << 20

Advance = Callable[[int], object]
"""Called with the number of bytes that were read since the last call."""


def scan(
    source: FilePath | str | Part,
    *,
    advance: Advance = lambda size: None,
    on_data: Callable[[memoryview], object] | None = None,
    max_record_bytes: int = MAX_RECORD_BYTES,
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
    path = file_path(source) if isinstance(source, str) else source
    part = path if isinstance(path, Part) else Part(path)
    where = str(part.path)
    try:
        with part.path.open("rb", buffering=0) as file:
            size = part.path.stat().st_size if part.stop is None else part.stop
            file.seek(part.start)
            left = None if part.stop is None else part.stop - part.start

            def fill(memory: memoryview) -> int:
                nonlocal left
                got = file.readinto(memory[:left]) or 0
                left = None if left is None else left - got
                advance(got)
                if on_data is not None:
                    on_data(memory[:got])
                return got

            yield from scan_stream(
                Stream(fill, part.start),
                where,
                size,
                part.first,
                max_record_bytes=max_record_bytes,
            )
            rest = memoryview(bytearray(_SCRATCH_BYTES if on_data else 0))
            while fill(rest):
                pass
    except OSError as error:
        reason = error.strerror or str(error)
        yield Damage(where, 0, 0, "unreadable", reason, "a file that can be read")


def scan_stream(
    stream: Stream,
    where: str,
    size: int | None,
    first: int = 0,
    *,
    max_record_bytes: int = MAX_RECORD_BYTES,
) -> Iterator[Records | Damage]:
    """Scan a stream that begins with the beginning of a file, or with a record.

    Args:
        stream: the bytes; compression is detected at offset 0 only.
        where: what to call the file.
        size: the offset at which they end, if that is known.
        first: the number of the first record.
        max_record_bytes: as for `scan`.

    Raises:
        OSError: the bytes cannot be read.
    """
    if stream.offset or not stream.need(1):
        yield from Scanner(stream, where, size, first, max_record_bytes).runs()
        return
    stream.need(HEADER_SIZE)
    compression = compression_of(stream.data[:HEADER_SIZE].tobytes())
    if compression:
        stream, size = Stream(fill_from(inflated(stream.rest(), compression))), None
    scanner = Scanner(stream, where, size, first, max_record_bytes)
    whole = stream.need(HEADER_SIZE)
    twice = compression_of(stream.data[:HEADER_SIZE].tobytes()) if compression else None
    if whole and twice:
        yield scanner.damage(
            "compression",
            f"{twice} data inside of {compression} data",
            "a TFRecord file, compressed once or not at all",
            "the file was compressed twice, by the writer and then as a whole",
        )
        return
    begun = whole or stream.failure is None
    if len(stream) and begun and not is_header(stream.data):
        yield from scanner.find_start(compression or "")
    yield from scanner.runs()
