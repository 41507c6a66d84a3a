"""Parts of files, and the places where a file is damaged."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from io import RawIOBase

from ..runtime.sources.shards import File
from .remote_path import FilePath, file_path, open_file


@dataclass(frozen=True)
class Damage:
    """A place of a file at which no record can be read.

    Attributes:
        file: the file's path.
        record: the number of the record that cannot be read.
        offset: where its frame begins, as in `Records`.
        kind: one word: "checksum" (of a record), "length", "torn", "truncated",
            "compression", "foreign" (not a TFRecord file), "unreadable", "limit" (a
            record that takes more than is allowed).
        found: what is there.
        expected: what should be.
        cause: the likely cause; empty if unknown.
        skipped: how many bytes were skipped until the next good record; 0 if none
            were, None without a further one.
    """

    file: str
    record: int
    offset: int
    kind: str
    found: str
    expected: str
    cause: str = ""
    skipped: int | None = 0


@dataclass(frozen=True)
class Part:
    """Consecutive records of a file.

    Attributes:
        path: the file.
        start: the offset at which they begin.
        stop: the offset at which they end; None for the file's end.
        first: the number of the first one.
        hidden: the file, until its split is settled; None afterwards.
    """

    path: FilePath
    start: int = 0
    stop: int | None = None
    first: int = 0
    hidden: FilePath | None = None

    def open(self) -> RawIOBase:
        """Open the file for reading, unbuffered.

        Raises:
            OSError: it does not exist, it is not a regular file, or it cannot be read.
        """
        if self.hidden is not None:
            with suppress(FileNotFoundError):
                return open_file(self.hidden)
        return open_file(self.path)


def whole_of(file: File) -> Part:
    """Return all of a file."""
    path = file_path(file.path)
    hidden = file.listed.hidden if file.listed else None
    return Part(path, hidden=path.parent / hidden if hidden else None)
