"""The records of a stream one after the other, and what to do where there is none."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .compression import other_format, what_begins_so
from .limits import has_many_values, may_have_many, most_values, size_text
from .records import Damage, Records
from .runs import FOOTER, FRAMING, HEADER, Run, is_header, length_at, run_of
from .searching import MOST_BYTES, Search
from .stream import Stream

RUN_BYTES = 1 << 21
"""How many bytes are read, checked and handed on at a time: of records of usual sizes
enough for numpy, and little enough for the processor's cache."""

# Records of many keys come in larger runs, since what reads them has a price for each
# key of a run. Still larger ones hold pictures, and few keys. Decoding takes up to a
# hundred times as much memory as a run of the smallest values.
_RUN_RECORDS = 512
_WIDEST = 1 << 15
_WIDEST_RUN = 1 << 22

# A file that begins with no record is searched so far for one before it is foreign.
_SEARCHED_BYTES = 1 << 26


class Scanner:
    """Goes through a stream record by record.

    Args:
        stream: at the beginning of a record.
        where: what to call the file.
        size: where the file ends; None in a compressed file, of which no more than a
            record may have is searched, since it may inflate to a thousand times its
            size.
        number: the number of the next record.
        limit: the most bytes of a record.
    """

    def __init__(
        self, stream: Stream, where: str, size: int | None, number: int, limit: int
    ) -> None:
        self._stream = stream
        self._where = where
        self._size = size
        self._number = number
        self._limit = limit
        self._search = Search(stream, size, limit)
        self._began = stream.offset  # where the last search did

    def runs(self) -> Iterator[Records | Damage]:
        """Yield records and damages until the end."""
        stream = self._stream
        wanted = RUN_BYTES
        while stream.need(1):
            stream.need(wanted)
            run = run_of(stream.memory)
            long = np.flatnonzero(run.stops - run.starts > self._limit)
            run = run.before(int(long[0])) if len(long) else run
            if not len(run.starts):
                yield from self._first_alone()
                continue
            size = int(run.stops[-1]) // len(run.starts)
            wanted = RUN_BYTES
            if size <= _WIDEST:
                wanted = max(wanted, min(_RUN_RECORDS * size, _WIDEST_RUN))
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
        held = run.good.copy()
        long = may_have_many(run.stops - run.starts, self._limit)
        for row in np.flatnonzero(held & long).tolist():
            record = stream.data[run.starts[row] : run.stops[row]]
            held[row] = not has_many_values(record, self._limit)
        if held.all():
            yield records
        elif held.any():
            yield records.only(held)
        for row in np.flatnonzero(~held).tolist():
            size, place = run.stops[row] - run.starts[row], int(numbers[row])
            offset = int(offsets[row]) - HEADER
            if run.good[row]:
                yield self._many_values(int(size), place, offset)
                continue
            yield self._damage(
                "checksum",
                "bytes that do not have the checksum of the record",
                f"the {size} bytes that were written",
                "the bytes changed on disk or on the way: copy the file again",
                record=place,
                offset=offset,
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
            yield from self._behind(
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
            yield from self._behind(
                "length",
                f"a length of {length} bytes, with its checksum",
                f"at most {MOST_BYTES} bytes, as protobuf allows",
                "no TFRecord writer made this length",
            )
            return
        end = FRAMING + length
        fits = self._fits(end)
        if fits and length > self._limit:
            yield from self._too_long(length)
            return
        if fits and stream.need(end):
            return  # the next run has it
        if fits and stream.failure is not None:
            stream.drop(len(stream))  # `runs` says why
            return
        yield from self._torn(length)

    def _fits(self, end: int) -> bool:
        return self._size is None or self._stream.offset + end <= self._size

    def _too_long(self, length: int) -> Iterator[Damage]:
        """Pass over a record that is longer than the limit, without holding it."""
        stream, end = self._stream, FRAMING + length
        cause = self._raised(length)
        if self._size is None:
            cause += "; the rest of this compressed file was not read"
        yield self._damage(
            "limit",
            f"a record of {length} bytes",
            f"at most {self._limit} bytes of record",
            cause,
            skipped=None if self._size is None else end,
        )
        self._number += 1
        if self._size is None:
            stream.end()
        else:
            stream.skip(end)

    def _many_values(self, size: int, record: int, offset: int) -> Damage:
        most = most_values(self._limit)
        return self._damage(
            "limit",
            f"a record of {size} bytes with more than {most:,} values, which would take "
            "many times as much memory",
            f"at most {most:,} values",
            self._raised(2 * self._limit),
            record=record,
            offset=offset,
        )

    def _raised(self, limit: int) -> str:
        """Say what to do about a record that is over the limit."""
        return (
            "if it is meant to be so large, raise the limit: "
            f"--max-record-bytes {size_text(limit)}"
        )

    def _torn(self, length: int) -> Iterator[Damage]:
        """Go on behind a record whose length is right and whose end is not there."""
        stream = self._stream
        fits = self._fits(FRAMING + length)
        stands = fits and stream.need(FRAMING + length)
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
            offset=self._began,
            skipped=None,
        )
        stream.end()
        stream.failure = None

    def _behind(
        self, kind: str, found: str, expected: str, cause: str
    ) -> Iterator[Damage]:
        to = self._next()
        if to is None:
            searched = self._stream.offset - self._began
            found += f", and no record in the {searched:,} bytes from there to the end"
            if self._search.gave_up:
                found = found.removesuffix(" from there to the end") + " behind it"
                cause += "; the rest of the file was not read"
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
        if self._size is None:
            most = min(most or self._limit, self._limit)
        return self._search.next_record(most)

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
