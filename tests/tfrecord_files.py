"""TFRecord files that tests write and read without the code under test."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

import google_crc32c


def header(length: int) -> bytes:
    """Return the length of a record with its checksum."""
    packed = struct.pack("<Q", length)
    return packed + masked_crc32c(packed)


def frame(record: bytes) -> bytes:
    """Return a record with its length and both checksums."""
    return header(len(record)) + record + masked_crc32c(record)


def frames(records: Iterable[bytes]) -> bytes:
    """Return the content of a file of records."""
    return b"".join(map(frame, records))


def masked_crc32c(data: bytes) -> bytes:
    """Return the four bytes of a checksum: CRC-32C, rotated and offset."""
    crc = google_crc32c.value(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def write_records(path: Path, records: Iterable[bytes]) -> Path:
    """Write a plain file of records, and return its path."""
    path.write_bytes(frames(records))
    return path


def flip_bit(path: Path, number: int, byte: int) -> None:
    """Change a bit of a record in a plain file, whose length is its first eight bytes."""
    content = bytearray(path.read_bytes())
    before = read_records(path)[:number]
    content[len(frames(before)) + byte] ^= 1
    path.write_bytes(content)


def read_records(path: Path) -> list[bytes]:
    """Return the records of a plain file, whose checksums have to match."""
    content = path.read_bytes()
    records = []
    at = 0
    while at < len(content):
        (length,) = struct.unpack_from("<Q", content, at)
        record = content[at + 12 : at + 12 + length]
        assert content[at : at + 16 + length] == frame(record)
        records.append(record)
        at += 16 + length
    return records
