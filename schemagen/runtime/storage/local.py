"""Files of this machine, or of one whose files are mounted here."""

from __future__ import annotations

import errno
import glob
import os
import re
import shutil
import stat
from collections.abc import Callable
from contextlib import suppress
from io import FileIO, RawIOBase
from pathlib import Path

from ..shared.wire import Buffer
from .files import Files, FileState, OutputFile, named, temporary_name
from .lock import Lock, acquire, hold, remove_abandoned


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


def replace_file(
    path: Path, data: Buffer, check: Callable[[], object] = lambda: None
) -> None:
    """Write a file under a temporary name next to it, and rename it.

    A file that is there is replaced, and its mode kept. Temporary files that killed processes
    have left of it are removed; `os.fsync` of the directory makes the new name durable.

    Args:
        path: of the file.
        data: its bytes.
        check: called before the renaming; if it raises an error, nothing is replaced.

    Raises:
        OSError: the disk refuses; what stood there still does.
    """
    leftover = re.compile(
        rf"\.{re.escape(path.name.removeprefix('.'))}\.[0-9a-f]{{12}}\.tmp"
    )
    with suppress(OSError), os.scandir(path.parent) as entries:
        left = [entry.path for entry in entries if leftover.fullmatch(entry.name)]
        remove_abandoned(map(Path, left))
    temporary = path.with_name(temporary_name(path.name))
    try:
        with hold(temporary), named(path):
            with FileIO(str(temporary), "w") as file:
                _write_all(file, data)
                os.fsync(file.fileno())
            check()
            with suppress(FileNotFoundError):
                shutil.copymode(path, temporary)
            temporary.replace(path)
    except BaseException:  # an interrupt leaves nothing behind either
        with suppress(OSError):
            temporary.unlink()
        raise


class LocalFiles(Files):
    """`Files` by path."""

    is_local = True

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
        with named(path), FileIO(path) as file:
            file.seek(start)
            return file.read(-1 if stop is None else stop - start)

    def open(self, path: str) -> RawIOBase:
        regular_state(path)
        return FileIO(path)

    def make(self, directory: str) -> None:
        path = Path(directory)
        missing = [each for each in (path, *path.parents) if not os.path.lexists(each)]
        try:
            path.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise NotADirectoryError(
                errno.ENOTDIR, os.strerror(errno.ENOTDIR), directory
            ) from None
        for each in missing:
            _sync(each.parent)

    def create(self, path: str) -> OutputFile:
        return LocalFile(Path(path))

    def create_whole(self, path: str, data: bytes) -> bool:
        try:
            file = LocalFile(Path(path))
        except FileExistsError:
            return False
        try:
            file.write(data)
            file.finish()
        except BaseException:
            file.discard()
            raise
        return True

    def replace(
        self, path: str, data: bytes, check: Callable[[], object] = lambda: None
    ) -> bool:
        replace_file(Path(path), data, check)
        return True

    def rename(self, old: str, new: str) -> None:
        os.replace(old, new)

    def remove(self, path: str) -> None:
        with suppress(FileNotFoundError):
            os.unlink(path)

    def sync(self, directory: str) -> None:
        _sync(Path(directory))

    def lock(self, path: str, *, wait: bool = False) -> Lock:
        return acquire(Path(path), wait=wait)


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


def _sync(directory: Path) -> None:
    """Make the names in a directory durable, where the file system can do so."""
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
