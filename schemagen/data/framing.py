"""From a file's bytes to records: framing, checksums, and what is behind damage.

A record stands in a file as its length (8 bytes), a checksum of these, its bytes, and a
checksum of those. Where a length is damaged, nothing says where the next record begins;
it is found by trying every place, since a length with its right checksum, and a record
with its own behind it, do not occur by accident.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from .compression import compression_of, inflated, other_format, what_begins_so
from .records import Damage, Records
from .runs import FOOTER, FRAMING, HEADER, Run, is_header, length_at, run_of
from .searching import MOST_BYTES, next_record
from .stream import Stream, filling

RUN_BYTES = 1 << 21
"""How many bytes are read, checked and handed on at a time: of records of usual sizes
enough for numpy, and little enough for the processor's cache."""

# Records of many keys come in larger runs, since what reads them has a price for each
# key of a run. Still larger ones hold pictures, and few keys.
_RUN_RECORDS = 512
_WIDEST = 1 << 15

# A file that begins with no record is searched so far for one before it is foreign.
_SEARCHED_BYTES = 1 << 26


def scan(path: Path | str) -> Iterator[Records | Damage]:
    """Yield the good records of a file in runs, and every place where there is none.

    Compression is told by content, and an empty file yields nothing. Damages of a run
    come behind its records. It never raises, whatever the file holds.
    """
    path = Path(path)
    try:
        with path.open("rb", buffering=0) as file:
            yield from scan_stream(
                Stream(file.readinto), str(path), path.stat().st_size
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
    yield from scan_stream(Stream(filling(iter(pieces)), offset), where, size, first)


def scan_stream(
    stream: Stream, where: str, size: int | None, first: int = 0
) -> Iterator[Records | Damage]:
    """Do the same for a stream, with the arguments of `scan_pieces`."""
    if stream.offset or not stream.need(1):
        yield from _Scanner(stream, where, size, first).runs()
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
    scanner = _Scanner(stream, where, size, first)
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
        wanted = RUN_BYTES
        while stream.need(1):
            stream.need(wanted)
            run = run_of(stream.memory)
            if not len(run.starts):
                yield from self._first_alone()
                continue
            size = int(run.stops[-1]) // len(run.starts)
            wanted = RUN_BYTES
            if size <= _WIDEST:
                wanted = max(wanted, _RUN_RECORDS * size)
            last = len(run.starts)
            torn = not run.good[-1] and not self._goes_on(int(run.stops[-1]))
            if torn:
                last -= 1
            yield from self._checked(run.before(last))
            if torn:
                yield from self._torn(int(run.stops[last] - run.starts[last]))
        if stream.failure is not None:
            yield self._failed()

    def _checked(self, run: Run) -> Iterator[Records | Damage]:
        """Yield the good records of a run, then its damages, and leave them behind."""
        stream, count = self._stream, len(run.starts)
        if not count:
            return
        numbers = np.arange(self._number, self._number + count, dtype=np.int64)
        offsets = run.starts + stream.offset
        records = Records(
            self._where,
            stream.memory,
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
                    offset=int(offsets[row]) - HEADER,
                )
        self._number += count
        stream.drop(int(run.stops[-1]) + FOOTER)

    def _goes_on(self, stop: int) -> bool:
        """Tell whether a record, or the end, follows one whose checksum is wrong."""
        behind = stop + FOOTER
        if self._stream.need(behind + HEADER):
            return is_header(self._stream.data, behind)
        return len(self._stream) == behind

    def _first_alone(self) -> Iterator[Records | Damage]:
        """Go on with a record that does not stand in the window with all its bytes."""
        stream = self._stream
        if not stream.need(HEADER):
            if stream.failure is None:
                held = len(stream)
                yield self._damage(
                    "truncated",
                    f"the file ends {held} bytes into a record's length",
                    f"{HEADER} bytes of length and checksum",
                    "the writer was killed, or the copy was broken off",
                    skipped=None,
                )
            stream.drop(len(stream))
            return
        if not is_header(stream.data, 0):
            zeros = not stream.data[:HEADER].tobytes().strip(b"\0")
            yield from self._search(
                "length",
                "zeros" if zeros else "a length whose checksum is wrong",
                "the length of a record and its checksum",
                "space that was set aside and never written, or blocks that a disk lost"
                if zeros
                else "the bytes changed on disk or on the way: copy the file again",
            )
            return
        length = length_at(stream.data, 0)
        if length > MOST_BYTES:
            yield from self._search(
                "length",
                f"a length of {length} bytes, with its checksum",
                f"at most {MOST_BYTES} bytes, as protobuf allows",
                "no TFRecord writer made this length",
            )
            return
        end = FRAMING + length
        fits = self._size is None or stream.offset + end <= self._size
        if fits and stream.need(end):
            return  # the next run has it
        if fits and stream.failure is not None:
            stream.drop(len(stream))  # `runs` says why
            return
        yield from self._torn(length)

    def _torn(self, length: int) -> Iterator[Damage]:
        """Go on behind a record whose length is right and whose end is not there."""
        stream = self._stream
        stands = stream.need(FRAMING + length)
        end = self._size or stream.offset + len(stream)
        held = end - stream.offset - HEADER
        to = self._next()
        if to is None and not stands:
            yield self._passed_over(
                to,
                "truncated",
                f"the file ends {held} bytes into a record of {length} bytes"
                if held < length
                else f"the file ends {held - length} bytes into the checksum of a record",
                f"{length} bytes of record, and {FOOTER} of checksum",
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
        start = stream.data[:512].tobytes()
        found = None if other_format(start) else self._next(_SEARCHED_BYTES)
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
            stream.drop(len(stream))
        stream.failure = None

    def _search(
        self, kind: str, found: str, expected: str, cause: str
    ) -> Iterator[Damage]:
        to = self._next()
        if to is None:
            found += (
                f", and no record in the {self._stream.offset - self._began:,} bytes"
            )
            found += " from there to the end"
        yield self._passed_over(to, kind, found, expected, cause)

    def _passed_over(
        self, to: int | None, kind: str, found: str, expected: str, cause: str
    ) -> Damage:
        """Return the damage at the record's beginning, and go on at `to`, an offset."""
        at = self._began
        skipped = None if to is None else to - at
        damage = self._damage(kind, found, expected, cause, offset=at, skipped=skipped)
        self._number += 1
        return damage

    def _next(self, most: int | None = None) -> int | None:
        self._began = self._stream.offset
        return next_record(self._stream, self._size, most)

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
