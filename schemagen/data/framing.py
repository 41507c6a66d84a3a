"""From a file's bytes to records: framing, checksums, and reading on behind damage."""

from __future__ import annotations

import math
import mmap
import os
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import RawIOBase
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..runtime.cells.serialized import Records
from ..runtime.native import followed, headers_in
from ..runtime.shared.compression import ANY, fill_from, inflated
from ..runtime.shared.errors import DatasetError
from ..runtime.shared.tfrecord import (
    FOOTER_SIZE,
    FRAMING,
    HEADER_SIZE,
    MOST_RECORD_BYTES,
    RECORD_LIMIT,
    masked_crc32c,
)
from ..runtime.sources.generation import check_all_same, check_state
from ..runtime.sources.shards import File
from ..runtime.storage.files import FileState
from .files import FilePath, Stream, compression_of, file_path, open_file
from .foreign import describe_start, other_format

NOT_RECORDS = "this is not a TFRecord file"
"""The cause of damage in a file of another format."""


@dataclass(frozen=True)
class Damage:
    """A place of a file at which no record can be read.

    Attributes:
        file: the file's path.
        record: the number of the record that cannot be read.
        offset: where its frame begins, as in `Records`.
        kind: one word: "checksum" (of a record), "length", "torn", "truncated",
            "compression", "foreign" (not a TFRecord file), "unreadable", "limit" (a
            record that takes more than is allowed).
        found: what is there.
        expected: what should be.
        cause: the likely cause; empty if unknown.
        skipped: how many bytes were skipped until the next good record; 0 if none
            were, None without a further one.
    """

    file: str
    record: int
    offset: int
    kind: str
    found: str
    expected: str
    cause: str = ""
    skipped: int | None = 0


@dataclass(frozen=True)
class FileRange:
    """Consecutive records of a file.

    Attributes:
        path: the file.
        start: the offset at which they begin.
        stop: the offset at which they end; None for the file's end.
        first: the number of the first one.
        opened: the file as it was when it was found; None if no one has looked.
    """

    path: FilePath
    start: int = 0
    stop: int | None = None
    first: int = 0
    opened: File | None = None

    def open(self) -> RawIOBase:
        """Open the file for reading, unbuffered.

        Raises:
            OSError: it does not exist, it is not a regular file, or it cannot be read.
        """
        if self.opened is None or self.opened.is_settled:
            return open_file(self.path)
        return self.opened.at_current_path(lambda path: open_file(file_path(path)))

    def check(self, file: RawIOBase) -> None:
        """Compare an open file of this machine with what it was when it was found.

        Raises:
            DatasetError: it is another one, or was changed.
        """
        if self.opened is not None and not self.opened.is_remote:
            check_state(self.opened, FileState.of(os.fstat(file.fileno())))


def whole_range(file: File) -> FileRange:
    """Return all of a file."""
    return FileRange(file_path(file.path), opened=file)


_LENGTH = struct.Struct("<Q")

# How much is searched at a time.
_WINDOW_BYTES = 1 << 20

# Lengths with right checksums and no record behind them occur in hostile files only.
# After reading this many times the longest record in vain, a search gives up.
_IN_VAIN = 16


def length_at(data: memoryview | mmap.mmap, at: int) -> int:
    """Return the length that a header states, whether right or not."""
    (length,) = _LENGTH.unpack_from(data, at)
    return int(length)


def is_header(data: memoryview, at: int = 0) -> bool:
    """Return whether a length with its right checksum is at a place."""
    if at + HEADER_SIZE > len(data):
        return False
    stored = int.from_bytes(data[at + 8 : at + HEADER_SIZE], "little")
    return stored == masked_crc32c(data[at : at + 8].tobytes())


class Frames(NamedTuple):
    """Records at the beginning of a window, whose lengths are right.

    Attributes:
        starts: int64 [N], where the bytes of each begin in the window.
        stops: int64 [N], where they end.
        good: bool [N], whether their own checksums are right.
    """

    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    good: NDArray[np.bool_]

    def before(self, row: int) -> Frames:
        """Return the records before one of them."""
        return Frames(self.starts[:row], self.stops[:row], self.good[:row])


