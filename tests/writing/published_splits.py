"""What a data directory holds, by its manifest and as plain TensorFlow reads it."""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import tensorflow as tf
import zstandard
from tfrecord_files import read_records

from generated import check_files


def names(directory: Path) -> list[str]:
    """All that is in a directory, hidden files too, but not the indexes of its splits."""
    listed = set()
    if (directory / "manifest.json").exists():
        splits = json.loads((directory / "manifest.json").read_bytes())["splits"]
        listed = {
            f".{name}.{split.get('index')}.index" for name, split in splits.items()
        }
    return sorted({path.name for path in directory.iterdir()} - listed)


def hidden(directory: Path) -> list[str]:
    """The names of hidden files."""
    return [name for name in names(directory) if name.startswith(".")]


def published(directory: Path) -> list[str]:
    """The files that are not hidden, of which a later run may use some."""
    return [name for name in names(directory) if not name.startswith(".")]


def entry_of(directory: Path, split: str = "train") -> dict[str, Any]:
    """What the manifest says of a split."""
    data = json.loads((directory / "manifest.json").read_bytes())
    found: dict[str, Any] = data["splits"][split]
    return found


def shards_of(directory: Path, split: str = "train") -> list[list[bytes]]:
    """The records of each shard of a split whose files are as the manifest says."""
    assert check_files(directory) == []
    entry = entry_of(directory, split)
    found = [
        _records_in(directory / shard["file"], entry["compression"])
        for shard in entry["shards"]
    ]
    assert [len(records) for records in found] == [
        shard["records"] for shard in entry["shards"]
    ]
    return found


def _records_in(path: Path, compression: str) -> list[bytes]:
    """The records of a shard as TensorFlow reads it, which does not know ZSTD."""
    if compression != "ZSTD":
        return list(tf.data.TFRecordDataset(str(path), compression).as_numpy_iterator())
    with path.open("rb") as packed, NamedTemporaryFile() as plain:
        zstandard.ZstdDecompressor().copy_stream(packed, plain)
        plain.flush()
        return read_records(Path(plain.name))


def records_of(directory: Path, split: str = "train") -> list[bytes]:
    """The records of a split, shard after shard."""
    return list(chain.from_iterable(shards_of(directory, split)))


def numbers_of(directory: Path, split: str = "train") -> list[list[int]]:
    """The number in the field `scan` of each record, in the order of each shard."""
    return [
        [
            tf.train.Example.FromString(record)
            .features.feature["scan"]
            .int64_list.value[0]
            for record in records
        ]
        for records in shards_of(directory, split)
    ]
