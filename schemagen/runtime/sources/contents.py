"""The records of a file in order, and what is wrong with the file."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from io import BufferedReader, FileIO, RawIOBase
from typing import Any

from ..native import crc32c
from ..shared.errors import DatasetError
from ..shared.tfrecord import survey
from ..storage.directory import reader_of
from ..storage.remote import RangeReader
from .files import Files

_BUFFER_BYTES = 1 << 20


def open_file(files: Files, number: int) -> RawIOBase:
    """Open one of some files.

    Raises:
        OSError: it cannot be opened.
    """
    if files.is_remote(number):
        return RangeReader(partial(files.read, number), files.sizes[number])
    return files.at_its_name(number, FileIO)


class Contents:
    """The records of a file, local or remote, compressed or not.

    Args:
        files: some files.
        number: which of them.
        file: the same, if it is open already.
    """

    def __init__(
        self, files: Files, number: int, file: RawIOBase | None = None
    ) -> None:
        self._files = files
        self._number = number
        self._path = files.paths[number]
        self._opened = file
        self._file: _File | None = None

    def __iter__(self) -> Iterator[bytes | DatasetError]:
        """Yield records, and in place of a bad one its error.

        Every error names the file and, where there is one, the record, counted from 0.
        Behind the error of a record whose length is unknown, or of a file that cannot be
        read, there is nothing more.
        """
        try:
            file = self._opened or open_file(self._files, self._number)
            self._file = _File(file)
            raw: Any = self._file
            with BufferedReader(raw, _BUFFER_BYTES) as buffered:
                yield from survey(buffered, self._path)
        except (OSError, _UnreadableError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            yield DatasetError(f"{self._path}: it cannot be read: {reason}")

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


def opening_problem(files: Files, number: int) -> str:
    """Say why one of some files cannot be read, or return "" if it can."""
    path, size = files.paths[number], files.sizes[number]
    try:
        with open_file(files, number) as file:
            file.read(1)
        found = files.at_its_name(number, lambda name: reader_of(name).state(name).size)
    except FileNotFoundError:
        return f"{path}: deleted since the dataset was made"
    except OSError as error:
        return f"{path}: it cannot be read: {error.strerror}"
    if found == size:
        return ""
    return (
        f"{path}: found {found} bytes, expected the {size} that it had when the dataset "
        "was made; do not write files while they are read, and make the dataset again"
    )


def wrong_count(path: str, found: int, listed: int) -> str:
    """Say that a file has not the records that its manifest lists."""
    return (
        f"{path}: found {found} records, expected the {listed} that the manifest lists"
    )
