"""Ways to spoil a data directory of the record `reading`, the same in each run."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import google_crc32c

from .rows import PICTURES

SPLIT = "sharded"
_SHARDS = [f"{SPLIT}-{number:05}-of-00003.tfrecord" for number in range(3)]

Feature = tuple[str, list[int] | list[float] | list[bytes]]


def _patched(directory: Path, name: str, at: int, value: int) -> None:
    path = directory / name
    data = bytearray(path.read_bytes())
    data[at] ^= value
    path.write_bytes(data)


def _flipped_value(directory: Path) -> None:
    _patched(directory, _SHARDS[1], 40, 1)


def _flipped_length(directory: Path) -> None:
    _patched(directory, _SHARDS[1], 0, 4)


def _flipped_end(directory: Path) -> None:
    _patched(directory, _SHARDS[2], -1, 128)


def _truncated(directory: Path) -> None:
    path = directory / _SHARDS[0]
    path.write_bytes(path.read_bytes()[:-20])


def _shorter_by_a_record(directory: Path) -> None:
    path = directory / _SHARDS[0]
    *kept, _ = records(path.read_bytes())
    path.write_bytes(b"".join(map(framed, kept)))


def _missing_shard(directory: Path) -> None:
    (directory / _SHARDS[2]).unlink()


def _unlisted_shard(directory: Path) -> None:
    data = (directory / _SHARDS[0]).read_bytes()
    (directory / f"{SPLIT}-00000-of-00007.tfrecord").write_bytes(data)


def _exchanged_shards(directory: Path) -> None:
    first, second = (directory / name for name in _SHARDS[:2])
    data = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(data)


def _empty_file(directory: Path) -> None:
    (directory / _SHARDS[1]).write_bytes(b"")


def _text_file(directory: Path) -> None:
    (directory / _SHARDS[1]).write_bytes(b"number,name\n1,a\n" * 9)


def _compressed_file(directory: Path) -> None:
    path = directory / _SHARDS[1]
    path.write_bytes(gzip.compress(path.read_bytes(), mtime=0))


def _damaged_gzip(directory: Path) -> None:
    path = directory / "gzip-00000-of-00002.tfrecord.gz"
    path.write_bytes(path.read_bytes()[:-9])


def _no_manifest(directory: Path) -> None:
    (directory / "manifest.json").unlink()


def _truncated_manifest(directory: Path) -> None:
    path = directory / "manifest.json"
    path.write_bytes(path.read_bytes()[:-100])


def _edited_manifest(directory: Path) -> None:
    path = directory / "manifest.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"records": 24', '"records": 25', 1), "utf-8")


DAMAGES: dict[str, Callable[[Path], None]] = {
    "flipped value": _flipped_value,
    "flipped length": _flipped_length,
    "flipped end": _flipped_end,
    "truncated": _truncated,
    "shorter by a record": _shorter_by_a_record,
    "missing shard": _missing_shard,
    "unlisted shard": _unlisted_shard,
    "exchanged shards": _exchanged_shards,
    "empty file": _empty_file,
    "text file": _text_file,
    "compressed file": _compressed_file,
    "damaged gzip": _damaged_gzip,
    "no manifest": _no_manifest,
    "truncated manifest": _truncated_manifest,
    "edited manifest": _edited_manifest,
}


def framed(record: bytes) -> bytes:
    """Return a record with its length and checksums, as TFRecord files have it."""
    length = struct.pack("<Q", len(record))
    return b"".join([length, _masked(length), record, _masked(record)])


def _masked(data: bytes) -> bytes:
    crc = google_crc32c.value(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def records(data: bytes) -> Iterator[bytes]:
    """Yield the records of a plain file, whose checksums are not looked at."""
    at = 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        yield data[at + 12 : at + 12 + length]
        at += length + 16


def _varint(number: int) -> bytes:
    number %= 1 << 64
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def feature(kind: str, values: list[int] | list[float] | list[bytes]) -> bytes:
    """Encode a tf.train.Feature with a list of a kind: "bytes", "float" or "int"."""
    if kind == "bytes":
        listed = b"".join(_field(1, value) for value in values)  # type: ignore[arg-type]
        return _field(1, listed)
    if kind == "float":
        return _field(2, _field(1, struct.pack(f"<{len(values)}f", *values)))
    return _field(3, _field(1, b"".join(map(_varint, values))))  # type: ignore[arg-type]


def with_entry(record: bytes, number: int, given: bytes | None) -> bytes:
    """Return an Example in which an entry has another feature, or is gone.

    Args:
        record: an Example; of a SequenceExample its context.
        number: which entry, counted round if there are fewer.
        given: the encoded feature; None takes the entry away.
    """
    fields = list(_fields(record))
    if not fields:
        return record
    entries = [entry for _, entry in _fields(fields[0][1])]
    if entries:
        at = number % len(entries)
        key = next(_fields(entries[at]))[1]
        entry = [] if given is None else [_field(1, key) + _field(2, given)]
        entries[at : at + 1] = entry
    first = _field(fields[0][0], b"".join(_field(1, entry) for entry in entries))
    return first + b"".join(_field(*rest) for rest in fields[1:])


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the fields of a message that has only fields with a length."""
    at = 0
    while at < len(message):
        tag, at = _varint_at(message, at)
        length, at = _varint_at(message, at)
        yield tag >> 3, message[at : at + length]
        at += length


