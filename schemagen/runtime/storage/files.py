"""What reading asks of a file system, and the file system of this machine.

`remote_files.py` has the file systems of fsspec, and `sources.file_access` those of
TensorFlow.
"""

from __future__ import annotations

import errno
import glob
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import FileIO, RawIOBase
from typing import Protocol, Self, TypeVar

_THREADS = 16

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class FileState:
    """What a file system says about a file.

    Attributes:
        size: in bytes.
        version: what is another one after the file was written again: an entity tag, or
            the inode and the modification time; "" if the file system has none of them.
    """

    size: int
    version: str

    @classmethod
    def of(cls, found: os.stat_result) -> Self:
        """Return the state of a file of this machine."""
        return cls(found.st_size, f"{found.st_ino}-{found.st_mtime_ns}")

    def __str__(self) -> str:
        return f"{self.size} {self.version}"


class FileAccess(Protocol):
    """Reads files by path or URL. Every OSError has an errno and names its file."""

    def is_dir(self, path: str) -> bool:
        """Return whether there is a directory: on object stores, files below it."""

    def exists(self, path: str) -> bool:
        """Return whether there is a file or directory."""

    def names(self, path: str) -> list[str]:
        """Return the names of what is in a directory, sorted; directories end with "/"."""

    def glob(self, pattern: str) -> list[str]:
        """Return the paths that match a glob, sorted."""

    def state(self, path: str) -> FileState:
        """Return a file's size and version."""

    def read(self, path: str, start: int = 0, stop: int | None = None) -> bytes:
        """Return the bytes of a file from `start` to `stop`, which it has, or to its end."""

    def open(self, path: str) -> RawIOBase:
        """Open a file for reading."""


@contextmanager
def named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Give an error the file's name: those of open files do not say whose they are."""
    try:
        yield
    except OSError as error:
        if error.filename is not None or error.errno is None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from None


class NotRegularError(OSError):
    """A pipe, a socket or a device in place of a file: reading it could wait forever."""


def regular_state(path: str) -> os.stat_result:
    """Return the state of a file or directory.

    Raises:
        NotRegularError: it is neither.
        OSError: it cannot be had.
    """
    found = os.stat(path)
    if stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode):
        return found
    kinds = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
    kind = kinds.get(stat.S_IFMT(found.st_mode), "a device")
    raise NotRegularError(errno.EINVAL, f"{kind}, not a regular file", path)


class LocalFiles:
    """A `FileAccess` to the files of this machine."""

    def is_dir(self, path: str) -> bool:
        return os.path.isdir(path)

    def exists(self, path: str) -> bool:
        return os.path.exists(path)

    def names(self, path: str) -> list[str]:
        with os.scandir(path) as entries:
            return sorted(entry.name + "/" * entry.is_dir() for entry in entries)

    def glob(self, pattern: str) -> list[str]:
        return sorted(glob.glob(pattern))

    def state(self, path: str) -> FileState:
        return FileState.of(regular_state(path))

    def read(self, path: str, start: int = 0, stop: int | None = None) -> bytes:
        regular_state(path)
        with named(path), open(path, "rb") as file:
            file.seek(start)
            return file.read(-1 if stop is None else stop - start)

    def open(self, path: str) -> RawIOBase:
        regular_state(path)
        return FileIO(path)


def in_threads(
    function: Callable[[Item], Result], items: Sequence[Item]
) -> list[Result]:
    """Apply a function that waits for files, to many at a time.

    Datasets call this too. The pools of `concurrent.futures` share a lock, and a thread
    that holds it may be one that waits until a dataset has ended.
    """
    if len(items) < 2:
        return [function(item) for item in items]
    from multiprocessing.pool import ThreadPool  # slow to import

    with ThreadPool(min(_THREADS, len(items))) as pool:
        return pool.map(function, items, chunksize=1)
