"""Records as bytes, made of Python values without tensorflow, and files of them."""

from __future__ import annotations

import gzip
import struct
import types
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import schemagen
import zstandard
from schemagen import Image, Label, Ragged, Record, Scalar, Sparse, Text, VarLen, Vector
from schemagen.runtime.native import crc32c
from schemagen.runtime.shared.wire import varint
from schemagen.runtime.storage import manifest
from schemagen.runtime.storage.directory import open_directory
from schemagen.spec.serial import fingerprint, to_data
from tfrecord_files import frames

Values = Sequence[Any] | np.ndarray | bytes | str | int | float | None

PACK = {
    "": bytes,
    "GZIP": gzip.compress,
    "ZLIB": zlib.compress,
    "ZSTD": zstandard.ZstdCompressor(write_checksum=True).compress,
}

NO_FLOATS = np.empty(0, np.float32)
NO_BYTES = np.empty(0, object)


def sized(number: int, content: bytes) -> bytes:
    """Return a field of a message that holds bytes."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def number(field: int, value: int) -> bytes:
    """Return a field of a message that holds a varint."""
    return varint(field << 3) + varint(value)


def feature(values: Values) -> bytes:
    """Return a tf.train.Feature; None has no list.

    An empty list is one of int64; an empty array one of its dtype, object of bytes.
    """
    if values is None:
        return b""
    if isinstance(values, (bytes, str, int, float, np.generic)):
        values = [values]
    some = list(values)
    empty = values.dtype.kind if isinstance(values, np.ndarray) and not some else ""
    if empty == "O" or (some and isinstance(some[0], (bytes, str))):
        data = (v.encode() if isinstance(v, str) else v for v in some)
        return sized(1, b"".join(sized(1, one) for one in data))
    if empty == "f" or (some and isinstance(some[0], (float, np.floating))):
        packed = struct.pack(f"<{len(some)}f", *some)
        return sized(2, sized(1, packed) if some else b"")
    packed = b"".join(varint(int(v) & (1 << 64) - 1) for v in some)
    return sized(3, sized(1, packed) if packed else b"")


def features(values: Mapping[str, Values]) -> bytes:
    """Return a map of features, in the order of its keys."""
    return b"".join(
        sized(1, sized(1, key.encode()) + sized(2, feature(each)))
        for key, each in sorted(values.items(), key=lambda item: item[0].encode())
    )


def example(values: Mapping[str, Values]) -> bytes:
    """Return a tf.train.Example."""
    return sized(1, features(values))


def sequence_example(
    context: Mapping[str, Values], lists: Mapping[str, Sequence[Values]]
) -> bytes:
    """Return a tf.train.SequenceExample."""
    entries = b"".join(
        sized(
            1,
            sized(1, key.encode())
            + sized(2, b"".join(sized(1, feature(step)) for step in steps)),
        )
        for key, steps in sorted(lists.items())
    )
    return sized(1, features(context)) + sized(2, entries)


def write_file(path: Path, messages: Iterable[bytes], compression: str = "") -> Path:
    """Write a TFRecord file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(PACK[compression](frames(messages)))
    return path


def record(
    name: str, fields: Mapping[str, Any], base: type[Record] = Record, **members: Any
) -> type[Record]:
    """Return a record class of annotations by field name.

    Args:
        name: the name of the class.
        fields: the annotations.
        base: `Record` or `SequenceRecord`.
        members: defaults of fields, or the docstring as `__doc__`.
    """
    namespace = {"__annotations__": fields, "__module__": __name__, **members}
    return types.new_class(name, (base,), {}, lambda space: space.update(namespace))


def write_data(
    directory: Path,
    written_by: type[Record],
    splits: Mapping[str, Sequence[bytes]],
    shards: int = 1,
    compression: str = "",
) -> Path:
    """Write a data directory with its manifest."""
    spec = schemagen.describe(written_by)
    listed = {}
    for split, messages in splits.items():
        names = [f"{split}-{n:05}-of-{shards:05}.tfrecord" for n in range(shards)]
        entries = []
        for n, name in enumerate(names):
            some = messages[n::shards]
            data = write_file(directory / name, some, compression).read_bytes()
            crc = f"{crc32c(data):08x}"
            tail = data[-manifest.TAIL_BYTES :].hex()
            entries.append(manifest.Shard(name, len(some), len(data), crc, tail))
        listed[split] = manifest.SplitEntry(compression, tuple(entries))
    whole = manifest.Manifest(spec.record, fingerprint(spec), to_data(spec), listed)
    manifest.save(open_directory(directory), whole)
    return directory


FIELDS: dict[str, Any] = {
    "image": Annotated[np.ndarray, Image((4, 3, 1))],
    "label": Annotated[int, Label(classes=("a", "b", "c"))],
    "stats": Annotated[np.ndarray, Vector((2,))],
    "tokens": Annotated[list[int], VarLen("int32", max_length=9)],
    "boxes": Annotated[np.ndarray, VarLen("float32", item_shape=(2,), group="box")],
    "words": Annotated[list[str], VarLen("string", group="box")],
    "age": Annotated[int | None, Scalar("int8")],
    "name": Annotated[str, Text()],
    "lists": Annotated[
        list[list[int]], Ragged("int64", row_lengths_key="lists/lengths")
    ],
    "sparse": Annotated[dict[int, float], Sparse((9,), index_key="sparse/at")],
}
Mixed = record("Mixed", FIELDS, age=None)


def mixed(seed: int) -> bytes:
    """Return a record of `Mixed`."""
    return example(
        {
            "image": bytes(range(seed, seed + 12)),
            "label": seed % 3,
            "stats": [0.5, float(seed)],
            "tokens": [seed, 300, 7][: seed % 4],
            "boxes": [0.0, 1.0, 0.5, 0.25],
            "words": ["one", "zwölf"],
            "age": seed,
            "name": b"n" * seed,
            "lists": [1, 2, 3],
            "lists/lengths": [2, 0, 1],
            "sparse": 0.5,
            "sparse/at": 8,
        }
    )
