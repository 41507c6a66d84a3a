"""A data directory on this machine, or on one whose files are mounted here."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from io import FileIO
from pathlib import Path

from ..shared.wire import Buffer
from .directory import Directory, OutputFile
from .files import LocalFiles, named
from .lock import Lock, acquire


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


class LocalDirectory(Directory):
    """A `Directory` of the local file system."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.where = str(path)
        self.files = LocalFiles()

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

    def create(self, name: str) -> OutputFile:
        return LocalFile(self._path / name)

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
