"""Records that stand one after the other: their lengths and checksums."""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..runtime.shared.tfrecord import (
    checksum_bytes,
    crc32c_of_lengths,
    extend_crc32c,
    masked_crc32c,
)

HEADER, FOOTER = 12, 4
FRAMING = HEADER + FOOTER

_LENGTH = struct.Struct("<Q")


def length_at(data: memoryview, at: int) -> int:
    """Return what a header says of its record's bytes, whether right or not."""
    (length,) = _LENGTH.unpack_from(data, at)
    return int(length)


def is_header(data: memoryview, at: int) -> bool:
    """Tell whether a length with its right checksum stands at a place."""
    if at + HEADER > len(data):
        return False
    stored = int.from_bytes(data[at + 8 : at + HEADER], "little")
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
    """Find the records that stand in a window with all their bytes."""
    data = memoryview(memory.data)
    starts, stops = _extents(data)
    if len(starts):
        headers = memory[(starts - HEADER)[:, np.newaxis] + np.arange(HEADER)]
        right = checksum_bytes(crc32c_of_lengths(headers[:, :8])) == headers[:, 8:]
        whole = right.all(axis=1)
        if not whole.all():
            last = int(np.argmin(whole))
            starts, stops = starts[:last], stops[:last]
    if not len(starts):
        return Run(starts, stops, np.empty(0, np.bool_))
    crcs = [
        extend_crc32c(0, memory[start:stop])
        for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)
    ]
    stored = memory[stops[:, np.newaxis] + np.arange(FOOTER)]
    good = (checksum_bytes(np.array(crcs, np.uint32)) == stored).all(axis=1)
    return Run(starts, stops, good)


def _extents(data: memoryview) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Follow the lengths from record to record, right or not, while they fit."""
    ends: list[int] = []
    unpack, size = _LENGTH.unpack_from, len(data)
    at = 0
    while at + FRAMING <= size:
        at += unpack(data, at)[0] + FRAMING
        if at > size:
            break
        ends.append(at)
    bounds = np.array([0, *ends], np.int64)
    return bounds[:-1] + HEADER, bounds[1:] - FOOTER


def headers_in(window: NDArray[np.uint8]) -> NDArray[np.intp]:
    """Return where in a window a length below 4 GB stands that has its right checksum.

    Places whose bytes cannot be such a length, or that have zeros for a checksum, as a
    hole of zeros has, are sorted out first: that is many times as quick.
    """
    if len(window) < HEADER:
        return np.empty(0, np.intp)
    zero = window == 0
    two = zero[:-1] & zero[1:]
    four = two[:-2] & two[2:]  # four zeros from each place on
    places = (
        np.flatnonzero(four[4:-4] & ~four[8:]) if len(four) > 8 else np.empty(0, int)
    )
    views = window[places[:, np.newaxis] + np.arange(HEADER)]
    right = checksum_bytes(crc32c_of_lengths(views[:, :8])) == views[:, 8:]
    found: NDArray[np.intp] = places[right.all(axis=1)]
    return found
