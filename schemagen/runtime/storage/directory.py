"""The interface of a data directory: what reading and writing ask of a file system.

`local.py` and `remote.py` implement it, and `opening.py` chooses between them. Every
OSError of an implementation has an errno and names its file.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol

from ..shared.wire import Buffer
from .files import FileAccess, Result

if TYPE_CHECKING:
    from pathlib import Path

    from .lock import Lock


class OutputFile(Protocol):
    """A file that is being written."""

    def write(self, data: Buffer) -> None:
        """Write all of some bytes."""

    def finish(self) -> None:
        """Make the file durable, as far as its bytes go, and close it."""

    def discard(self) -> None:
        """Close the file and remove it.

        It never raises an OSError: one is mostly on its way already. What cannot be
        removed has a hidden name, and goes with the next run.
        """


class Directory(ABC):
    """A directory of files without subdirectories; files are named, never paths.

    Attributes:
        where: the path or URL, for messages and for joining with "/" and a name.
        files: reads its files.
    """

    where: str
    files: FileAccess

    @property
    def local(self) -> Path | None:
        """The path on this machine; None if it is remote."""
        return None

    def path(self, name: str) -> str:
        """Return the path or URL of a file."""
        return f"{self.where}/{name}"

    def exists(self) -> bool:
        """Whether it is there; in an object store, whether it has files."""
        return self.files.is_dir(self.where)

    def names(self) -> list[str]:
        """Return the names of its files, hidden ones too, sorted; [] without it."""
        try:
            found = self.files.names(self.where)
        except FileNotFoundError:
            return []
        return [name for name in found if not name.endswith("/")]

    def read(self, name: str) -> bytes | None:
        """Return a file's bytes, or None if it does not exist."""
        try:
            return self.files.read(self.path(name))
        except FileNotFoundError:
            return None

    def size(self, name: str) -> int | None:
        """Return a file's size in bytes, or None if it does not exist."""
        try:
            return self.files.state(self.path(name)).size
        except FileNotFoundError:
            return None

    @abstractmethod
    def make(self) -> None:
        """Make the directory, and those above it, if it does not exist."""

    @abstractmethod
    def create(self, name: str) -> OutputFile:
        """Begin a new file; one that exists is a FileExistsError."""

    def create_whole(self, name: str, data: bytes) -> bool:
        """Write a new small file; return False if there is one of this name already.

        A file that was cut off by a kill has less than all of its bytes.
        """
        try:
            file = self.create(name)
        except FileExistsError:
            return False
        try:
            file.write(data)
            file.finish()
        except BaseException:
            file.discard()
            raise
        return True

    def replace(self, name: str, data: bytes) -> None:
        """Write a whole small file in one step, durable after `sync`.

        Readers find the old bytes or the new ones. The new ones are first written
        to a file of a `temporary_name`, which stays behind if the process is killed.
        """
        temporary = temporary_name(name)
        file = self.create(temporary)
        try:
            file.write(data)
            file.finish()
            self.rename(temporary, name)
        except BaseException:
            file.discard()
            raise

    @abstractmethod
    def rename(self, old: str, new: str) -> None:
        """Give a file another name, in place of the file that has it; see `sync`."""

    @abstractmethod
    def remove(self, name: str) -> None:
        """Remove a file; a missing one is not an error."""

    @abstractmethod
    def sync(self) -> None:
        """Make what happened to names durable: new ones, renamed and removed ones."""

    def for_each(
        self, function: Callable[..., Result], *items: Iterable[Any]
    ) -> list[Result]:
        """Apply a function that waits for files to many of them, as `map` does."""
        return [function(*each) for each in zip(*items, strict=True)]

    @abstractmethod
    def lock(self, name: str, *, wait: bool = False) -> Lock:
        """Lock the directory for one purpose, by a file of this name.

        Args:
            name: what to call the file; it is there while the lock is held.
            wait: wait until the lock is free.

        Raises:
            Busy: another has it, and `wait` is False.
        """


def temporary_name(name: str) -> str:
    """Return a hidden name that no other file has, such as `.manifest.json.<id>.tmp`."""
    return f".{name.removeprefix('.')}.{os.urandom(6).hex()}.tmp"
