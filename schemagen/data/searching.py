"""The next record behind damage: every place is tried."""

from __future__ import annotations

from ..support.tfrecord import masked_crc32c
from .runs import FOOTER, FRAMING, HEADER, headers_in, length_at
from .stream import Stream

MOST_BYTES = (1 << 31) - 1
"""No protobuf is longer, so that nobody waits for a record that claims to be."""

# How much is tried at a time.
_WINDOW_BYTES = 1 << 20


def next_record(
    stream: Stream, size: int | None, most: int | None = None
) -> int | None:
    """Move a stream to the next record, and return where in the file it stands.

    Args:
        stream: at a place where there is none.
        size: where the file ends, if that is known.
        most: after how many bytes to give up; the stream then stays where it is.
    """
    at = 1
    while stream.need(at + HEADER) and (most is None or at < most):
        stream.need(at + _WINDOW_BYTES)
        window = stream.memory[at : at + _WINDOW_BYTES]
        for candidate in headers_in(window).tolist():
            if _stands_at(stream, at + candidate, size):
                stream.drop(at + candidate)
                return stream.offset
        at += len(window) - HEADER + 1
        if most is None:
            stream.drop(at)
            at = 0
    if most is None:
        stream.drop(len(stream))
    return None


def _stands_at(stream: Stream, at: int, size: int | None) -> bool:
    """Tell whether a whole record stands at a place of the window."""
    length = length_at(stream.data, at)
    end = at + FRAMING + length
    if length > MOST_BYTES or (size is not None and stream.offset + end > size):
        return False
    if not stream.need(end):
        return False
    record = stream.data[at + HEADER : end - FOOTER]
    stored = int.from_bytes(stream.data[end - FOOTER : end], "little")
    return masked_crc32c(record.tobytes()) == stored
