"""TFRecord framing: TensorFlow's own bytes, and no damage goes unseen."""

from __future__ import annotations

import gzip
import random
import struct
import tracemalloc
import zlib
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st
from schemagen.runtime.shared.errors import DatasetError
from schemagen.runtime.shared.tfrecord import (
    detect_compression,
    frame,
    frame_pieces,
    frame_records,
    masked_crc32c,
    read_records,
)
from tiers import examples

RECORDS = [b"", b"first", bytes(range(256)), b"\x00" * 5]
FRAMED = b"".join(map(frame, RECORDS))


def _tensorflow_file(
    path: Path, compression: str = "", records: Sequence[bytes] = RECORDS
) -> Path:
    with tf.io.TFRecordWriter(str(path), compression) as writer:
        for record in records:
            writer.write(record)
    return path


def test_framing_is_that_of_tensorflow(tmp_path: Path) -> None:
    """A file of framed records is the file that tf.io.TFRecordWriter makes."""
    assert _tensorflow_file(tmp_path / "a").read_bytes() == FRAMED


@pytest.mark.slow
@examples(100)
@given(
    st.lists(st.lists(st.binary(max_size=40), max_size=4), max_size=30),
    st.sampled_from([0, 100, 40_000, 400_000]),
)
def test_records_in_pieces_are_framed_as_one_by_one_are(
    records: list[list[bytes]], added: int
) -> None:
    """Narrow or wide, in one run or in several, whole or in pieces of any memory."""
    pieces = [
        (memoryview(bytes(added)), *some) if at % 3 else (b"\x01" * added, *some)
        for at, some in enumerate(records)
    ]
    whole = [b"".join(some) for some in pieces]
    sizes = np.array([*map(len, whole)], np.int64)
    runs = list(frame_pieces(pieces, sizes))
    for framed in (*runs, frame_records(whole)):
        ends = framed.ends.tolist()
        assert all(
            bytes(framed.data)[start:end][12:-4] in whole
            for start, end in pairwise([0, *ends])
        )
        assert [0, *ends][-1] == len(framed.data)
    expected = b"".join(map(frame, whole))
    assert b"".join(framed.data for framed in runs) == expected
    assert frame_records(whole).data == expected
    # About a megabyte at a time.
    assert all(len(framed.data) <= 1 << 20 for framed in runs)


def test_tensorflow_reads_framed_records(tmp_path: Path) -> None:
    """tf.data, which checks both checksums, reads every record back."""
    path = tmp_path / "a"
    path.write_bytes(FRAMED)
    found = list(tf.data.TFRecordDataset(str(path)).as_numpy_iterator())
    assert found == RECORDS


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
@pytest.mark.parametrize("name", ["plain", "a.tfrecord", "a.tfrecord.gz", "a.bin"])
def test_compression_is_told_by_content(
    tmp_path: Path, compression: str, name: str
) -> None:
    """A file's name says nothing: its first bytes tell how to read it."""
    path = _tensorflow_file(tmp_path / name, compression)
    assert detect_compression(path.read_bytes()[:12]) == compression
    assert list(read_records(path)) == RECORDS


@pytest.mark.parametrize("level", [0, 1, 6, 9])
def test_zlib_at_every_level(tmp_path: Path, level: int) -> None:
    """The second byte of a ZLIB file depends on its level; each is known."""
    path = tmp_path / "a"
    path.write_bytes(zlib.compress(FRAMED, level))
    assert list(read_records(path)) == RECORDS


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
@pytest.mark.parametrize("name", ["a", "a.tfrecord", "a.tfrecord.gz", "a.zlib"])
def test_an_empty_file_has_no_records(
    tmp_path: Path, compression: str, name: str
) -> None:
    """No records are a whole file, compressed or not, whatever its name says."""
    path = tmp_path / name
    with tf.io.TFRecordWriter(str(path), compression):
        pass
    assert list(read_records(path)) == []
    path.write_bytes(b"")
    assert list(read_records(path)) == []


