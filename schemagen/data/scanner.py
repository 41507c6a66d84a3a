"""The records of a stream in order, and recovery behind damage."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..runtime.reading.records import Records
from ..runtime.shared.tfrecord import FOOTER_SIZE, FRAMING, HEADER_SIZE
from .formats import describe_start, other_format
from .frames import (
    MOST_BYTES,
    Run,
    Search,
    is_header,
    length_at,
    run_of,
)
from .limits import size_text
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
_CUT = "the writer was killed, or the copy was broken off"


class Scanner:
    """Reads a stream record by record.

    Args:
        stream: at the beginning of a record.
        where: what to call the file.
        size: where the file ends; None in a compressed file. As that may inflate to a
            thousand times its size, no more than the limit of a record is searched.
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
                yield from self._next_alone()
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
            yield self.damage(
                "truncated" if ended else "compression",
                str(stream.failure),
                "a whole compressed file",
                _CUT if ended else _CHANGED,
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

    def _next_alone(self) -> Iterator[Damage]:
        """Handle a record that is not in the window with all its bytes."""
        stream = self._stream
        if not stream.need(HEADER_SIZE):
            if stream.failure is None:
                yield self.damage(
                    "truncated",
                    f"the file ends {len(stream)} bytes into a record's length",
                    f"{HEADER_SIZE} bytes of length and checksum",
                    _CUT,
                )
            stream.drop(len(stream))
            return
        if not is_header(stream.data):
            if stream.data[:HEADER_SIZE].tobytes().strip(b"\0"):
                yield self._behind(_WRONG_LENGTH, _A_LENGTH, _CHANGED)
            else:
                cause = (
                    "space that was set aside and never written, or blocks that a "
                    "disk lost"
                )
                yield self._behind("zeros", _A_LENGTH, cause)
            return
        length = length_at(stream.data, 0)
        if length > MOST_BYTES:
            yield self._behind(
                f"a length of {length} bytes, with its checksum",
                f"at most {MOST_BYTES} bytes, as protobuf allows",
                "no TFRecord writer made this length",
            )
            return
        if not self._fits(length):
            yield self._torn(length)
        elif length > self._limit:
            yield self._too_long(length)
        elif not stream.need(FRAMING + length):
            if stream.failure is None:
                yield self._torn(length)
            else:
                stream.drop(len(stream))  # `runs` says why

    def _fits(self, length: int) -> bool:
        """Return whether the file is long enough for the next record."""
        end = self._stream.offset + FRAMING + length
        return self._size is None or end <= self._size

    def _too_long(self, length: int) -> Damage:
        """Skip a record that is longer than the limit, without holding it."""
        skipped = FRAMING + length
        cause = (
            "if it is meant to be so large, raise the limit: "
            f"--max-record-bytes {size_text(length)}"
        )
        to: int | None = self._stream.offset + skipped
        if self._size is None:
            to = None
            cause += "; the rest of this compressed file was not read"
        found = f"a record of {length} bytes"
        expected = f"at most {self._limit} bytes of record"
        damage = self.damage("limit", found, expected, cause, to=to)
        self._number += 1
        if to is None:
            self._stream.end()
        else:
            self._stream.skip(skipped)
        return damage

    def _torn(self, length: int) -> Damage:
        """Read on behind a record whose length is right and whose end is missing."""
        stream = self._stream
        whole = self._fits(length) and stream.need(FRAMING + length)
        end = self._size or stream.offset + len(stream)
        held = end - stream.offset - HEADER_SIZE
        to = self._next()
        if to is None and not whole:
            found = f"the file ends {held} bytes into a record of {length} bytes"
            if held >= length:
                found = (
                    f"the file ends {held - length} bytes into the checksum of a record"
                )
            expected = f"{length} bytes of record, and {FOOTER_SIZE} of checksum"
            return self._damage_until(to, "truncated", found, expected, _CUT)
        return self._damage_until(
            to,
            "torn",
            f"other bytes within a record of {length} bytes, and no record behind it",
            "the record's bytes, its checksum and the next record",
            "a part of the file was lost, or two writers wrote it",
        )

    def find_start(self, compression: str) -> Iterator[Damage]:
        """Tell a damaged beginning from a file of another format."""
        stream = self._stream
        stream.need(_START_BYTES)
        start = stream.data[:_START_BYTES].tobytes()
        if not other_format(start):
            to = self._next(_SEARCHED_BYTES)
            if to is not None:
                yield self._damage_until(
                    to, "length", _WRONG_LENGTH, _A_LENGTH, _CHANGED
                )
                return
        found = describe_start(start)
        if compression:
            found += f", compressed with {compression}"
        yield self.damage(
            "foreign",
            found,
            "a TFRecord file, uncompressed or compressed with GZIP or ZLIB",
            "this is not a TFRecord file",
            at=self._began,
        )
        stream.end()
        stream.failure = None

    def _behind(self, found: str, expected: str, cause: str) -> Damage:
        """Read on behind a damaged length."""
        to = self._next()
        if to is None:
            searched = self._stream.offset - self._began
            found += f", and no record in the {searched:,} bytes "
            if self._search.gave_up:
                found += "behind it"
                cause += "; the rest of the file was not read"
            else:
                found += "from there to the end"
        return self._damage_until(to, "length", found, expected, cause)

    def _next(self, most: int | None = None) -> int | None:
        """Move to the next record, and return its offset."""
        self._began = self._stream.offset
        if self._size is None:
            most = min(most or self._limit, self._limit)
        return self._search.next_record(most)

    def _damage_until(
        self, to: int | None, kind: str, found: str, expected: str, cause: str
    ) -> Damage:
        """Return the damage from where the last search began to where it ended."""
        damage = self.damage(kind, found, expected, cause, at=self._began, to=to)
        self._number += 1
        return damage

    def damage(
        self,
        kind: str,
        found: str,
        expected: str,
        cause: str,
        *,
        at: int | None = None,
        to: int | None = None,
    ) -> Damage:
        """Return damage at the next record, or elsewhere.

        Args:
            kind: as of `Damage`.
            found: what is there.
            expected: what should be.
            cause: the likely cause.
            at: where it begins; None for the next record.
            to: where the next good record is; None without one.
        """
        at = self._stream.offset if at is None else at
        skipped = None if to is None else to - at
        return Damage(
            self._where, self._number, at, kind, found, expected, cause, skipped
        )
