"""From a file's bytes to records: framing, checksums, and what is behind damage.

A record stands in a file as its length (8 bytes), a checksum of these, its bytes, and a
checksum of those. Where a length is damaged, nothing says where the next record begins;
it is found by trying every place, since a length with its right checksum, and a record
with its own behind it, do not occur by accident.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from google_crc32c import value as crc32c
from numpy.typing import NDArray

from ..support.tfrecord import (
    checksum_bytes,
    crc32c_of_lengths,
    extend_crc32c,
    masked_crc32c,
)
from .compression import compression_of, inflated, what_begins_so
from .records import Damage, Records
from .stream import Stream

RUN_BYTES = 1 << 20
"""How many bytes are read, checked and handed on at a time."""

MOST_BYTES = (1 << 31) - 1
"""No protobuf is longer, so that nobody waits for a record that claims to be."""

_LENGTH = struct.Struct("<Q")
_HEADER, _FOOTER = 12, 4
_FRAMING = _HEADER + _FOOTER

# From here on a record is not worth another copy of its own.
_WIDE = 1 << 14

# A file that begins with no record is searched so far for one before it is foreign.
_SEARCHED_BYTES = 1 << 26


def scan(path: Path | str) -> Iterator[Records | Damage]:
    """Yield the good records of a file in runs, and every place where there is none.

    Compression is told by content, and an empty file yields nothing. Damages of a run
    come behind its records. It never raises, whatever the file holds.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            pieces = iter(partial(file.read, RUN_BYTES), b"")
            yield from scan_pieces(pieces, str(path), path.stat().st_size)
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
) -> Iterator[Records | Damage]:
    """Do the same for a file's bytes, wherever they come from.

    Args:
        pieces: its bytes, in pieces of any size.
        where: what to call it.
        size: where in the file the last of them ends, if that is known.
        first: the number of the first record, of a part of a file.
        offset: where that part begins; 0 for a whole file, whose compression is told.

    Raises:
        OSError: the pieces cannot be read.
    """
    stream = Stream(iter(pieces), offset)
    if offset or not stream.need(1):
        yield from _Scanner(stream, where, size, first).runs()
        return
    stream.need(_HEADER)
    compression = compression_of(stream.data)
    if compression:
        stream = Stream(inflated(stream.rest(), compression))
        size = None
        if stream.need(_HEADER):
            twice = compression_of(stream.data)
            if twice:
                yield _compressed_twice(where, compression, twice)
                return
    scanner = _Scanner(stream, where, size, first)
    if stream.data and not _is_header(stream.data, 0):
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


def _is_header(data: bytes, at: int) -> bool:
    if at + _HEADER > len(data):
        return False
    stored = int.from_bytes(data[at + 8 : at + _HEADER], "little")
    return stored == masked_crc32c(data[at : at + 8])


class _Run(NamedTuple):
    """Records at the beginning of a window, whose lengths are right.

    Attributes:
        starts: int64 [N], where the bytes of each begin in the window.
        stops: int64 [N], where they end.
        good: bool [N], whether their own checksums are right.
    """

    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    good: NDArray[np.bool_]

    def before(self, row: int) -> _Run:
        """Return the records before one of them."""
        return _Run(self.starts[:row], self.stops[:row], self.good[:row])


