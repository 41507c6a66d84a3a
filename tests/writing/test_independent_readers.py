"""Published shards are read again: by TensorFlow, and by a reader written here."""

from __future__ import annotations

import gzip
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from schemagen.runtime.storage import manifest
from splits import sharded_writer, write_split

SPEC: dict[str, Any] = {"record": "note", "fields": []}
ROWS = [{"n": number} for number in range(200)]


def serialize(*, n: int) -> bytes:
    """A record of the test's own; some are empty."""
    return b"%d" % n * (n % 7)


RECORDS = [serialize(**row) for row in ROWS]


def _crc32c(data: bytes) -> int:
    """CRC-32C bit by bit, from the polynomial."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def _masked(data: bytes) -> int:
    crc = _crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def _records_in(path: Path, compression: str) -> list[bytes]:
    """Read a file by the description of the format, with the standard library."""
    data = path.read_bytes()
    if compression == "GZIP":
        data = gzip.decompress(data)
    elif compression == "ZLIB":
        data = zlib.decompress(data)
    records, at = [], 0
    while at < len(data):
        length, crc = struct.unpack_from("<QI", data, at)
        assert crc == _masked(data[at : at + 8])
        record = data[at + 12 : at + 12 + length]
        assert len(record) == length
        (crc,) = struct.unpack_from("<I", data, at + 12 + length)
        assert crc == _masked(record)
        records.append(record)
        at += 16 + length
    return records


def _by_tensorflow(path: Path, compression: str) -> list[bytes]:
    dataset = tf.data.TFRecordDataset(str(path), compression_type=compression)
    return list(dataset.as_numpy_iterator())


def _check(directory: Path, in_order: bool) -> None:
    """Both readers find in each shard what the manifest says, and all of it once."""
    found = manifest.load(directory)
    assert found is not None
    split = found.splits["train"]
    everything: list[bytes] = []
    for shard in split.shards:
        path = directory / shard.file
        records = _records_in(path, split.compression)
        assert records == _by_tensorflow(path, split.compression)
        data = path.read_bytes()
        assert (shard.records, shard.bytes) == (len(records), len(data))
        assert shard.crc32c == f"{_crc32c(data):08x}"
        everything += records
    expected = RECORDS if in_order else sorted(RECORDS)
    assert (everything if in_order else sorted(everything)) == expected


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize("compression", [None, "GZIP", "ZLIB"])
@pytest.mark.parametrize(
    ("options", "in_order"),
    [
        ({}, True),
        ({"shard_bytes": 900}, True),
        ({"shards": 3, "workers": 2}, True),
        ({"shuffle_seed": 1, "shards": 3}, False),
    ],
)
def test_splits(
    tmp_path: Path, compression: str | None, options: dict[str, Any], in_order: bool
) -> None:
    """By one file, by size, by number and workers, and shuffled."""
    named = {"record": "note", "spec": SPEC, "fingerprint": "aaaa", **options}
    write_split(ROWS, serialize, tmp_path, "train", compression=compression, **named)
    _check(tmp_path, in_order)


@pytest.mark.parametrize("compression", [None, "GZIP", "ZLIB"])
@pytest.mark.parametrize("shards", [None, 3])
def test_writers(tmp_path: Path, compression: str | None, shards: int | None) -> None:
    """Records given one by one and in batches."""
    with sharded_writer(
        tmp_path,
        "train",
        record="note",
        spec=SPEC,
        fingerprint="aaaa",
        shards=shards,
        compression=compression,
    ) as writer:
        for record in RECORDS[:90]:
            writer.append(record)
        writer.extend(RECORDS[90:])
    _check(tmp_path, in_order=shards is None)
