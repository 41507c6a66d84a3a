"""The next record behind damage: every place is tried."""

from __future__ import annotations

import numpy as np

from ..runtime.shared.tfrecord import checksum_bytes, extend_crc32c
from .runs import FOOTER, FRAMING, HEADER, headers_in, length_at
from .stream import Stream

MOST_BYTES = (1 << 31) - 1
"""No protobuf is longer, so that no one waits for a record that claims to be."""

# How much is tried at a time.
_WINDOW_BYTES = 1 << 20

# Lengths with their right checksums and no record behind them occur in hostile files
# only. So many times the longest record is read in vain before the rest is given up.
_IN_VAIN = 16


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

    def next_record(self, most: int | None = None) -> int | None:
        """Move the stream to the next record, and return where in the file it stands.

        Where none is found, the stream is at its end.

        Args:
            most: after how many bytes to give up; None to search all.
        """
        stream = self._stream
        until = None if most is None else stream.offset + most
        at = 1
        while stream.need(at + HEADER):
            if self._left < 0 or (until is not None and stream.offset + at > until):
                self.gave_up = True
                stream.end()
                return None
            stream.need(at + _WINDOW_BYTES)
            window = stream.memory[at : at + _WINDOW_BYTES]
            for candidate in headers_in(window).tolist():
                if self._stands_at(at + candidate):
                    stream.drop(at + candidate)
                    return stream.offset
                if self._left < 0:
                    break
            stream.drop(at + len(window) - HEADER + 1)
            at = 0
        stream.drop(len(stream))
        return None

    def _stands_at(self, at: int) -> bool:
        """Tell whether a whole record stands at a place of the window."""
        stream = self._stream
        length = length_at(stream.data, at)
        end = at + FRAMING + length
        fits = self._size is None or stream.offset + end <= self._size
        if length > self._longest or not fits or not stream.need(end):
            return False
        memory = stream.memory
        crc = extend_crc32c(0, memory[at + HEADER : end - FOOTER])
        stored = memory[end - FOOTER : end]
        if (checksum_bytes(np.array([crc], np.uint32))[0] == stored).all():
            return True
        self._left -= length
        return False
