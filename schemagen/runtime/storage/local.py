"""A data directory on this machine, or on one whose files are mounted here."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path

from ..shared.wire import Buffer
from .directory import PIECE_BYTES, Directory, OutputFile
from .lock import Lock, acquire


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


class LocalDirectory(Directory):
    """A `Directory` of the local file system."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.where = str(path)

    @property
    def local(self) -> Path | None:
        return self._path

    def exists(self) -> bool:
        return self._path.is_dir()

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
