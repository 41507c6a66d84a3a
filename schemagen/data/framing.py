"""From a file's bytes to records: framing, checksums, and what is behind damage.

A record stands in a file as its length (8 bytes), a checksum of these, its bytes, and a
checksum of those. Where a length is damaged, nothing says where the next record begins;
it is found by trying every place, since a length with its right checksum, and a record
with its own behind it, do not occur by accident.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from .compression import compression_of, inflated
from .limits import MAX_RECORD_BYTES
from .records import Damage, Records
from .runs import HEADER, is_header
from .scanner import Scanner
from .stream import Stream, filling


def scan(
    path: Path | str, *, max_record_bytes: int = MAX_RECORD_BYTES
) -> Iterator[Records | Damage]:
    """Yield the good records of a file in runs, and every place where there is none.

    Compression is told by content, and an empty file yields nothing. Damages of a run
    come behind its records. It never raises, whatever the file holds.

    Args:
        path: the file.
        max_record_bytes: longer records are damages, of kind "limit", and never held.
    """
    path = Path(path)
    try:
        with path.open("rb", buffering=0) as file:
            yield from scan_stream(
                Stream(file.readinto),
                str(path),
                path.stat().st_size,
                max_record_bytes=max_record_bytes,
            )
    except OSError as error:
        reason = error.strerror or str(error)
        yield Damage(str(path), 0, 0, "unreadable", reason, "a file that can be read")


def scan_pieces(
    pieces: Iterable[bytes],
    where: str,
    size: int | None = None,
    *,
    first: int = 0,
    offset: int = 0,
    max_record_bytes: int = MAX_RECORD_BYTES,
) -> Iterator[Records | Damage]:
    """Do the same for a file's bytes, wherever they come from.

    Args:
        pieces: its bytes, in pieces of any size.
        where: what to call it.
        size: where in the file the last of them ends, if that is known.
        first: the number of the first record, of a part of a file.
        offset: where that part begins; 0 for a whole file, whose compression is told.
        max_record_bytes: as for `scan`.

    Raises:
        OSError: the pieces cannot be read.
    """
    stream = Stream(filling(iter(pieces)), offset)
    yield from scan_stream(
        stream, where, size, first, max_record_bytes=max_record_bytes
    )


def scan_stream(
    stream: Stream,
    where: str,
    size: int | None,
    first: int = 0,
    *,
    max_record_bytes: int = MAX_RECORD_BYTES,
) -> Iterator[Records | Damage]:
    """Do the same for a stream, with the arguments of `scan_pieces`."""
    if stream.offset or not stream.need(1):
        yield from Scanner(stream, where, size, first, max_record_bytes).runs()
        return
    stream.need(HEADER)
    compression = compression_of(stream.data[:HEADER].tobytes())
    if compression:
        stream = Stream(filling(inflated(stream.rest(), compression)))
        size = None
        if stream.need(HEADER):
            twice = compression_of(stream.data[:HEADER].tobytes())
            if twice:
                yield _compressed_twice(where, compression, twice)
                return
    scanner = Scanner(stream, where, size, first, max_record_bytes)
    begun = len(stream) >= HEADER or stream.failure is None
    if len(stream) and begun and not is_header(stream.data, 0):
        yield from scanner.find_the_start(compression or "")
    yield from scanner.runs()


def _compressed_twice(where: str, outer: str, inner: str) -> Damage:
    return Damage(
        where,
        0,
        0,
        "compression",
        f"{inner} data inside of {outer} data",
        "a TFRecord file, compressed once or not at all",
        "the file was compressed twice, by the writer and then as a whole",
        None,
    )
