"""A flipped bit anywhere in a shard is found by checking, and mostly by reading."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from google_crc32c import value as crc32c
from read_splits import records_of
from schemagen.runtime.shared.errors import DatasetError
from schemagen.runtime.shared.tfrecord import frame, read_records
from schemagen.runtime.sources.files import find_files
from schemagen.runtime.storage import manifest
from schemagen.runtime.storage.integrity import check_files
from schemagen.runtime.storage.local import LocalDirectory
from schemagen.runtime.storage.manifest import Manifest, Shard, Split
from schemagen.runtime.storage.opening import open_directory

SPEC: dict[str, Any] = {"record": "note", "fields": []}
RECORDS = [b"", b"one", b"a longer record, " * 3]
COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    "GZIP": lambda data: gzip.compress(data, mtime=0),
    "ZLIB": zlib.compress,
}


def publish(directory: str, splits: dict[str, str]) -> None:
    """Write splits of two shards each, with the compression that is given for each."""
    opened = open_directory(directory)
    opened.make()
    entries = {}
    for split, compression in splits.items():
        data = COMPRESS[compression](b"".join(map(frame, RECORDS)))
        shards = []
        for number in range(2):
            name = f"{split}-0000{number}-of-00002.tfrecord"
            opened.replace(name, data)
            shard = Shard(name, len(RECORDS), len(data), f"{crc32c(data):08x}")
            shards.append(shard)
        entries[split] = Split(compression, tuple(shards))
    manifest.save(opened, Manifest("note", "aaaa", SPEC, entries))


def flipped(path: Path) -> Iterator[int]:
    """Flip each bit of a file in turn, yield its position, and flip it back."""
    whole = path.read_bytes()
    for position in range(len(whole) * 8):
        damaged = bytearray(whole)
        damaged[position // 8] ^= 1 << position % 8
        path.write_bytes(damaged)
        yield position
    path.write_bytes(whole)


@pytest.mark.parametrize("where", ["disk", "memory"])
def test_what_was_published_is_whole(tmp_path: Path, where: str) -> None:
    """There is nothing to say about good files, local or remote."""
    directory = f"memory:/{tmp_path}" if where == "memory" else str(tmp_path)
    publish(directory, {"train": "", "test": "GZIP", "more": "ZLIB"})
    assert check_files(directory) == []
    assert check_files(directory, "test") == []


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
def test_checking_finds_every_flipped_bit(tmp_path: Path, compression: str) -> None:
    """Each bit of a shard counts, those of compressed headers too."""
    publish(str(tmp_path), {"train": compression})
    path = tmp_path / "train-00001-of-00002.tfrecord"
    unseen = [position for position in flipped(path) if not check_files(tmp_path)]
    assert unseen == []
    assert check_files(tmp_path) == []


@pytest.mark.slow
def test_reading_finds_every_flipped_bit_of_a_plain_shard(tmp_path: Path) -> None:
    """TensorFlow, and the reader that needs none, refuse any changed bit."""
    publish(str(tmp_path), {"train": ""})
    path = tmp_path / "train-00001-of-00002.tfrecord"
    readers: dict[str, Callable[[], object]] = {
        "this package's": lambda: list(read_records(path)),
        "TensorFlow's": lambda: list(tf.compat.v1.io.tf_record_iterator(str(path))),
        "the pipeline": lambda: list(records_of(find_files(tmp_path, "train", SPEC))),
    }
    for read in readers.values():
        read()
    unseen = []
    for position in flipped(path):
        for name, read in readers.items():
            # The pipeline reads with TensorFlow's reader, and takes time to begin.
            if name == "the pipeline" and position % 41:
                continue
            try:
                read()
                unseen.append((name, position))
            except (tf.errors.DataLossError, DatasetError):
                pass
    assert unseen == []


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-10])


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-6] ^= 1
    path.write_bytes(data)


def _fewer_records(path: Path) -> None:
    """A manifest that was wrong when it was written: only counting tells."""
    found = manifest.load(path.parent)
    assert found is not None
    one, two = found.splits["train"].shards
    wrong = Shard(two.file, two.records + 1, two.bytes, two.crc32c)
    splits = {"train": Split("", (one, wrong))}
    manifest.save(path.parent, Manifest("note", "aaaa", SPEC, splits))


@pytest.mark.parametrize(
    ("damage", "problems"),
    [
        (
            Path.unlink,
            [
                "missing, and the manifest lists it; restore it from a copy, or write the split again"
            ],
        ),
        (
            _cut,
            [
                "found 92 bytes, expected the 102 that the manifest lists; restore it from a copy, or write the split again",
                "record 2: the file ends 10 bytes too early",
            ],
        ),
        (
            _flip,
            [
                "found bytes with the CRC-32C 39785da8, expected the d64836b1 that the "
                "manifest lists; restore it from a copy, or write the split again",
                "record 2: the checksum of the record does not match",
            ],
        ),
        (_fewer_records, ["found 3 records, expected the 4 that the manifest lists"]),
    ],
)
def test_what_is_said(
    tmp_path: Path, damage: Callable[[Path], None], problems: list[str]
) -> None:
    """Each problem is named with its file, what is there, and what should be."""
    publish(str(tmp_path), {"train": ""})
    path = tmp_path / "train-00001-of-00002.tfrecord"
    damage(path)
    assert check_files(tmp_path) == [f"{path}: {problem}" for problem in problems]


def test_only_one_split(tmp_path: Path) -> None:
    """Who asks for a split does not wait for the others."""
    publish(str(tmp_path), {"train": "", "test": ""})
    _flip(tmp_path / "train-00000-of-00002.tfrecord")
    assert check_files(tmp_path, "test") == []
    assert len(check_files(tmp_path, "train")) == 2


def test_a_disk_that_does_not_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shard that cannot be read is a problem of its own, and the next is checked."""
    publish(str(tmp_path), {"train": ""})
    chunks = LocalDirectory.chunks

    def failing(self: LocalDirectory, name: str) -> Iterator[bytes]:
        if "00000" in name.split("-")[1]:
            yield b"\0" * 4
            raise OSError(5, "Input/output error", f"{self.where}/{name}")
        yield from chunks(self, name)

    monkeypatch.setattr(LocalDirectory, "chunks", failing)
    _flip(tmp_path / "train-00001-of-00002.tfrecord")
    first, *others = check_files(tmp_path)
    path = tmp_path / "train-00000-of-00002.tfrecord"
    assert first == f"{path}: it cannot be read: [Errno 5] Input/output error: '{path}'"
    assert len(others) == 2


def test_nothing_to_check(tmp_path: Path) -> None:
    """Without a manifest, or without the split, there is no answer but an error."""
    with pytest.raises(DatasetError, match=r"manifest\.json: missing; nothing says"):
        check_files(tmp_path)
    publish(str(tmp_path), {"train": "", "test": ""})
    with pytest.raises(DatasetError, match="no split 'dev'; there are: test, train"):
        check_files(tmp_path, "dev")
