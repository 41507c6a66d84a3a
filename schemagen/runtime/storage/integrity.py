"""Checking a data directory: every byte of every shard against the manifest."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from io import BufferedReader, RawIOBase
from typing import TYPE_CHECKING, Any

from ..native import crc32c
from ..shared.errors import DatasetError, no_split
from ..shared.tfrecord import records_in

if TYPE_CHECKING:
    from .directory import Directory
    from .manifest import Shard

# How much of a file is read at a time.
_PIECE_BYTES = 1 << 20


def check_files(
    directory: str | os.PathLike[str], split: str | None = None
) -> list[str]:
    """Compare the shards of a data directory with the checksums of its manifest.

    It reads all files, and compares their sizes, the checksums of files and records, and
    the numbers of records. The manifest has a checksum of its own. So any change is
    found: a flipped bit, a missing end, a file of another split.

    Args:
        directory: its path or URL. It may have a folder for each split.
        split: check only this split.

    Returns:
        The problems, each with its file; empty if there are none.

    Raises:
        DatasetError: the manifest is missing or damaged, or does not list the split.
    """
    # Output packages export this function, and these take longer to import than it.
    from . import manifest
    from .directory import open_directory
    from .folders import entries, sealed_folders

    opened = open_directory(directory)
    where = f"{opened.where}/{manifest.FILE_NAME}"
    found = manifest.load(opened)
    if found is None:
        folders = sealed_folders(opened.where, entries(opened.where)[1])
        if not folders:
            raise DatasetError(f"{where}: missing, so the expected files are unknown")
        if split is not None and split not in folders:
            raise DatasetError(f"{opened.where}: {no_split(split, folders)}")
        return [
            problem
            for name in (folders if split is None else [split])
            for problem in check_files(os.path.join(opened.where, name))
        ]
    if split is not None and split not in found.splits:
        raise DatasetError(f"{where}: {no_split(split, found.splits)}")
    return [
        problem
        for name, each in sorted(found.splits.items())
        if split in (None, name)
        for shard in each.shards
        for problem in _problems(opened, shard)
    ]


def _problems(directory: Directory, shard: Shard) -> Iterator[str]:
    from . import manifest

    where = f"{directory.where}/{shard.file}"
    opened = None
    try:
        for name in filter(None, (shard.hidden, shard.file)):
            with suppress(FileNotFoundError):
                opened = opened or directory.files.open(directory.path(name))
        if opened is None:
            yield manifest.missing_problem(where)
            return
        file = MeasuredFile(opened)
        with BufferedReader(file, _PIECE_BYTES) as buffered:
            records, problem = _count(buffered, where)
            while buffered.read(_PIECE_BYTES):
                pass  # what is behind a damaged record
    except OSError as error:
        yield f"{where}: it cannot be read: {error}"
        return
    if file.bytes != shard.bytes:
        yield manifest.not_as_listed(where, f"{file.bytes} bytes", shard.bytes)
    elif file.crc32c != shard.crc32c:
        found = f"bytes with the CRC-32C {file.crc32c}"
        yield manifest.not_as_listed(where, found, shard.crc32c)
    if problem:
        yield problem
    elif records != shard.records:
        yield manifest.wrong_count(where, records, shard.records)


def _count(file: BufferedReader[Any], where: str) -> tuple[int, str]:
    """Count a file's good records, and say what is wrong with the one behind them.

    Raises:
        OSError: the file cannot be read.
    """
    records = 0
    try:
        for _ in records_in(file, where):
            records += 1
    except DatasetError as error:
        return records, str(error)
    return records, ""


class MeasuredFile(RawIOBase):
    """A file that counts its bytes, and sums them up, as they are read.

    Args:
        file: the file, which is closed with this one.

    Attributes:
        bytes: how many there have been.
    """

    def __init__(self, file: RawIOBase) -> None:
        self._file = file
        self.bytes = 0
        self._checksum = 0

    @property
    def crc32c(self) -> str:
        """The CRC-32C of the bytes that were read, as manifests list it."""
        return f"{self._checksum:08x}"

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._file.readinto(buffer) or 0
        self.bytes += count
        self._checksum = crc32c(memoryview(buffer)[:count], self._checksum)
        return count

    def close(self) -> None:
        self._file.close()
        super().close()