def _varint_at(message: bytes, at: int) -> tuple[int, int]:
    found = shift = 0
    while message[at] > 127:
        found |= (message[at] & 127) << shift
        at, shift = at + 1, shift + 7
    return found | message[at] << shift, at + 1


def example(features: dict[str, Feature]) -> bytes:
    """Encode a tf.train.Example, with its keys in the order given."""
    entries = (
        _field(1, _field(1, key.encode()) + _field(2, feature(*given)))
        for key, given in features.items()
    )
    return _field(1, b"".join(entries))


_GOOD: dict[str, Feature] = {
    "label": ("int", [1]),
    "level": ("int", [7]),
    "lists": ("int", [1, 2, 3]),
    "lists/row_lengths": ("int", [1, 2]),
    "name": ("bytes", [b"a name"]),
    "number": ("int", [3]),
    "photo": ("bytes", [(PICTURES / "4x6.png").read_bytes()]),
    "photo/height": ("int", [4]),
    "raw": ("bytes", [bytes(16)]),
    "values": ("float", [0.5, 1.5]),
    "weights": ("float", [0.5, 1.5]),
}

_WRONG: dict[str, dict[str, Feature]] = {
    "a class that does not exist": {"label": ("int", [2])},
    "two classes": {"label": ("int", [0, 1])},
    "no class": {"label": ("int", [])},
    "a level over 255": {"level": ("int", [256])},
    "a level as a float": {"level": ("float", [1.0])},
    "row lengths with another sum": {"lists/row_lengths": ("int", [1, 1])},
    "a negative row length": {"lists/row_lengths": ("int", [4, -1])},
    "a name in Latin-1": {"name": ("bytes", [b"Zo\xeb"])},
    "another picture": {"photo": ("bytes", [(PICTURES / "5x4.png").read_bytes()])},
    "no picture": {"photo": ("bytes", [b"not a picture"])},
    "another height": {"photo/height": ("int", [5])},
    "raw bytes of another size": {"raw": ("bytes", [bytes(15)])},
    "a value that is not finite": {"values": ("float", [float("nan"), 1.0])},
    "lists of other lengths": {"weights": ("float", [0.5])},
    "lists that are too long": {
        "values": ("float", [0.5] * 6),
        "weights": ("float", [0.5] * 6),
    },
    "an optional field of another type": {"note": ("int", [1])},
    "a key that is not declared": {"another": ("int", [1])},
}

WRONG_RECORDS: dict[str, bytes] = {
    "nothing wrong": example(_GOOD),
    **{name: example({**_GOOD, **wrong}) for name, wrong in _WRONG.items()},
    "a missing field": example(
        {key: value for key, value in _GOOD.items() if key != "name"}
    ),
    "half a record": example(_GOOD)[:100],
    "no field": example({}),
}


def write_wrong_records(directory: Path) -> None:
    """Write a file of each wrong record between good ones, as another program."""
    directory.mkdir()
    for number, record in enumerate(WRONG_RECORDS.values()):
        data = framed(example(_GOOD)) + framed(record)
        (directory / f"train-{number:02}.tfrecord").write_bytes(data)
