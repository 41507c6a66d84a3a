"""Frames of records: their lengths and checksums, found in memory or behind damage."""

from __future__ import annotations

import math
import mmap
import struct
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..runtime.native import followed, headers_in
from ..runtime.shared.tfrecord import (
    FOOTER_SIZE,
    FRAMING,
    HEADER_SIZE,
    masked_crc32c,
)
from .stream import Stream

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


class Run(NamedTuple):
    """Records at the beginning of a window, whose lengths are right.

    Attributes:
        starts: int64 [N], where the bytes of each begin in the window.
        stops: int64 [N], where they end.
        good: bool [N], whether their own checksums are right.
    """

    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    good: NDArray[np.bool_]

    def before(self, row: int) -> Run:
        """Return the records before one of them."""
        return Run(self.starts[:row], self.stops[:row], self.good[:row])


def run_of(memory: NDArray[np.uint8]) -> Run:
    """Find the records that are in a window with all their bytes."""
    ends, wrong = followed(memory)
    begins = np.concatenate([[0], ends[:-1]]) if len(ends) else ends
    return Run(begins + HEADER_SIZE, ends - FOOTER_SIZE, ~wrong)


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
        if run_of(stream.memory[at:end]).good.any():
            return True
        self._left -= length
        return False
