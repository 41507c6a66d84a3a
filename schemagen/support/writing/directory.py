"""What writing asks of a data directory, and the answer of local file systems.

`open_directory` takes a path, or a URL for remote file systems. Every OSError that comes
out of here has an errno and names its file.
"""

from __future__ import annotations

import errno
import os
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import Protocol

from ..errors import DatasetError
from ..wire import Buffer
from .lock import Lock, acquire

PIECE_BYTES = 1 << 20
"""How much of a file is read at a time."""

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(::[^/]*)?://")
_URL_OF_A_PATH = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/(?!/)")


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


class Directory(Protocol):
    """A directory of files without subdirectories; files are named, never paths.

    Attributes:
        where: the path or URL, for messages and for joining with "/" and a name.
    """

    where: str

    @property
    def local(self) -> Path | None:
        """The path on this machine; None if it is remote."""

    def make(self) -> None:
        """Make the directory, and those above it, if it is not there."""

    def names(self) -> list[str]:
        """Return the names of its files, hidden ones too, sorted; [] without it."""

    def read(self, name: str) -> bytes | None:
        """Return a file's bytes, or None if it is not there."""

    def size(self, name: str) -> int | None:
        """Return a file's size in bytes, or None if it is not there."""

    def chunks(self, name: str) -> Iterator[bytes]:
        """Yield a file's bytes in pieces of up to PIECE_BYTES."""

    def create(self, name: str) -> OutputFile:
        """Begin a new file; one that is there already is a FileExistsError."""

    def append(self, name: str, data: bytes) -> None:
        """Add to the end of a small file, durably; it is made if it is not there."""

    def replace(self, name: str, data: bytes) -> None:
        """Write a whole small file in one step, durable after `sync`.

        Readers find the old bytes or the new ones. The new ones are first written
        to a file of a `temporary_name`, which stays behind if the process is killed.
        """

    def rename(self, old: str, new: str) -> None:
        """Give a file another name, in place of the file that has it; see `sync`."""

    def remove(self, name: str) -> None:
        """Remove a file; not being there is no error."""

    def sync(self) -> None:
        """Make what happened to names durable: new ones, renamed and removed ones."""

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
    return f".{name.removeprefix('.')}.{uuid.uuid4().hex[:12]}.tmp"


def open_directory(path: str | os.PathLike[str]) -> Directory:
    """Return the directory at a path, or at a URL such as `s3://bucket/data`.

    It need not be there. `file://` URLs are local directories.

    Raises:
        DatasetError: the URL's file system is not known or not installed.
    """
    text = os.fspath(path)
    if not isinstance(text, str) or not text:
        raise DatasetError(f"directory {text!r}: expected a path or a URL, as text")
    if text.startswith(("file://", "local://")):
        return LocalDirectory(Path(text.partition("://")[2]))
    if _URL.match(text):
        from .remote import RemoteDirectory

        return RemoteDirectory(text)
    swallowed = None if isinstance(path, str) else _URL_OF_A_PATH.match(text)
    if swallowed:
        scheme = swallowed[1]
        raise DatasetError(
            f"directory {text!r}: a path, which would be made on this machine; pass "
            f"the URL {text.replace(':/', '://', 1)!r} as a str, since Path takes one "
            f"of the slashes of {scheme}:// away"
        )
    return LocalDirectory(Path(text))


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Give an error the file's name: those of open files do not say whose they are."""
    try:
        yield
    except OSError as error:
        if error.filename is not None or error.errno is None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from None


class LocalFile:
    """An `OutputFile` on this machine; writes go to the system as they are.

    Args:
        path: the file, which must not be there yet.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = FileIO(str(path), "x")

    def write(self, data: Buffer) -> None:
        with named(self._path):
            _write_all(self._file, data)

    def finish(self) -> None:
        with named(self._path):
            os.fsync(self._file.fileno())
            self._file.close()

    def discard(self) -> None:
        # File servers report at closing what they could not write before.
        with suppress(OSError):
            self._file.close()
        with suppress(OSError):
            self._path.unlink()


def _write_all(file: FileIO, data: Buffer) -> None:
    view = memoryview(data)
    while view:
        # The system takes fewer bytes when a disk fills up, and raises at the next try.
        view = view[file.write(view) :]


class LocalDirectory:
    """A `Directory` on this machine, or on one whose files are mounted here."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.where = str(path)

    @property
    def local(self) -> Path | None:
        return self._path

    def make(self) -> None:
        missing = [
            path
            for path in (self._path, *self._path.parents)
            if not os.path.lexists(path)
        ]
        try:
            self._path.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise NotADirectoryError(
                errno.ENOTDIR, os.strerror(errno.ENOTDIR), self.where
            ) from None
        for path in missing:
            _sync(path.parent)

    def names(self) -> list[str]:
        try:
            with os.scandir(self._path) as entries:
                return sorted(entry.name for entry in entries if not entry.is_dir())
        except FileNotFoundError:
            return []

    def read(self, name: str) -> bytes | None:
        path = self._path / name
        with named(path):
            try:
                return path.read_bytes()
            except FileNotFoundError:
                return None

    def size(self, name: str) -> int | None:
        try:
            return (self._path / name).stat().st_size
        except FileNotFoundError:
            return None

    def chunks(self, name: str) -> Iterator[bytes]:
        path = self._path / name
        with path.open("rb") as file:
            while True:
                with named(path):
                    piece = file.read(PIECE_BYTES)
                if not piece:
                    return
                yield piece

    def create(self, name: str) -> OutputFile:
        return LocalFile(self._path / name)

    def append(self, name: str, data: bytes) -> None:
        path = self._path / name
        with FileIO(str(path), "a") as file, named(path):
            is_new = os.fstat(file.fileno()).st_size == 0
            _write_all(file, data)
            os.fsync(file.fileno())
        if is_new:
            self.sync()

    def replace(self, name: str, data: bytes) -> None:
        temporary = temporary_name(name)
        file = LocalFile(self._path / temporary)
        try:
            file.write(data)
            file.finish()
            self.rename(temporary, name)
        except BaseException:
            file.discard()
            raise

    def rename(self, old: str, new: str) -> None:
        (self._path / old).replace(self._path / new)

    def remove(self, name: str) -> None:
        (self._path / name).unlink(missing_ok=True)

    def sync(self) -> None:
        _sync(self._path)

    def lock(self, name: str, *, wait: bool = False) -> Lock:
        return acquire(self._path / name, wait=wait)


def _sync(directory: Path) -> None:
    """Make the names in a directory durable, where the system can do so."""
    if os.name != "posix":
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        with named(directory):
            os.fsync(handle)
    except OSError as error:
        # Some file servers keep names safe by themselves, and have no such call.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)
