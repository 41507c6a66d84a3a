"""A data directory as the holder of a lock sees it: no lock, no change to what is there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .directory import Directory, OutputFile
from .files import Result
from .lock import Lock


class LockedDirectory(Directory):
    """A `Directory` that compares a lock before each removal, renaming and replacement.

    Once the lock is lost each of them raises `Lost` and touches nothing. New files are
    created without a comparison: they have hidden names that no other file has.

    Args:
        directory: where the files are.
        lock: a lock that this process holds.
    """

    def __init__(self, directory: Directory, lock: Lock) -> None:
        self._directory = directory
        self._lock = lock
        self.where = directory.where
        self.files = directory.files

    @property
    def local(self) -> Path | None:
        return self._directory.local

    def make(self) -> None:
        self._directory.make()

    def create(self, name: str) -> OutputFile:
        return self._directory.create(name)

    def create_whole(self, name: str, data: bytes) -> bool:
        return self._directory.create_whole(name, data)

    def rename(self, old: str, new: str) -> None:
        self._lock.check()
        self._directory.rename(old, new)

    def remove(self, name: str) -> None:
        self._lock.check()
        self._directory.remove(name)

    def sync(self) -> None:
        self._directory.sync()

    def for_each(
        self, function: Callable[..., Result], *items: Iterable[Any]
    ) -> list[Result]:
        return self._directory.for_each(function, *items)

    def lock(self, name: str, *, wait: bool = False) -> Lock:
        return self._directory.lock(name, wait=wait)


@contextmanager
def locked(directory: Directory, name: str) -> Iterator[LockedDirectory]:
    """Wait for a lock of a directory, and give the directory during that lock.

    Args:
        directory: the data directory.
        name: of the lock.

    Raises:
        Lost: from each change, once another process may hold the lock.
        OSError: the lock cannot be taken.
    """
    with directory.lock(name, wait=True) as lock:
        yield LockedDirectory(directory, lock)
