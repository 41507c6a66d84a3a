"""The records of a file in order, and what is wrong with the file."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from io import BufferedReader, RawIOBase
from posixpath import dirname
from typing import Any

from ..shared.errors import UNDECODABLE, DatasetError
from ..shared.tfrecord import survey
from ..storage.integrity import MeasuredFile
from .generation import unreadable_problem
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
        self._file: MeasuredFile | None = None

    def __iter__(self) -> Iterator[bytes | DatasetError]:
        """Yield records, and in place of a bad one its error.

        Every error names the file and, where there is one, the record, counted from 0.
        Behind the error of a record whose length is unknown, or of a file that cannot be
        read, there is nothing more.
        """
        try:
            self._file = MeasuredFile(self._opened or self._found.open())
            raw: Any = self._file
            with BufferedReader(raw, _BUFFER_BYTES) as buffered:
                yield from survey(buffered, self._found.path)
        except OSError as error:
            reason = error.strerror or error
            yield DatasetError(f"{self._found.path}: it cannot be read: {reason}")

    @property
    def crc32c(self) -> str:
        """The CRC-32C of the bytes that were read, as manifests list it."""
        return self._file.crc32c if self._file else f"{0:08x}"


def with_command(place: str, problem: str) -> str:
    """Return a problem of damaged data, and the command that reports all of them.

    No command reports values that cannot be decoded: their bytes pass all checks.

    Args:
        place: the file, perhaps with a record: "data/train-00000.tfrecord: record 3".
        problem: what is wrong there.
    """
    if UNDECODABLE in problem:
        return f"{problem}; its bytes pass the checks of `schemagen verify`"
    command = f"schemagen verify {shlex.quote(dirname(place) or '.')}"
    end = " " if problem.endswith("?") else "; "
    return f"{problem}{end}`{command}` reports everything that is wrong"


def opening_problem(file: File) -> str:
    """Say why a file cannot be read, or return "" if it can."""
    try:
        with file.open() as opened:
            opened.read(1)
    except OSError as error:
        return unreadable_problem(file, error)
    return ""
