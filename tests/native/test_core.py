"""The functions of the core against other programs, one by one."""

from __future__ import annotations

import gc
import struct

import google_crc32c
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from packed_rows import best_fit
from schemagen.runtime import native
from schemagen.runtime.native import memory
from schemagen.runtime.shared.tfrecord import frame

_SIZES = (0, 1, 7, 8, 9, 1023, 3071, 3072, 3073, 3 * 3072 + 5, 100_000)


@pytest.mark.parametrize("size", _SIZES)
def test_checksums_are_those_of_another_library(size: int) -> None:
    """Of bytes and of other memory, at once and in pieces; three streams or fewer."""
    data = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    expected = google_crc32c.value(data.tobytes())
    assert native.crc32c(data.tobytes()) == expected
    assert native.crc32c(data) == expected
    assert native.crc32c(memoryview(bytearray(data.tobytes()))) == expected
    cut = size // 3
    first = native.crc32c(data[:cut])
    assert native.crc32c(data[cut:], first) == expected


@given(st.lists(st.binary(max_size=40), max_size=9), st.integers(0, 400))
def test_frames_are_followed_while_they_are_whole(
    records: list[bytes], cut: int
) -> None:
    frames = [*map(frame, records)]
    data = np.frombuffer(b"".join(frames)[:cut], np.uint8)
    bounds = np.cumsum([len(each) for each in frames])
    ends, wrong = native.followed(data)
    assert ends.tolist() == [end for end in bounds.tolist() if end <= cut]
    assert not wrong.any()


def test_a_wrong_checksum_of_a_record_is_told_and_one_of_a_length_ends_the_frames() -> (
    None
):
    frames = [*map(frame, (b"one", b"two", b"three", b"four"))]
    data = np.frombuffer(b"".join(frames), np.uint8).copy()
    begins = np.cumsum([0, *map(len, frames)])
    data[begins[1] + 12] ^= 1
    ends, wrong = native.followed(data)
    assert ends.tolist() == begins[1:].tolist()
    assert wrong.tolist() == [False, True, False, False]
    assert native.damaged(data, begins[:-1], begins[1:]).tolist() == [1]
    data[begins[2]] ^= 1
    assert native.followed(data)[0].tolist() == begins[1:3].tolist()
    assert native.damaged(data, begins[:-1], begins[1:]).tolist() == [1, 2]
    assert native.follow_lengths(data, 0, begins[3]) == (2, begins[2])
    assert native.follow_lengths(data, int(begins[3]), len(data)) == (1, len(data))


def test_lengths_are_found_at_any_place_and_zeros_are_none() -> None:
    header = frame(b"x" * 300)[:12]
    data = bytes(100) + header + b"abc" + header + bytes(50) + header[:11]
    assert native.headers_in(np.frombuffer(data, np.uint8)).tolist() == [100, 115]
    too_long = struct.pack("<Q", 1 << 33)
    crc = native.crc32c(too_long)
    masked = (crc >> 15 | crc << 17) + 0xA282EAD8 & 0xFFFFFFFF
    data = too_long + struct.pack("<I", masked)
    assert not len(native.headers_in(np.frombuffer(data, np.uint8)))


@given(
    st.lists(st.integers(0, 5), max_size=9),
    st.sampled_from(["uint8", "int32", "float64", "bool"]),
    st.sampled_from([(), (2,), (2, 3)]),
    st.sampled_from([0, 1]),
)
def test_lists_are_padded_to_one_length(
    lengths: list[int], dtype: str, shape: tuple[int, ...], filler: int
) -> None:
    count = sum(lengths)
    values = np.arange(count * int(np.prod(shape))).reshape(count, *shape).astype(dtype)
    most = max(lengths, default=0) + 1
    found = native.padded(values, np.array(lengths, np.int64), most, filler)
    assert found.shape == (len(lengths), most, *shape)
    assert found.dtype == dtype
    start = 0
    for row, length in zip(found, lengths, strict=True):
        np.testing.assert_array_equal(row[:length], values[start : start + length])
        assert (row[length:] == np.array(filler, dtype)).all()
        start += length


@given(
    st.lists(st.integers(0, 40), max_size=60),
    st.sampled_from([1, 2, 7, 12, 41, 1000]),
    st.integers(0, 20),
    st.sampled_from([1, 100_003]),
    st.booleans(),
)
def test_lists_are_packed_as_a_model_packs_them(
    lengths: list[int], window: int, size: int, scale: int, drop: bool
) -> None:
    """Also into rows that are so long that several rooms share a bucket."""
    lengths, size = [length * scale for length in lengths], size * scale + 3
    pieces, counts = [], []
    for start in range(0, len(lengths), window):
        rows = best_fit(lengths[start : start + window], size, drop=drop)
        pieces += [
            (at + start, begin, sum(counts) + number)
            for number, row in enumerate(rows)
            for at, begin in row
        ]
        counts.append(len(rows))
    given = np.array(lengths, np.int32)
    assert native.row_counts(given, window, size, drop=drop).tolist() == counts
    found = native.pieces_of(given, window, size, drop=drop).tolist()
    assert [(at, begin, row) for at, begin, _, row, _, _ in found] == sorted(pieces)
    filled: dict[int, tuple[int, int]] = {}
    for at, begin, length, row, place, segment in found:
        assert length == min(size, lengths[at] - begin)
        used, before = filled.get(row, (0, 0))
        assert (place, segment) == (used, before + 1)
        filled[row] = used + length, segment


def test_memory_is_used_again_only_when_nothing_refers_to_it() -> None:
    """A view of a view is enough to keep it."""
    memory._free.clear()
    first = memory.empty((300, 1000), np.uint8)
    first[:] = 7
    kept = first[1:3].reshape(-1)[5:]
    place = first.__array_interface__["data"][0]
    del first
    gc.collect()
    second = memory.empty(300_000, np.uint8)
    second[:] = 9
    assert (kept == 7).all()
    assert second.__array_interface__["data"][0] != place
    del kept
    gc.collect()
    third = memory.empty((1000, 75), np.float32)
    assert third.__array_interface__["data"][0] == place


def test_no_more_memory_is_kept_than_a_limit() -> None:
    memory._free.clear()
    arrays = [memory.empty(1 << 22, np.uint8) for _ in range(20)]
    del arrays
    gc.collect()
    assert sum(each.size for each in memory._free[1 << 22]) == 1 << 25
    memory._free.clear()