class _Scanner:
    """Goes through a stream record by record.

    Args:
        stream: at the beginning of a record.
        where: what to call the file.
        size: where the file ends, if that is known.
        number: the number of the next record.
    """

    def __init__(
        self, stream: Stream, where: str, size: int | None, number: int
    ) -> None:
        self._stream = stream
        self._where = where
        self._size = size
        self._number = number
        self._began = stream.offset  # where the last search did

    def runs(self) -> Iterator[Records | Damage]:
        """Yield records and damages until the end."""
        stream = self._stream
        while stream.need(1):
            stream.need(RUN_BYTES)
            run = _run(stream.data)
            if not len(run.starts):
                yield from self._first_alone()
                continue
            last = len(run.starts)
            torn = not run.good[-1] and not self._goes_on(int(run.stops[-1]))
            if torn:
                last -= 1
            yield from self._checked(run.before(last))
            if torn:
                yield from self._torn(int(run.stops[last] - run.starts[last]))
        if stream.failure is not None:
            yield self._failed()

    def _checked(self, run: _Run) -> Iterator[Records | Damage]:
        """Yield the good records of a run, then its damages, and leave them behind."""
        stream, count = self._stream, len(run.starts)
        if not count:
            return
        numbers = np.arange(self._number, self._number + count, dtype=np.int64)
        offsets = run.starts + stream.offset
        records = Records(
            self._where,
            np.frombuffer(stream.data, np.uint8),
            run.starts,
            run.stops,
            numbers,
            offsets,
        )
        if run.good.all():
            yield records
        else:
            if run.good.any():
                yield records.only(run.good)
            for row in np.flatnonzero(~run.good).tolist():
                yield self._damage(
                    "checksum",
                    "bytes that do not have the checksum of the record",
                    f"the {run.stops[row] - run.starts[row]} bytes that were written",
                    "the bytes changed on disk or on the way: copy the file again",
                    record=int(numbers[row]),
                    offset=int(offsets[row]) - _HEADER,
                )
        self._number += count
        stream.drop(int(run.stops[-1]) + _FOOTER)

    def _goes_on(self, stop: int) -> bool:
        """Tell whether a record, or the end, follows one whose checksum is wrong."""
        behind = stop + _FOOTER
        if self._stream.need(behind + _HEADER):
            return _is_header(self._stream.data, behind)
        return len(self._stream.data) == behind

    def _first_alone(self) -> Iterator[Records | Damage]:
        """Go on with a record that does not stand in the window with all its bytes."""
        stream = self._stream
        if not stream.need(_HEADER):
            if stream.failure is None:
                held = len(stream.data)
                yield self._damage(
                    "truncated",
                    f"the file ends {held} bytes into a record's length",
                    f"{_HEADER} bytes of length and checksum",
                    "the writer was killed, or the copy was broken off",
                    skipped=None,
                )
            stream.drop(len(stream.data))
            return
        if not _is_header(stream.data, 0):
            yield from self._search(
                "length",
                "a length whose checksum is wrong",
                "the length of a record and its checksum",
                "the bytes changed on disk or on the way: copy the file again",
            )
            return
        (length,) = _LENGTH.unpack_from(stream.data)
        if length > MOST_BYTES:
            yield from self._search(
                "length",
                f"a length of {length} bytes, with its checksum",
                f"at most {MOST_BYTES} bytes, as protobuf allows",
                "no TFRecord writer made this length",
            )
            return
        end = _FRAMING + length
        fits = self._size is None or stream.offset + end <= self._size
        if fits and stream.need(end):
            return  # the next run has it
        if fits and stream.failure is not None:
            stream.drop(len(stream.data))  # `runs` says why
            return
        yield from self._torn(length)

    def _torn(self, length: int) -> Iterator[Damage]:
        """Go on behind a record whose length is right and whose end is not there."""
        stream = self._stream
        stands = stream.need(_FRAMING + length)
        end = self._size or stream.offset + len(stream.data)
        held = end - stream.offset - _HEADER
        to = self._next_record()
        if to is None and not stands:
            yield self._passed_over(
                to,
                "truncated",
                f"the file ends {held} bytes into a record of {length} bytes",
                f"{length} bytes of record, and {_FOOTER} of checksum",
                "the writer was killed, or the copy was broken off",
            )
            return
        yield self._passed_over(
            to,
            "torn",
            f"other bytes within a record of {length} bytes, and no record behind it",
            "the record's bytes, its checksum and the next record",
            "a part of the file was lost, or two writers wrote it",
        )

    def find_the_start(self, compression: str) -> Iterator[Damage]:
        """Tell a damaged beginning from a file of another kind."""
        stream = self._stream
        stream.need(512)
        start = stream.data[:512]
        found = self._next_record(_SEARCHED_BYTES)
        if found is not None:
            yield self._passed_over(
                found,
                "length",
                "a length whose checksum is wrong",
                "the length of a record and its checksum",
                "the bytes changed on disk or on the way: copy the file again",
            )
            return
        what = what_begins_so(start)
        yield self._damage(
            "foreign",
            f"{what}, compressed with {compression}" if compression else what,
            "a TFRecord file, uncompressed or compressed with GZIP or ZLIB",
            "this is no TFRecord file",
            skipped=None,
        )
        while stream.need(1):
            stream.drop(len(stream.data))
        stream.failure = None

    def _search(
        self, kind: str, found: str, expected: str, cause: str
    ) -> Iterator[Damage]:
        yield self._passed_over(self._next_record(), kind, found, expected, cause)

    def _passed_over(
        self, to: int | None, kind: str, found: str, expected: str, cause: str
    ) -> Damage:
        """Return the damage at the record's beginning, and go on at `to`, an offset."""
        at = self._began
        skipped = None if to is None else to - at
        damage = self._damage(kind, found, expected, cause, offset=at, skipped=skipped)
        self._number += 1
        return damage

    def _next_record(self, most: int | None = None) -> int | None:
        """Move the stream to the next record, and return where in the file it stands.

        Args:
            most: after how many bytes to give up; the stream then stays where it is.
        """
        stream = self._stream
        self._began = stream.offset
        at = 1
        while stream.need(at + _HEADER) and (most is None or at < most):
            stream.need(at + RUN_BYTES)
            window = np.frombuffer(stream.data, np.uint8)[at : at + RUN_BYTES]
            for candidate in _headers_in(window).tolist():
                if self._stands_at(at + candidate):
                    stream.drop(at + candidate)
                    return stream.offset
            at += len(window) - _HEADER + 1
            if most is None:
                stream.drop(at)
                at = 0
        if most is None:
            stream.drop(len(stream.data))
        return None

    def _stands_at(self, at: int) -> bool:
        """Tell whether a whole record stands at a place of the window."""
        stream = self._stream
        (length,) = _LENGTH.unpack_from(stream.data, at)
        end = at + _FRAMING + length
        if length > MOST_BYTES or (
            self._size is not None and stream.offset + end > self._size
        ):
            return False
        if not stream.need(end):
            return False
        record = stream.data[at + _HEADER : end - _FOOTER]
        stored = int.from_bytes(stream.data[end - _FOOTER : end], "little")
        return masked_crc32c(record) == stored

    def _damage(
        self,
        kind: str,
        found: str,
        expected: str,
        cause: str,
        *,
        record: int | None = None,
        offset: int | None = None,
        skipped: int | None = 0,
    ) -> Damage:
        return Damage(
            self._where,
            self._number if record is None else record,
            self._stream.offset if offset is None else offset,
            kind,
            found,
            expected,
            cause,
            skipped,
        )

    def _failed(self) -> Damage:
        failure = self._stream.failure
        assert failure is not None
        return self._damage(
            "truncated" if failure.ended else "compression",
            str(failure),
            "a whole compressed file",
            "the writer was killed, or the copy was broken off"
            if failure.ended
            else "the bytes changed on disk or on the way: copy the file again",
            skipped=None,
        )