def frames_in(memory: NDArray[np.uint8]) -> Frames:
    """Find the records that are in a window with all their bytes."""
    ends, wrong = followed(memory)
    begins = np.concatenate([[0], ends[:-1]]) if len(ends) else ends
    return Frames(begins + HEADER_SIZE, ends - FOOTER_SIZE, ~wrong)


class Search:
    """Finds the next record behind damage in a stream.

    Args:
        stream: the stream.
        size: where the file ends, if that is known.
        longest: the most bytes of a record.

    Attributes:
        gave_up: whether the last search ended before the file did.
    """

    def __init__(self, stream: Stream, size: int | None, longest: int) -> None:
        self._stream = stream
        self._size = size
        self._longest = longest
        self._left = _IN_VAIN * longest
        self.gave_up = False

    def next_record(self, most: float = math.inf) -> int | None:
        """Move the stream to the next record, and return its offset in the file.

        If there is none, the stream is at its end.

        Args:
            most: after how many bytes to give up; in any case after as many as the
                longest record has, if it is not known where the file ends.
        """
        stream = self._stream
        until = stream.offset + (
            min(most, self._longest) if self._size is None else most
        )
        at = 1
        while stream.need(at + HEADER_SIZE):
            if self._left < 0 or stream.offset + at > until:
                self.gave_up = True
                stream.end()
                return None
            stream.need(at + _WINDOW_BYTES)
            window = stream.memory[at : at + _WINDOW_BYTES]
            for candidate in headers_in(window).tolist():
                if self._is_record(at + candidate):
                    stream.drop(at + candidate)
                    return stream.offset
                if self._left < 0:
                    break
            stream.drop(at + len(window) - HEADER_SIZE + 1)
            at = 0
        stream.drop(len(stream))
        return None

    def _is_record(self, at: int) -> bool:
        """Return whether a whole record is at a place of the window."""
        stream = self._stream
        length = length_at(stream.data, at)
        end = at + FRAMING + length
        fits = self._size is None or stream.offset + end <= self._size
        if length > self._longest or not fits or not stream.need(end):
            return False
        if frames_in(stream.memory[at:end]).good.any():
            return True
        self._left -= length
        return False


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
            run = frames_in(stream.memory)
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

    def _checked(self, run: Frames) -> Iterator[Records | Damage]:
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
            NOT_RECORDS,
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


# How many bytes are read at a time where no one looks for records.
_SCRATCH_BYTES = 1 << 20

Advance = Callable[[int], object]
"""Called with the number of bytes that were read since the last call."""


def scan(
    source: FilePath | FileRange,
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
    part = source if isinstance(source, FileRange) else FileRange(source)
    try:
        with part.open() as file:
            size = file.seek(0, os.SEEK_END) if part.stop is None else part.stop
            left = size - file.seek(part.start)

            def fill(memory: memoryview) -> int:
                nonlocal left
                got = file.readinto(memory[:left]) or 0
                left -= got
                if got or left:
                    part.check(file)
                advance(got)
                if on_data is not None:
                    on_data(memory[:got])
                return got

            stream = Stream(fill, part.start)
            yield from _scanned(stream, part, size, max_record_bytes)
            rest = memoryview(bytearray(_SCRATCH_BYTES if on_data else 0))
            while fill(rest):
                pass
        if part.opened is not None and part.opened.is_remote:
            check_all_same([part.opened])
    except (OSError, DatasetError) as error:
        reason = str(error).removeprefix(f"{part.path}: ")
        if isinstance(error, OSError):
            reason = error.strerror or reason
        expected = "a file that can be read"
        yield Damage(str(part.path), 0, 0, "unreadable", reason, expected)


def _scanned(
    stream: Stream, part: FileRange, size: int | None, limit: int
) -> Iterator[Records | Damage]:
    """Scan a stream that begins with the beginning of a file, or with a record.

    Raises:
        OSError: the bytes cannot be read.
        DatasetError: the file was changed.
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
