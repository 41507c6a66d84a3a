"""Published files are whole by readers written here, and each changed bit is found."""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Callable, Iterator
from io import FileIO
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
import zstandard
from digit_rows import rows
from manifests import count_one_more
from published_splits import entry_of, shards_of

from generated import DatasetError, check_files
from generated.digit.pipeline import make_dataset
from generated.digit.reader import open_split
from generated.digit.serializer import Writer, serialize, write_dataset

LAST = "train-00001-of-00002.tfrecord"
SUFFIX = {None: "", "GZIP": ".gz", "ZLIB": ".zlib", "ZSTD": ".zst"}


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


def _records_in(data: bytes, compression: str) -> list[bytes]:
    """Read a file by the description of the format, with the standard library."""
    decompress = {
        "GZIP": gzip.decompress,
        "ZLIB": zlib.decompress,
        "ZSTD": lambda packed: (
            zstandard.ZstdDecompressor().decompressobj().decompress(packed)
        ),
    }
    data = decompress.get(compression, bytes)(data)
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


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize("compression", [None, "GZIP", "ZLIB", "ZSTD"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"shard_bytes": 2000},
        {"shards": 3, "workers": 2},
        {"shuffle_seed": 1, "shards": 3},
    ],
)
def test_files_are_as_the_format_and_the_manifest_say(
    tmp_path: Path, compression: str | None, options: dict[str, Any]
) -> None:
    """With checksums that are computed here, and as TensorFlow reads them."""
    write_dataset(rows(40), tmp_path, "train", compression=compression, **options)
    entry, everything = entry_of(tmp_path), []
    for shard, records in zip(entry["shards"], shards_of(tmp_path), strict=True):
        data = (tmp_path / shard["file"]).read_bytes()
        assert records == _records_in(data, entry["compression"])
        assert shard["bytes"] == len(data)
        assert shard["crc32c"] == f"{_crc32c(data):08x}"
        everything += records
    expected = [serialize(**row) for row in rows(40)]
    assert sorted(everything) == sorted(expected)
    assert everything == expected or "shuffle_seed" in options


def publish(directory: Path, split: str = "train", **options: Any) -> None:
    """Write a split of two shards with few bytes."""
    with Writer(directory, split, shards=2, **options) as writer:
        writer.extend([b"", b"", b"one", b"two", b"a longer record, " * 3, b"last"])


def flipped(path: Path) -> Iterator[int]:
    """Flip each bit of a file in turn, yield its position, and flip it back."""
    whole = path.read_bytes()
    for position in range(len(whole) * 8):
        damaged = bytearray(whole)
        damaged[position // 8] ^= 1 << position % 8
        path.write_bytes(damaged)
        yield position
    path.write_bytes(whole)


@pytest.mark.parametrize("compression", [None, "GZIP", "ZLIB", "ZSTD"])
def test_checking_finds_every_flipped_bit(
    tmp_path: Path, compression: str | None
) -> None:
    """Each bit of a shard counts, those of compressed headers too."""
    publish(tmp_path, compression=compression)
    path = tmp_path / f"{LAST}{SUFFIX[compression]}"
    unseen = [position for position in flipped(path) if not check_files(tmp_path)]
    assert unseen == []
    assert check_files(tmp_path) == []


@pytest.mark.slow
def test_reading_finds_every_flipped_bit_of_a_plain_shard(tmp_path: Path) -> None:
    """TensorFlow, the pipeline, and the reader that needs neither, refuse any."""
    write_dataset(rows(2), tmp_path, "train", shards=2)
    path = tmp_path / LAST
    readers: dict[str, Callable[[], object]] = {
        "the reader": lambda: open_split(path)[:],
        "TensorFlow's": lambda: list(tf.compat.v1.io.tf_record_iterator(str(path))),
        "the pipeline": lambda: list(make_dataset(tmp_path, "train", batch_size=1)),
    }
    for read in readers.values():
        read()
    unseen = []
    for position in flipped(path):
        for name, read in readers.items():
            # The pipeline reads with TensorFlow's reader, and takes time to begin.
            if name == "the pipeline" and position % 97:
                continue
            try:
                read()
                unseen.append((name, position))
            except (
                tf.errors.DataLossError,
                tf.errors.InvalidArgumentError,
                DatasetError,
            ):
                pass
    assert unseen == []


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-10])


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-6] ^= 1
    path.write_bytes(data)


def _count_one_more(path: Path) -> None:
    """Make a manifest that was wrong when it was written: only counting tells."""
    count_one_more(path.parent, 1)


@pytest.mark.parametrize(
    ("damage", "places"),
    [
        (_count_one_more, [" 3 records"]),
        (Path.unlink, [""]),
        (_cut, ["", " record 2"]),
        (_flip, ["", " record 2"]),
    ],
)
def test_each_problem_is_named_with_its_place(
    tmp_path: Path, damage: Callable[[Path], None], places: list[str]
) -> None:
    """The file, and the record where one can be told; of one split or of all."""
    publish(tmp_path)
    publish(tmp_path, "test")
    damage(tmp_path / LAST)
    for found in (check_files(tmp_path), check_files(tmp_path, "train")):
        assert len(found) == len(places)
        for problem, place in zip(found, places, strict=True):
            assert problem.startswith(f"{tmp_path / LAST}:")
            assert place in problem
    assert check_files(tmp_path, "test") == []


def test_a_disk_that_does_not_answer_is_one_problem_of_several(
    tmp_path: Path, local_files: Callable[[type[FileIO]], None]
) -> None:
    """The next shard is checked all the same."""
    publish(tmp_path)
    read = FileIO.readinto

    class _Failing(FileIO):
        def readinto(self, buffer: Any, /) -> int:
            if "-00000-" in Path(str(self.name)).name and self.tell():
                raise OSError(5, "Input/output error", str(self.name))
            return read(self, memoryview(buffer)[:4])

    _flip(tmp_path / LAST)
    local_files(_Failing)
    first, *others = check_files(tmp_path)
    assert first.startswith(f"{tmp_path / LAST.replace('1', '0', 1)}:")
    assert "Input/output error" in first
    assert len(others) == 2


def test_what_no_manifest_lists_cannot_be_checked(tmp_path: Path) -> None:
    """Without a manifest, or without the split, there is no answer but an error."""
    with pytest.raises(DatasetError, match=r"manifest\.json"):
        check_files(tmp_path)
    publish(tmp_path)
    with pytest.raises(DatasetError, match=r"'dev'.* train"):
        check_files(tmp_path, "dev")