def _run(data: bytes) -> _Run:
    """Find the records that stand in a window with all their bytes."""
    starts, stops = _extents(data)
    memory = np.frombuffer(data, np.uint8)
    if len(starts):
        headers = memory[(starts - _HEADER)[:, np.newaxis] + np.arange(_HEADER)]
        right = checksum_bytes(crc32c_of_lengths(headers[:, :8])) == headers[:, 8:]
        whole = right.all(axis=1)
        if not whole.all():
            last = int(np.argmin(whole))
            starts, stops = starts[:last], stops[:last]
    if not len(starts):
        return _Run(starts, stops, np.empty(0, np.bool_))
    if int(stops[-1]) > _WIDE * len(starts):
        crcs = [
            extend_crc32c(0, memory[a:b])
            for a, b in zip(starts.tolist(), stops.tolist(), strict=True)
        ]
    else:
        crcs = [
            crc32c(data[a:b])
            for a, b in zip(starts.tolist(), stops.tolist(), strict=True)
        ]
    stored = memory[stops[:, np.newaxis] + np.arange(_FOOTER)]
    good = (checksum_bytes(np.array(crcs, np.uint32)) == stored).all(axis=1)
    return _Run(starts, stops, good)


def _extents(data: bytes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Follow the lengths from record to record, right or not, while they fit."""
    ends: list[int] = []
    unpack, size = _LENGTH.unpack_from, len(data)
    at = 0
    while at + _FRAMING <= size:
        at += unpack(data, at)[0] + _FRAMING
        if at > size:
            break
        ends.append(at)
    bounds = np.array([0, *ends], np.int64)
    return bounds[:-1] + _HEADER, bounds[1:] - _FOOTER


def _headers_in(window: NDArray[np.uint8]) -> NDArray[np.intp]:
    """Return where in a window a length stands that has its right checksum."""
    if len(window) < _HEADER:
        return np.empty(0, np.intp)
    views = np.lib.stride_tricks.sliding_window_view(window, _HEADER)
    right = checksum_bytes(crc32c_of_lengths(views[:, :8])) == views[:, 8:]
    return np.flatnonzero(right.all(axis=1))
