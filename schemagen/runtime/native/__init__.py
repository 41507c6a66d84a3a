"""The core in C: framing, checksums, and records to columns, loaded by ctypes.

A call frees the interpreter's lock, so threads may read ranges of records at once. Arrays
are passed by their addresses, and have to be contiguous.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_int, c_int32, c_int64, c_void_p
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .memory import empty

Rows = NDArray[np.int64]
Lengths = NDArray[np.int32]
Bytes = NDArray[np.uint8]
Buffer = bytes | bytearray | memoryview | Bytes

# The bytes of a frame that are not the record's.
_FRAMING = 16

_PATH = Path(__file__).with_name("_core.so")

BYTES, FLOAT, INT64 = "bytes", "float", "int64"
NOTHING = ""
"""The kind of a feature that holds no list at all."""


_SIGNATURES: dict[str, tuple[Any, ...]] = {
    "crc32c": (ctypes.c_uint32, ctypes.c_uint32, c_void_p, c_int64),
    "frames_follow": (c_int64, c_void_p, *[c_int64] * 4, *[c_void_p] * 3),
    "frames_fill": (None, c_void_p, c_void_p, c_int64),
    "headers_find": (c_int64, c_void_p, c_int64, c_int64, c_void_p),
    "frames_check": (c_int64, c_void_p, c_void_p, c_void_p, c_int64, c_void_p),
    "columns_read": (c_void_p, c_void_p, c_void_p, c_void_p, c_int64, c_void_p),
    "columns_sizes": (None, c_void_p, c_void_p),
    "columns_items": (c_void_p, c_void_p, c_int),
    "columns_key": (c_void_p, c_void_p, c_int, c_int32, POINTER(c_int64)),
    "columns_fill": (c_int, c_void_p, c_void_p, c_void_p),
    "columns_expect": (None, *[c_void_p] * 3, c_int64, c_void_p, c_int64, c_void_p),
    "columns_free": (None, c_void_p),
    "records_measure": (None, c_void_p, *[c_int64] * 2, c_int32, *[c_void_p] * 3),
    "records_write": (
        *(None, c_void_p, *[c_int64] * 2, c_int32),
        *(*[c_void_p] * 2, *[c_int64] * 2, c_void_p),
    ),
    "varints_write": (c_int64, c_void_p, c_int64, c_void_p),
    "bytes_join": (None, c_void_p, c_void_p, c_int64, c_void_p),
    "bytes_digest": (None, c_void_p, c_void_p, c_int64, c_void_p),
    "lists_pad": (None, *[c_void_p] * 2, *[c_int64] * 3, *[c_void_p] * 2),
    "lists_pack": (c_int, c_void_p, *[c_int64] * 3, c_int, *[c_void_p] * 2),
    "image_mix": (c_int, c_void_p, c_int, *[c_int64] * 5, c_void_p),
    "image_filter": (c_int, c_void_p, c_int, *[c_int64] * 5, c_void_p),
    "image_pick": (None, c_void_p, *[c_int64] * 5, c_void_p),
    "floats_round": (None, c_void_p, c_int64, c_void_p),
    "ranges_read": (c_int64, c_int32, *[c_void_p] * 3, c_int64, *[c_void_p] * 2),
    "files_read": (
        *(None, *[c_void_p] * 2, c_int64, *[c_void_p] * 4, c_int64),
        *([c_void_p] * 5),
    ),
}
"""What each function returns, and what it takes."""


def _load() -> Any:
    """Load the core.

    Raises:
        ImportError: it was not built for this platform, or from other sources.
    """
    try:
        loaded = ctypes.CDLL(str(_PATH))
        for name, (result, *arguments) in _SIGNATURES.items():
            function = getattr(loaded, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        raise ImportError(
            f"{_PATH}: the core of schemagen is missing, is for another platform, or is "
            f"older than its sources: install schemagen again; {error}"
        ) from None
    return loaded


core = _load()
"""The functions of the core."""


_begins = ctypes.c_char.from_buffer


def address(array: NDArray[Any]) -> int:
    """Return where the values of an array begin."""
    try:
        # A quarter of the time, for memory that may be written.
        return ctypes.addressof(_begins(array))  # type: ignore[arg-type]
    except (TypeError, ValueError, BufferError):
        found: int = array.__array_interface__["data"][0]
        return found


def addresses(*arrays: NDArray[Any]) -> list[int]:
    """Return where the values of some arrays begin."""
    return [*map(address, arrays)]


def crc32c(data: Buffer, crc: int = 0) -> int:
    """Return the CRC-32C of bytes that come after others with a known one."""
    if isinstance(data, bytes):
        of_bytes: int = core.crc32c(crc, data, len(data))
        return of_bytes
    array = np.frombuffer(data, np.uint8)
    found: int = core.crc32c(crc, address(array), array.size)
    return found


def followed(data: Bytes) -> tuple[Rows, NDArray[np.bool_]]:
    """Follow the frames from the beginning of some bytes, while their lengths are right.

    Args:
        data: uint8 [bytes].

    Returns:
        Where each ends, int64 [N]; and which have a wrong checksum of their own, bool [N].
    """
    most, end = data.size // _FRAMING, c_int64()
    ends, wrong = np.empty(most, np.int64), np.empty(most, np.bool_)
    size, places = data.size, addresses(ends, wrong)
    count = core.frames_follow(
        address(data), size, 0, size, most, *places, ctypes.addressof(end)
    )
    return ends[:count], wrong[:count]


def follow_lengths(
    data: Bytes, start: int, until: int, most: int = 1 << 62
) -> tuple[int, int]:
    """Follow up to `most` frames by their lengths, to the first that ends at a place or later.

    Returns:
        How many there are, and where the last one ends: before that place if there is a
        wrong length, or the end of the bytes.
    """
    end = c_int64()
    count = core.frames_follow(
        address(data),
        data.size,
        start,
        until,
        most,
        None,
        None,
        ctypes.addressof(end),
    )
    return count, end.value


def headers_in(data: Bytes) -> Rows:
    """Return the places at which a length below 4 GiB has its right checksum: int64 [N].

    Args:
        data: uint8 [bytes].
    """
    places = np.empty(data.size, np.int64)
    return places[
        : core.headers_find(address(data), data.size, data.size, address(places))
    ]


def fill_frames(data: bytearray | memoryview, ends: Rows) -> None:
    """Write the lengths and checksums of records whose bytes are in their places.

    Args:
        data: frames, one behind the other.
        ends: int64 [N], where each ends.
    """
    if not len(ends):
        return
    ends = np.ascontiguousarray(ends)
    core.frames_fill(address(np.frombuffer(data, np.uint8)), address(ends), len(ends))


def damaged(data: Bytes, starts: Rows, stops: Rows) -> Rows:
    """Return the rows of frames whose length or checksums are wrong.

    Args:
        data: uint8 [bytes], the memory of the frames.
        starts: int64 [N], where each frame begins.
        stops: int64 [N], where it ends.
    """
    wrong = np.empty(len(starts), np.uint8)
    starts, stops = np.ascontiguousarray(starts), np.ascontiguousarray(stops)
    count = len(starts)
    if not core.frames_check(*addresses(data, starts, stops), count, address(wrong)):
        return np.empty(0, np.int64)
    return np.flatnonzero(wrong)


def joined(data: Bytes, extents: Rows) -> Bytes:
    """Return bytes values one behind the other.

    Args:
        data: uint8 [bytes], the memory that holds them.
        extents: int64 [N, 2], where each begins and ends.
    """
    extents = np.ascontiguousarray(extents)
    out = empty(int((extents[:, 1] - extents[:, 0]).sum()), np.uint8)
    core.bytes_join(*addresses(data, extents), len(extents), address(out))
    return out


def digests(data: Bytes, extents: Rows) -> NDArray[np.uint64]:
    """Return a digest of each value, in which equal ones show: uint64 [N].

    Args:
        data: uint8 [bytes].
        extents: int64 [N, 2], where each value begins and ends.
    """
    extents = np.ascontiguousarray(extents)
    out = np.empty(len(extents), np.uint64)
    core.bytes_digest(*addresses(data, extents), len(extents), address(out))
    return out


def padded(values: NDArray[Any], lengths: Rows, most: int, filler: Any) -> NDArray[Any]:
    """Return lists as rows of one length.

    Args:
        values: [sum of lengths, ...], the items of all lists.
        lengths: int64 [N], how many items each has.
        most: how many a row has, at least the longest list's.
        filler: what fills the rest.
    """
    values, lengths = np.ascontiguousarray(values), np.ascontiguousarray(lengths)
    item = np.full(values.shape[1:], filler, values.dtype)
    rows = empty((len(lengths), most, *item.shape), values.dtype)
    core.lists_pad(
        *addresses(values, lengths),
        len(lengths),
        most,
        item.nbytes,
        *addresses(item, rows),
    )
    return rows


def row_counts(lengths: Lengths, window: int, size: int, *, drop: bool) -> Rows:
    """Return how many rows lists are packed into, those of each window by themselves.

    Args:
        lengths: int32 [N], how many items each list has.
        window: how many consecutive lists are packed together.
        size: how many items a row has; longer lists are cut into pieces.
        drop: leave out longer lists.

    Returns:
        int64 [windows].
    """
    return _pack(lengths, window, size, drop, None)


def pieces_of(lengths: Lengths, window: int, size: int, *, drop: bool) -> Rows:
    """Return where pieces of lists are packed; arguments are those of `row_counts`.

    Rows are in the order of their first pieces.

    Returns:
        int64 [P, 6], in the order of the lists: the list of each piece, where it begins in
        it, how many items it has; its row, counted through all windows, where it begins
        there, and which piece of the row it is, from 1.
    """
    counts = -(-lengths.astype(np.int64) // size)
    if drop:
        counts[lengths > size] = 0
    pieces = np.empty((int(counts.sum()), 6), np.int64)
    _pack(lengths, window, size, drop, pieces)
    return pieces


def _pack(
    lengths: Lengths, window: int, size: int, drop: bool, pieces: Rows | None
) -> Rows:
    lengths = np.ascontiguousarray(lengths, np.int32)
    counts = np.empty(-(-len(lengths) // window), np.int64)
    done = core.lists_pack(
        *(address(lengths), len(lengths), window, size, drop, address(counts)),
        None if pieces is None else address(pieces),
    )
    if not done:
        raise MemoryError("no memory to pack lists")
    return counts


def packed(numbers: Rows) -> bytes:
    """Return numbers as varints: int64 [N]."""
    if not numbers.size:
        return b""
    # Of few numbers, copies cost less than asking numpy for addresses.
    out = bytearray(10 * numbers.size)
    place = ctypes.byref(ctypes.c_char.from_buffer(out))
    end = core.varints_write(numbers.tobytes(), numbers.size, place)
    return bytes(memoryview(out)[:end])


def read_ranges(
    handle: int, starts: Rows, sizes: Rows, places: Rows, memory: Bytes
) -> tuple[int, int]:
    """Read ranges of an open file into memory.

    Args:
        handle: the file's descriptor.
        starts: int64 [N], where each range begins.
        sizes: int64 [N], how many bytes it has.
        places: int64 [N], where it begins in the memory.
        memory: uint8 [bytes].

    Returns:
        How many were read whole; if that are not all, the number of the error that came, or
        0 where the file ends.
    """
    error = c_int32()
    whole = core.ranges_read(
        handle,
        *addresses(starts, sizes, places),
        len(starts),
        address(memory),
        ctypes.addressof(error),
    )
    return whole, error.value


def read_files(
    files: Rows,
    bounds: Rows,
    paths: tuple[Bytes, Rows],
    states: NDArray[np.uint64],
    handles: NDArray[np.int32],
    keep: int,
    ranges: tuple[Rows, Rows, Rows],
    memory: Bytes,
) -> NDArray[np.bool_]:
    """Read ranges of files into memory, if the files are what they were.

    Args:
        files: int64 [F], the numbers of the files.
        bounds: int64 [F + 1], which ranges are those of each.
        paths: uint8 [bytes], the paths of all files, each with a zero behind it; and int64
            [files], where each begins.
        states: uint64 [files, 3], size, inode and modification time of each, as they were.
        handles: int32 [F], the descriptors of those that are open, and -1. Those of files
            that stay open are written to it.
        keep: how many more may stay open.
        ranges: int64 [R] each: where ranges begin in their files, how many bytes they have,
            and where they begin in the memory.
        memory: uint8 [bytes].

    Returns:
        Which could not be read, or are not what they were: bool [F].
    """
    status = np.empty(len(files), np.int32)
    core.files_read(
        *addresses(files, bounds),
        len(files),
        *addresses(*paths, states, handles),
        keep,
        *addresses(*ranges, memory, status),
    )
    failed: NDArray[np.bool_] = status != 0
    return failed