@pytest.mark.parametrize("compress", [gzip.compress, zlib.compress])
def test_compressed_files_may_be_joined(tmp_path: Path, compress: Any) -> None:
    """Streams one after the other are one file, as `cat` makes it of several."""
    path = tmp_path / "a"
    path.write_bytes(compress(FRAMED) + compress(b"") + compress(frame(b"last")))
    assert list(read_records(path)) == [*RECORDS, b"last"]
    path.write_bytes(compress(FRAMED) + b"no stream")
    with pytest.raises(DatasetError, match=rf"{path}: record {len(RECORDS)}: "):
        list(read_records(path))


@pytest.mark.parametrize("compress", [gzip.compress, zlib.compress])
def test_compressed_files_take_no_more_memory_than_a_record(
    tmp_path: Path, compress: Any
) -> None:
    """A file that inflates to 80 MB is never held as a whole."""
    path = tmp_path / "a"
    path.write_bytes(compress(frame(bytes(1_000_000)) * 80))
    tracemalloc.start()
    assert sum(len(record) for record in read_records(path)) == 80_000_000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10_000_000


@pytest.mark.parametrize("size", [1, 11, 12, 13, 65_535, 65_536, 200_000])
def test_zlib_is_inflated_whatever_the_sizes(tmp_path: Path, size: int) -> None:
    """Records that compress to almost nothing, and to their own size, come out whole."""
    noise = random.Random(0).randbytes(size)
    records = [bytes(size), noise, bytes(3 * size), b""]
    path = _tensorflow_file(tmp_path / "a", "ZLIB", records)
    assert list(read_records(path)) == records


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
    assert str(caught.value).startswith(
        f"{path}: not a TFRecord file: it begins with {shown}"
    )


@given(st.integers(0, 2**64 - 1))
def test_no_length_is_taken_for_compression(length: int) -> None:
    """A record whose length looks like a magic number is still a record."""
    packed = struct.pack("<Q", length)
    header = packed + struct.pack("<I", masked_crc32c(packed))
    assert detect_compression(header) == ""


def test_a_length_that_looks_like_gzip(tmp_path: Path) -> None:
    """Length 0x8b1f begins with GZIP's magic number, and is read as a record."""
    record = b"x" * 0x8B1F
    path = tmp_path / "a"
    path.write_bytes(frame(record))
    assert path.read_bytes()[:2] == b"\x1f\x8b"
    assert list(read_records(path)) == [record]


def test_every_flipped_bit_is_seen(tmp_path: Path) -> None:
    """One flipped bit anywhere in a file is an error that names file and record."""
    path = tmp_path / "a"
    small = frame(b"one") + frame(b"two")
    for at in range(len(small)):
        for bit in range(8):
            damaged = bytearray(small)
            damaged[at] ^= 1 << bit
            path.write_bytes(damaged)
            with pytest.raises(DatasetError, match=r": (record [01]: |not a TFRecord)"):
                list(read_records(path))


@pytest.mark.parametrize("compress", [bytes, gzip.compress, zlib.compress])
def test_every_truncation_is_seen(tmp_path: Path, compress: object) -> None:
    """A file cut anywhere but between records is an error; compressed, anywhere."""
    path = tmp_path / "a"
    small = frame(b"one") + frame(b"two")
    whole = compress(small)  # type: ignore[operator]
    between = {0, len(small) // 2} if whole == small else {0}
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        if size in between:
            assert len(list(read_records(path))) < 2
            continue
        with pytest.raises(DatasetError, match=str(path)):
            list(read_records(path))


def test_what_was_whole_before_the_damage_is_read(tmp_path: Path) -> None:
    """Records before a damaged one come out, and the damaged one is numbered."""
    path = tmp_path / "a"
    damaged = bytearray(FRAMED)
    damaged[-1] ^= 1
    path.write_bytes(damaged)
    found = []
    with pytest.raises(DatasetError, match=r"record 3: the checksum of the record"):
        found += read_records(path)
    reader = read_records(path)
    assert [next(reader) for _ in range(3)] == RECORDS[:3]


def test_an_enormous_length_takes_no_memory(tmp_path: Path) -> None:
    """A length of 2**60 with a valid checksum is a short file, not an allocation."""
    length = struct.pack("<Q", 2**60)
    path = tmp_path / "a"
    path.write_bytes(length + struct.pack("<I", masked_crc32c(length)) + b"short")
    tracemalloc.start()
    with pytest.raises(DatasetError, match=r"record 0: the file ends \d+ bytes too"):
        list(read_records(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100_000_000
