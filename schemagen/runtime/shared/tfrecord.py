"""TFRecord framing: length, its checksum, the record, its checksum."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BufferedReader
from itertools import chain, count
from string import printable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..native import crc32c, fill_frames
from .compression import ANY, COMPRESSIONS, InflateError, open_inflated
from .errors import DatasetError
from .wire import Buffer

if TYPE_CHECKING:
    from pathlib import Path

_LENGTH = struct.Struct("<Q")
_CHECKSUM = struct.Struct("<I")
HEADER_SIZE = 12
FOOTER_SIZE = 4
FRAMING = HEADER_SIZE + FOOTER_SIZE
_MASK_DELTA = 0xA282EAD8

MOST_RECORD_BYTES = 2**31 - 1
"""The most bytes of a protobuf message. TensorFlow reads a longer one as an empty one."""

RECORD_LIMIT = f"at most {MOST_RECORD_BYTES} bytes, the largest protobuf message"
"""This limit, as errors state it."""

# A record's length is 64 bits wide, so a damaged one may ask for anything. Records
# are read in pieces of this size, so that only what is there is ever held.
_PIECE = 1 << 24


def masked_crc32c(data: bytes) -> int:
    """Return the CRC-32C of `data`, rotated and offset as TFRecord stores it."""
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF


def frame(record: bytes) -> bytes:
    """Return one record with its framing."""
    return bytes(frame_records([record]).data)


@dataclass(frozen=True, slots=True)
class Framed:
    """Consecutive records with their framing.

    Attributes:
        data: the framed records, one after the other.
        ends: int64 [records], where each of them ends in `data`.
    """

    data: Buffer
    ends: NDArray[np.int64]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the bytes, also those of memory that cannot be pickled."""
        return Framed, (bytes(self.data), self.ends)

    def __len__(self) -> int:
        """Return how many records there are."""
        return len(self.ends)

    def __getitem__(self, records: slice) -> Framed:
        """Return the records from one to another, without copying their bytes."""
        first, last, _ = records.indices(len(self.ends))
        start = int(self.ends[first - 1]) if first else 0
        if (first, last) == (0, len(self.ends)):
            return self
        ends = self.ends[first:last]
        stop = int(ends[-1]) if len(ends) else start
        return Framed(memoryview(self.data)[start:stop], ends - start)


def joined(runs: Sequence[Framed]) -> Framed:
    """Return runs of records as one."""
    if len(runs) == 1:
        return runs[0]
    sizes = [len(run.data) for run in runs]
    starts = np.cumsum([0, *sizes])[:-1]
    ends = [run.ends + start for run, start in zip(runs, starts, strict=True)]
    nothing = np.empty(0, np.int64)
    data = bytearray().join(run.data for run in runs)
    return Framed(data, np.concatenate([nothing, *ends]))


def frame_records(records: Sequence[bytes]) -> Framed:
    """Frame several records at once."""
    sizes = np.fromiter(map(len, records), np.int64, len(records))
    ends = np.cumsum(sizes + FRAMING)
    header, footer = bytes(HEADER_SIZE), bytes(FOOTER_SIZE)
    data = bytearray().join(
        chain.from_iterable((header, record, footer) for record in records)
    )
    fill_frames(data, ends)
    return Framed(data, ends)


def detect_compression(start: bytes) -> str:
    """Tell a TFRecord file's compression by its first bytes, never by its name.

    Args:
        start: the first 12 bytes of the file, or all of a shorter one.

    Returns:
        The name of a compression, "" for none.

    Raises:
        DatasetError: the bytes begin neither a record nor a compressed file.
    """
    if not start or _begins_record(start):
        return ""
    for name, compression in COMPRESSIONS.items():
        if compression.begins(start):
            return name
    text = set(start) <= set(printable.encode())
    shown = repr(start.decode()) if text else start.hex(" ")
    raise DatasetError(
        f"not a TFRecord file: it begins with {shown}, which is neither a "
        f"record's length with its checksum nor the start of {ANY} data"
    )


def _begins_record(start: bytes) -> bool:
    if len(start) < HEADER_SIZE:
        return False
    (crc,) = _CHECKSUM.unpack_from(start, 8)
    return bool(crc == masked_crc32c(start[:8]))


def read_records(path: Path) -> Iterator[bytes]:
    """Yield the records of a TFRecord file, checking both checksums of each.

    Raises:
        DatasetError: naming the file and the record, counted from 0.
    """
    with path.open("rb") as raw:
        yield from records_in(raw, str(path))


def records_in(raw: BufferedReader, where: str) -> Iterator[bytes]:
    """Yield the records of an open TFRecord file, compressed or not.

    Args:
        raw: the file, at its beginning.
        where: what to call it in errors.

    Raises:
        DatasetError: naming the file and the record, counted from 0.
        OSError: the file cannot be read.
    """
    for record in survey(raw, where):
        if isinstance(record, DatasetError):
            raise record
        yield record


def survey(raw: BufferedReader, where: str) -> Iterator[bytes | DatasetError]:
    """Yield the records of an open TFRecord file, and in place of a bad one its error.

    Behind a record whose own checksum is wrong it goes on, as its length is known.
    Behind any other damage nothing tells where the next record begins: it ends there.

    Args:
        raw: the file, at its beginning.
        where: what to call it in errors, which name the record, counted from 0.

    Raises:
        OSError: the file cannot be read.
    """
    try:
        compression = detect_compression(raw.peek(HEADER_SIZE)[:HEADER_SIZE])
    except DatasetError as error:
        yield DatasetError(f"{where}: {error}")
        return
    stream = open_inflated(raw, compression)
    for number in count():
        try:
            record = _read_record(stream)
        except _WrongChecksumError as error:
            yield DatasetError(f"{where}: record {number}: {error}")
            continue
        except (DatasetError, InflateError) as error:
            yield DatasetError(f"{where}: record {number}: {error}")
            return
        if record is None:
            return
        yield record


class _WrongChecksumError(DatasetError):
    """A record that is not what was written; the next one stands behind it."""


def _read_record(stream: BufferedReader) -> bytes | None:
    header = stream.read(HEADER_SIZE)
    if not header:
        return None
    if len(header) < HEADER_SIZE:
        raise DatasetError(f"the file ends {len(header)} bytes into a length")
    if not _begins_record(header):
        raise DatasetError("the checksum of the length does not match")
    (length,) = _LENGTH.unpack_from(header)
    pieces: list[bytes] = []
    missing = length + _CHECKSUM.size
    while missing:
        piece = stream.read(min(missing, _PIECE))
        if not piece:
            raise DatasetError(f"the file ends {missing} bytes too early")
        pieces.append(piece)
        missing -= len(piece)
    data = b"".join(pieces)
    record, checksum = data[:length], data[length:]
    if _CHECKSUM.unpack(checksum)[0] != masked_crc32c(record):
        raise _WrongChecksumError("the checksum of the record does not match")
    return record
