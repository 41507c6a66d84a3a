"""The records of a file in order, and what is wrong with the file."""

from __future__ import annotations

from collections.abc import Iterator
from io import BufferedReader, RawIOBase
from typing import Any

from ..native import crc32c
from ..shared.errors import DatasetError
from ..shared.tfrecord import survey
from .shards import File

_BUFFER_BYTES = 1 << 20


class FileRecords:
    """The records of a file, local or remote, compressed or not.

    Args:
        file: which.
        opened: the same, if it is open already.
    """

    def __init__(self, file: File, opened: RawIOBase | None = None) -> None:
        self._found = file
        self._opened = opened
        self._file: _File | None = None

    def __iter__(self) -> Iterator[bytes | DatasetError]:
        """Yield records, and in place of a bad one its error.

        Every error names the file and, where there is one, the record, counted from 0.
        Behind the error of a record whose length is unknown, or of a file that cannot be
        read, there is nothing more.
        """
        try:
            self._file = _File(self._opened or self._found.open())
            raw: Any = self._file
            with BufferedReader(raw, _BUFFER_BYTES) as buffered:
                yield from survey(buffered, self._found.path)
        except (OSError, _UnreadableError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            yield DatasetError(f"{self._found.path}: it cannot be read: {reason}")

    @property
    def crc32c(self) -> str:
        """The CRC-32C of the bytes that were read, as manifests list it."""
        return f"{self._file.crc32c if self._file else 0:08x}"


class _UnreadableError(Exception):
    """A file that cannot be read, rather than one whose contents are damaged."""


class _File(RawIOBase):
    """An open file, whose errors `survey` does not take for damage."""

    def __init__(self, file: RawIOBase) -> None:
        self._file = file
        self.crc32c = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            count = self._file.readinto(buffer) or 0
        except OSError as error:
            raise _UnreadableError(error.strerror or error) from None
        self.crc32c = crc32c(memoryview(buffer)[:count], self.crc32c)
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


def opening_problem(file: File) -> str:
    """Say why a file cannot be read, or return "" if it can."""
    try:
        with file.open() as opened:
            opened.read(1)
        now = file.with_state()
        if now.error:
            raise now.error
    except FileNotFoundError:
        return f"{file.path}: deleted since the dataset was made"
    except OSError as error:
        return f"{file.path}: it cannot be read: {error.strerror}"
    if now.size == file.size:
        return ""
    return (
        f"{file.path}: found {now.size} bytes, expected the {file.size} that it had when "
        "the dataset was made; do not write files while they are read, and make the "
        "dataset again"
    )


def wrong_count(path: str, found: int, listed: int) -> str:
    """Say that a file has not the records that its manifest lists."""
    return (
        f"{path}: found {found} records, expected the {listed} that the manifest lists"
    )
