"""Data directories, and the choice of what reads and writes files at a path or a URL."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..shared.errors import DatasetError
from .files import FileReader, Files, OutputFile, Result, in_threads
from .gfile import TensorFlowReader, is_copied
from .local import LocalFiles
from .lock import Lock, Lost
from .remote import RemoteFiles, RemoteReader

_LOCAL = LocalFiles()
_BY_FSSPEC = RemoteReader()
_BY_TENSORFLOW = TensorFlowReader()

_OF_THIS_MACHINE = ("file://", "local://")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(::[^/]*)?://")
_URL_OF_A_PATH = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/(?!/)")


def is_remote(path: str) -> bool:
    """Return whether a path is a URL; `file://` URLs are of this machine."""
    return not path.startswith(_OF_THIS_MACHINE) and _URL.match(path) is not None


def path_of(path: str | os.PathLike[str]) -> str:
    """Return the text of a path or a URL.

    Raises:
        DatasetError: it is empty, not text, or a URL that has lost a slash in a Path.
    """
    text = os.fspath(path)
    if not isinstance(text, str) or not text:
        raise DatasetError(f"directory {text!r}: expected a path or a URL, as text")
    swallowed = None if isinstance(path, str) else _URL_OF_A_PATH.match(text)
    if swallowed:
        scheme = swallowed[1]
        raise DatasetError(
            f"directory {text!r}: a path, which would be made on this machine; pass "
            f"the URL {text.replace(':/', '://', 1)!r} as a str, since Path takes one "
            f"of the slashes of {scheme}:// away"
        )
    return text


def reader_of(path: str) -> FileReader:
    """Return what reads the file, directory or glob at a path or URL.

    In programs that have imported TensorFlow, it reads the URLs that it knows.
    """
    if not is_remote(path):
        return _LOCAL
    if "tensorflow" in sys.modules and not is_copied(path):
        return _BY_TENSORFLOW
    return _BY_FSSPEC


def open_directory(path: str | os.PathLike[str]) -> Directory:
    """Return the directory at a path, or at a URL such as `s3://bucket/data`.

    It need not be there. `file://` URLs are local directories.

    Raises:
        DatasetError: the URL's file system is not known or not installed.
    """
    text = path_of(path)
    if is_remote(text):
        return Directory(text.rstrip("/"), RemoteFiles(text))
    if text.startswith(_OF_THIS_MACHINE):
        text = text.partition("://")[2]
    return Directory(str(Path(text)), _LOCAL)


@dataclass(frozen=True)
class Directory:
    """A directory of files without subdirectories; files are named, never paths.

    Attributes:
        where: the path or URL, for messages and for joining with "/" and a name.
        files: reads and writes its files.
        held: a lock that this process holds, which is compared before each removal,
            renaming and replacement. Once it is lost each of them raises `Lost` and
            touches nothing. New files are created without a comparison: they have names
            that no other file has.
    """

    where: str
    files: Files
    held: Lock | None = None

    @property
    def local(self) -> Path | None:
        """The path on this machine; None if it is remote."""
        return Path(self.where) if self.files.is_local else None

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

    def make(self) -> None:
        """Make the directory, and those above it, if it does not exist."""
        self.files.make(self.where)

    def create(self, name: str) -> OutputFile:
        """Begin a new file, of a name that no other file has."""
        return self.files.create(self.path(name))

    def create_whole(self, name: str, data: bytes) -> bool:
        """Write a new small file; return False if there is one of this name already.

        A file that was cut off by a kill has less than all of its bytes.
        """
        return self.files.create_whole(self.path(name), data)

    def replace(self, name: str, data: bytes) -> None:
        """Write a whole small file in one step, durable after `sync`.

        Readers find the old bytes or the new ones.

        Raises:
            Lost: another process has replaced it meanwhile, where that can be told.
        """
        path = self.path(name)
        if not self.files.replace(path, data, self._check):
            self._check()
            reason = "another process has replaced this file meanwhile"
            raise Lost(errno.ENOLCK, reason, path)

    def rename(self, old: str, new: str) -> None:
        """Give a file another name, in place of the file that has it; see `sync`."""
        self._check()
        self.files.rename(self.path(old), self.path(new))

    def remove(self, *names: str) -> None:
        """Remove files; a missing one is not an error."""
        if names:
            self._check()
            self.for_each(self.files.remove, [self.path(name) for name in names])

    def sync(self) -> None:
        """Make what happened to names durable: new ones, renamed and removed ones."""
        self.files.sync(self.where)

    def for_each(
        self, function: Callable[..., Result], *items: Iterable[Any]
    ) -> list[Result]:
        """Apply a function that waits for files to many of them, as `map` does."""
        many = list(zip(*items, strict=True))
        if self.files.is_local:
            return [function(*each) for each in many]
        # An object store takes half a second to rename a file.
        return in_threads(lambda each: function(*each), many)

    def lock(self, name: str, *, wait: bool = False) -> Lock:
        """Lock the directory for one purpose, by a file of this name.

        Args:
            name: what to call the file; it is there while the lock is held.
            wait: wait until the lock is free.

        Raises:
            Busy: another has it, and `wait` is False.
        """
        return self.files.lock(self.path(name), wait=wait)

    @contextmanager
    def locked(self, name: str) -> Iterator[Directory]:
        """Wait for a lock, and give the directory as its holder sees it.

        Args:
            name: of the lock.

        Raises:
            Lost: from each change, once another process may hold the lock; and in place of
                a DatasetError.
            OSError: the lock cannot be taken.
        """
        with self.lock(name, wait=True) as lock:
            try:
                yield replace(self, held=lock)
            except DatasetError:
                lock.check()  # without it, what was read may be old
                raise

    def _check(self) -> None:
        if self.held is not None:
            self.held.check()
