"""The interface to files: what reading and writing ask of a file system.

`local.py` implements it for this machine, and `remote.py` for the file systems of fsspec.
`gfile.py` reads by TensorFlow. `directory.py` chooses between them.
"""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from io import RawIOBase
from types import TracebackType
from typing import ClassVar, Protocol, Self, TypeVar

from ..shared.wire import Buffer
from .lock import Lock

_THREADS = 16

# No file system rounds times to more seconds.
_SAME_TIME = 2

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class FileState:
    """What a file system says about a file.

    Attributes:
        size: in bytes.
        version: what is another one after the file was written again: an entity tag, or
            the inode and the modification time; "" if the file system has none of them.
        is_distinct: whether no other contents have this state. Times are rounded, so that
            a file may be written twice at one time.
    """

    size: int
    version: str
    is_distinct: bool = field(default=False, compare=False)

    @classmethod
    def of(cls, found: os.stat_result) -> Self:
        """Return the state of a file of this machine."""
        version = f"{found.st_ino}-{found.st_mtime_ns}"
        return cls(found.st_size, version, time.time() - found.st_mtime > _SAME_TIME)

    @property
    def of_this_machine(self) -> tuple[int, int, int]:
        """Its size, inode, and modification time in nanoseconds, if `of` has made it."""
        inode, _, modified = self.version.partition("-")
        return self.size, int(inode), int(modified)

    def __str__(self) -> str:
        return f"{self.size} {self.version}"


class FileReader(ABC):
    """Reads files by path or URL. Every OSError has an errno and names its file."""

    @abstractmethod
    def is_dir(self, path: str) -> bool:
        """Return whether there is a directory: on object stores, files below it."""

    @abstractmethod
    def exists(self, path: str) -> bool:
        """Return whether there is a file or directory."""

    @abstractmethod
    def names(self, path: str) -> list[str]:
        """Return the names of what is in a directory, sorted; directories end with "/"."""

    def sizes(self, path: str) -> dict[str, int]:
        """Return the sizes of a directory's files by name, as far as a listing has them."""
        return {}

    @abstractmethod
    def glob(self, pattern: str) -> list[str]:
        """Return the paths that match a glob, sorted."""

    @abstractmethod
    def state(self, path: str) -> FileState:
        """Return a file's size and version."""

    @abstractmethod
    def read(self, path: str, start: int = 0, stop: int | None = None) -> bytes:
        """Return the bytes of a file from `start` to `stop`, which it has, or to its end."""

    @abstractmethod
    def open(self, path: str) -> RawIOBase:
        """Open a file for reading."""


class OutputFile(Protocol):
    """A file that is being written."""

    def write(self, data: Buffer) -> None:
        """Write all of some bytes."""

    def finish(self) -> None:
        """Make the file durable, as far as its bytes go, and close it."""

    def discard(self) -> None:
        """Close the file and remove it.

        It never raises an OSError: one is mostly on its way already. What cannot be
        removed goes with the next run.
        """


class Files(FileReader):
    """Reads and writes files by path or URL.

    Attributes:
        is_local: whether they are of this machine.
    """

    is_local: ClassVar[bool]

    @abstractmethod
    def make(self, directory: str) -> None:
        """Make a directory, and those above it, if it does not exist."""

    @abstractmethod
    def create(self, path: str) -> OutputFile:
        """Begin a new file, of a name that no other file has."""

    @abstractmethod
    def replace(
        self, path: str, data: bytes, check: Callable[[], object] = lambda: None
    ) -> bool:
        """Write a whole small file in one step: readers find the old bytes or the new ones.

        A local one is durable after `sync`. What killed processes have left of writing
        the same file is removed.

        Args:
            path: of the file.
            data: its new bytes.
            check: called at the last moment; if it raises an error, nothing is replaced.

        Returns:
            False if another process has replaced the file since `check` was called, and
            nothing was written. Not all file systems can tell.
        """

    @abstractmethod
    def create_whole(self, path: str, data: bytes) -> bool:
        """Write a new small file; return False if there is one of this name already.

        A file that was cut off by a kill has less than all of its bytes.
        """

    @abstractmethod
    def rename(self, old: str, new: str) -> None:
        """Give a file another name, in place of the file that has it; see `sync`."""

    @abstractmethod
    def remove(self, path: str) -> None:
        """Remove a file; a missing one is not an error."""

    @abstractmethod
    def sync(self, directory: str) -> None:
        """Make what happened to names durable: new ones, renamed and removed ones."""

    @abstractmethod
    def lock(self, path: str, *, wait: bool = False) -> Lock:
        """Take a lock by a file, which is there while the lock is held.

        Args:
            path: of the file.
            wait: wait until the lock is free.

        Raises:
            Busy: another has it, and `wait` is False.
        """


class named:  # noqa: N801 - a context manager, as `suppress`
    """Give an error the file's name: those of open files do not say whose they are.

    Args:
        path: of the file.
    """

    __slots__ = ("_path",)

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = path

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, OSError) and error.filename is None and error.errno:
            reason = os.strerror(error.errno)
            raise OSError(error.errno, reason, str(self._path)) from None


def temporary_name(name: str) -> str:
    """Return a hidden name that no other file has, such as `.manifest.json.<id>.tmp`."""
    return f".{name.removeprefix('.')}.{os.urandom(6).hex()}.tmp"


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
