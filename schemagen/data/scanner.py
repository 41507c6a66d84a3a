"""The records of a stream in order, and recovery behind damage."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..runtime.reading.records import Records
from ..runtime.shared.compression import ANY
from ..runtime.shared.tfrecord import (
    FOOTER_SIZE,
    FRAMING,
    HEADER_SIZE,
    MOST_RECORD_BYTES,
    RECORD_LIMIT,
)
from .formats import describe_start, other_format
from .frames import Run, Search, is_header, length_at, run_of
from .records import Damage
from .stream import Stream

# How many bytes are read, checked and handed on at a time: of records of usual sizes
# enough for numpy, and little enough for the processor's cache.
RUN_BYTES = 1 << 21

# Records of many keys come in larger runs, since their readers have a cost for each key
# of a run. Still larger records hold pictures, and few keys. Decoding takes up to a
# hundred times as much memory as a run of the smallest values.
_RUN_RECORDS = 512
_WIDEST = 1 << 15
_WIDEST_RUN = 1 << 22

# How far a file that begins with no record is searched for one.
_SEARCHED_BYTES = 1 << 26
_START_BYTES = 512

_A_LENGTH = "the length of a record and its checksum"
_WRONG_LENGTH = "a length whose checksum is wrong"
_CHANGED = "the bytes changed on disk or on the way: copy the file again"
_NEVER_WRITTEN = "space that was allocated and never written, or lost disk blocks"
_CUT = "the writer was killed, or the copy is incomplete"


class Scanner:
    """Reads a stream record by record.

    Args:
        stream: at the beginning of a record.
        where: what to call the file.
        size: where the file ends; None in a compressed file. As that may inflate to a
            thousand times its size, no more than the limit of a record is searched.
        number: the number of the next record.
        limit: the most bytes of a record; no more than MOST_RECORD_BYTES are read.
    """

    def __init__(
        self, stream: Stream, where: str, size: int | None, number: int, limit: int
    ) -> None:
        self._stream = stream
        self._where = where
        self._size = size
        self._number = number
        self._limit = min(limit, MOST_RECORD_BYTES)
        self._search = Search(stream, size, self._limit)

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
                damage = self._next_alone()
                if damage is not None:
                    yield damage
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
                yield self._torn(int(run.stops[last] - run.starts[last]))
        if stream.failure is not None:
            ended = stream.failure.ended
            yield self._damage(
                "truncated" if ended else "compression",
                str(stream.failure),
                "a whole compressed file",
                _CUT if ended else _CHANGED,
                stream.offset,
            )

    def _checked(self, run: Run) -> Iterator[Records | Damage]:
        """Yield the good records of a run, then its damages, and move behind them."""
        stream, count = self._stream, len(run.starts)
        if not count:
            return
        records = Records(
            self._where,
            stream.memory,
            run.starts,
            run.stops,
            np.arange(self._number, self._number + count, dtype=np.int64),
            run.starts + stream.offset,
        )
        if run.good.all():
            yield records
        elif run.good.any():
            yield records.only(run.good)
        for row in np.flatnonzero(~run.good).tolist():
            yield Damage(
                self._where,
                int(records.numbers[row]),
                int(records.offsets[row]) - HEADER_SIZE,
                "checksum",
                "bytes that do not have the checksum of the record",
                f"the {int(run.stops[row] - run.starts[row])} bytes that were written",
                _CHANGED,
            )
        self._number += count
        stream.drop(int(run.stops[-1]) + FOOTER_SIZE)

    def _goes_on(self, stop: int) -> bool:
        """Return whether a record, or the end, follows one with a wrong checksum."""
        behind = stop + FOOTER_SIZE
        if self._stream.need(behind + HEADER_SIZE):
            return is_header(self._stream.data, behind)
        return len(self._stream) == behind

    def _next_alone(self) -> Damage | None:
        """Handle a record that is not in the window with all its bytes.

        Returns:
            The damage; None if the record is there now, or if `runs` says why it is not.
        """
        stream = self._stream
        at = stream.offset
        if not stream.need(HEADER_SIZE):
            held = len(stream)
            stream.drop(held)
            if stream.failure is not None:
                return None
            found = f"the file ends {held} bytes into a record's length"
            expected = f"{HEADER_SIZE} bytes of length and checksum"
            return self._damage("truncated", found, expected, _CUT, at)
        if not is_header(stream.data):
            if stream.data[:HEADER_SIZE].tobytes().strip(b"\0"):
                return self._behind(_WRONG_LENGTH, _CHANGED)
            return self._behind("zeros", _NEVER_WRITTEN)
        length = length_at(stream.data, 0)
        if not self._fits(length):
            return self._torn(length)
        if length > self._limit:
            return self._too_long(length)
        # With the next length, for which a long record would be copied otherwise.
        if (
            stream.need(FRAMING + length + HEADER_SIZE)
            or len(stream) >= FRAMING + length
        ):
            return None
        if stream.failure is None:
            return self._torn(length)
        stream.drop(len(stream))
        return None

    def _fits(self, length: int) -> bool:
        """Return whether the file is long enough for the next record."""
        end = self._stream.offset + FRAMING + length
        return self._size is None or end <= self._size

    def _too_long(self, length: int) -> Damage:
        """Skip a record that is longer than the limit, without holding it."""
        at = self._stream.offset
        found = f"a record of {length} bytes"
        expected = f"at most {self._limit} bytes of record"
        cause = "if the size is intended, raise the setting max-record-bytes"
        if length > MOST_RECORD_BYTES:
            expected = RECORD_LIMIT
            cause = "TensorFlow cannot read it: write its values into several records"
        if self._size is None:
            self._stream.end()
            cause += "; the rest of this compressed file was not read"
            return self._damage("limit", found, expected, cause, at)
        self._stream.skip(FRAMING + length)
        return self._damage("limit", found, expected, cause, at, self._stream.offset)

    def _torn(self, length: int) -> Damage:
        """Read on behind a record whose length is right and whose end is missing."""
        stream = self._stream
        at = stream.offset
        whole = self._fits(length) and stream.need(FRAMING + length)
        held = (self._size or at + len(stream)) - at - HEADER_SIZE
        to = self._search.next_record()
        if to is None and not whole:
            there = min(held, length)
            found = f"the file ends {there} bytes into a record of {length} bytes"
            expected = f"{length} bytes of record, and {FOOTER_SIZE} of checksum"
            return self._damage("truncated", found, expected, _CUT, at)
        return self._damage(
            "torn",
            f"other bytes within a record of {length} bytes, and no record after it",
            "the record's bytes, its checksum and the next record",
            "a part of the file was lost, or two writers wrote it",
            at,
            to,
        )

    def find_start(self, compression: str) -> Iterator[Damage]:
        """Tell a damaged beginning from a file of another format.

        Args:
            compression: the name of the file's compression; "" for none.
        """
        stream = self._stream
        at, whole = stream.offset, stream.need(HEADER_SIZE)
        if not len(stream) or is_header(stream.data):
            return
        if not whole and stream.failure is not None:
            return  # `runs` says why
        stream.need(_START_BYTES)
        start = stream.data[:_START_BYTES].tobytes()
        to = None if other_format(start) else self._search.next_record(_SEARCHED_BYTES)
        if to is not None:
            yield self._damage("length", _WRONG_LENGTH, _A_LENGTH, _CHANGED, at, to)
            return
        found = describe_start(start)
        if compression:
            found += f", compressed with {compression}"
        yield self._damage(
            "foreign",
            found,
            f"a TFRecord file, uncompressed or compressed with {ANY}",
            "this is not a TFRecord file",
            at,
        )
        stream.end()
        stream.failure = None

    def _behind(self, found: str, cause: str) -> Damage:
        """Read on behind a damaged length."""
        at, to = self._stream.offset, self._search.next_record()
        if to is None:
            found += f", and no record in the {self._stream.offset - at:,} bytes "
            if self._search.gave_up:
                found += "behind it"
                cause += "; the rest of the file was not read"
            else:
                found += "from there to the end"
        return self._damage("length", found, _A_LENGTH, cause, at, to)

    def _damage(
        self,
        kind: str,
        found: str,
        expected: str,
        cause: str,
        at: int,
        to: int | None = None,
    ) -> Damage:
        """Return damage from one offset to that of the next good record, if any."""
        number, skipped = self._number, None if to is None else to - at
        self._number += 1
        return Damage(self._where, number, at, kind, found, expected, cause, skipped)
