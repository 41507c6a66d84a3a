"""TFRecord framing: TensorFlow's own bytes, and files are told by their contents.

What commands find in damaged files is in `tests/data`.
"""

from __future__ import annotations

import gzip
import random
import struct
import tracemalloc
import zlib
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from schemagen.runtime.shared.errors import DatasetError
from schemagen.runtime.shared.tfrecord import (
    detect_compression,
    frame,
    frame_records,
    masked_crc32c,
    read_records,
    survey,
)
from tiers import examples

RECORDS = [b"", b"first", bytes(range(256)), b"\x00" * 5]
FRAMED = b"".join(map(frame, RECORDS))

zstd = zstandard.ZstdCompressor(write_checksum=True).compress


def _tensorflow_file(path: Path, compression: str, records: list[bytes]) -> Path:
    with tf.io.TFRecordWriter(str(path), compression) as writer:
        for record in records:
            writer.write(record)
    return path


@examples(100)
@given(st.lists(st.binary(max_size=40), max_size=30))
def test_several_records_are_framed_as_one_by_one_are(records: list[bytes]) -> None:
    framed = frame_records(records)
    assert framed.data == b"".join(map(frame, records))
    assert framed.ends.tolist() == [*accumulate(len(each) + 16 for each in records)]


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
@pytest.mark.parametrize("name", ["plain", "a.tfrecord", "a.tfrecord.gz", "a.bin"])
def test_files_of_tensorflow_are_told_by_their_contents(
    tmp_path: Path, compression: str, name: str
) -> None:
    """A file's name says nothing: its first bytes tell how to read it, if there are any."""
    path = _tensorflow_file(tmp_path / name, compression, RECORDS)
    assert compression or path.read_bytes() == FRAMED
    assert list(read_records(path)) == RECORDS
    assert list(read_records(_tensorflow_file(path, compression, []))) == []
    path.write_bytes(b"")
    assert list(read_records(path)) == []


@pytest.mark.parametrize("level", [0, 1, 6, 9])
@pytest.mark.parametrize("size", [1, 11, 12, 13, 65_535, 65_536, 200_000])
def test_zlib_is_inflated_whatever_levels_and_sizes(
    tmp_path: Path, level: int, size: int
) -> None:
    """Records that compress to almost nothing, and to their own size, come out whole."""
    noise = random.Random(0).randbytes(size)
    records = [bytes(size), noise, bytes(3 * size), b""]
    path = tmp_path / "a"
    path.write_bytes(zlib.compress(b"".join(map(frame, records)), level))
    assert list(read_records(path)) == records


@pytest.mark.parametrize("compress", [gzip.compress, zlib.compress, zstd])
def test_compressed_files_may_be_joined(tmp_path: Path, compress: Any) -> None:
    """Streams one after the other are one file, as `cat` makes it of several."""
    path = tmp_path / "a"
    path.write_bytes(compress(FRAMED) + compress(b"") + compress(frame(b"last")))
    assert list(read_records(path)) == [*RECORDS, b"last"]
    path.write_bytes(compress(FRAMED) + b"no stream")
    with pytest.raises(DatasetError, match=rf"{path}: record {len(RECORDS)}: "):
        list(read_records(path))


@pytest.mark.parametrize("compress", [gzip.compress, zlib.compress, zstd])
def test_records_before_damage_are_read(tmp_path: Path, compress: Any) -> None:
    """All of them, if only the checksum behind the stream is damaged."""
    path = tmp_path / "a"
    data = bytearray(compress(FRAMED))
    data[-5 if compress is gzip.compress else -1] ^= 1
    path.write_bytes(data)
    with path.open("rb") as file:
        *records, problem = survey(file, "a")
    assert records == RECORDS
    assert str(problem).startswith(f"a: record {len(RECORDS)}: damaged ")


def _peak(path: Path) -> int:
    """Read a file, whether it is whole or not, and return how much memory that takes."""
    tracemalloc.start()
    try:
        for _ in read_records(path):
            pass
    except DatasetError as error:
        assert str(error).startswith(f"{path}: record 0: ")  # noqa: PT017
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def test_files_take_no_more_memory_than_a_record(tmp_path: Path) -> None:
    """One that inflates to 80 MB, or that claims to hold a record of 2**60 bytes."""
    path = tmp_path / "a"
    for compress in (gzip.compress, zlib.compress, zstd):
        path.write_bytes(compress(frame(bytes(1_000_000)) * 80))
        assert _peak(path) < 10_000_000
    length = struct.pack("<Q", 2**60)
    path.write_bytes(length + struct.pack("<I", masked_crc32c(length)) + b"short")
    assert _peak(path) < 100_000_000


@pytest.mark.parametrize(
    ("start", "shown"),
    [
        (b"PK\x03\x04", "50 4b 03 04"),
        (b"import os\n\nprint(1)", r"'import os\n\np'"),
        (b"\xffhello world, no record", "ff 68 65"),
    ],
)
def test_foreign_files_are_refused(tmp_path: Path, start: bytes, shown: str) -> None:
    """A file of another format is named, with the text or bytes that gave it away."""
    path = tmp_path / "a.tfrecord"
    path.write_bytes(start)
    with pytest.raises(DatasetError) as caught:
        list(read_records(path))
    assert str(caught.value).startswith(f"{path}: ")
    assert shown in str(caught.value)


@given(st.integers(0, 2**64 - 1))
def test_no_length_is_taken_for_compression(length: int) -> None:
    """A record whose length looks like a magic number is still a record."""
    packed = struct.pack("<Q", length)
    header = packed + struct.pack("<I", masked_crc32c(packed))
    assert detect_compression(header) == ""


def test_a_record_whose_length_looks_like_gzip_is_read(tmp_path: Path) -> None:
    """Length 0x8b1f begins with GZIP's magic number, and is read as a record."""
    record = b"x" * 0x8B1F
    path = tmp_path / "a"
    path.write_bytes(frame(record))
    assert path.read_bytes()[:2] == b"\x1f\x8b"
    assert list(read_records(path)) == [record]


@pytest.mark.parametrize("compress", [bytes, gzip.compress, zlib.compress, zstd])
def test_every_flipped_bit_and_every_cut_is_seen(tmp_path: Path, compress: Any) -> None:
    """But a cut between records; of compressed files, where the format tells."""
    path = tmp_path / "a"
    whole = compress(frame(b"one") + frame(b"two"))
    unseen = []
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        try:
            list(read_records(path))
        except DatasetError as error:
            assert str(error).startswith(f"{path}: ")  # noqa: PT017
        else:
            unseen.append(size)
    assert unseen == ([0, len(whole) // 2] if compress is bytes else [0])
    for bit in range(8 * len(whole) if compress is bytes else 0):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        found: list[bytes] = []
        with pytest.raises(DatasetError, match=str(path)):
            found.extend(read_records(path))
        # What was whole before the damage is read.
        assert found == [b"one"] * (bit >= 4 * len(whole))
