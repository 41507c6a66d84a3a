"""Reading files wherever they are: on this machine, by TensorFlow, or by fsspec."""

from __future__ import annotations

import errno
import glob
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO, RawIOBase
from typing import Any, Protocol

from ..codecs.tensorflow import tf
from ..storage.remote_files import FileState, RemoteFiles

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.:-]*)://")


class FileAccess(Protocol):
    """What datasets ask of a file system. All errors are OSError with an errno."""

    def is_dir(self, path: str) -> bool:
        """Return whether there is a directory."""

    def exists(self, path: str) -> bool:
        """Return whether there is a file or directory."""

    def names(self, path: str) -> list[str]:
        """Return the names of what is in a directory."""

    def glob(self, pattern: str) -> list[str]:
        """Return the paths that match a glob, sorted."""

    def state(self, path: str) -> FileState:
        """Return a file's size and version."""

    def read(self, path: str, start: int = 0, stop: int | None = None) -> bytes:
        """Return the bytes of a file from `start` to `stop`, which it has, or to its end."""

    def open(self, path: str) -> RawIOBase:
        """Open a file for reading."""


class LocalFiles:
    """A `FileAccess` to the files of this machine."""

    def is_dir(self, path: str) -> bool:
        return os.path.isdir(path)

    def exists(self, path: str) -> bool:
        return os.path.exists(path)

    def names(self, path: str) -> list[str]:
        return os.listdir(path)

    def glob(self, pattern: str) -> list[str]:
        return sorted(glob.glob(pattern))

    def state(self, path: str) -> FileState:
        found = os.stat(path)
        return FileState(found.st_size, str(found.st_mtime_ns))

    def read(self, path: str, start: int = 0, stop: int | None = None) -> bytes:
        with open(path, "rb") as file:
            file.seek(start)
            return file.read(-1 if stop is None else stop - start)

    def open(self, path: str) -> RawIOBase:
        return FileIO(path)


@contextmanager
def _as_os_errors(path: str) -> Iterator[None]:
    try:
        yield
    except tf.errors.NotFoundError as error:
        raise OSError(errno.ENOENT, error.message, path) from None
    except tf.errors.OpError as error:
        raise OSError(errno.EIO, error.message, path) from None


class TensorFlowFiles:
    """A `FileAccess` to the URLs that TensorFlow reads."""

    def is_dir(self, path: str) -> bool:
        with _as_os_errors(path):
            return bool(tf.io.gfile.isdir(path))

    def exists(self, path: str) -> bool:
        with _as_os_errors(path):
            return bool(tf.io.gfile.exists(path))

    def names(self, path: str) -> list[str]:
        with _as_os_errors(path):
            return list(tf.io.gfile.listdir(path))

    def glob(self, pattern: str) -> list[str]:
        with _as_os_errors(pattern):
            return sorted(tf.io.gfile.glob(pattern))

    def state(self, path: str) -> FileState:
        with _as_os_errors(path):
            fact = tf.io.gfile.stat(path)
        return FileState(fact.length, str(fact.mtime_nsec))

    def read(self, path: str, start: int = 0, stop: int | None = None) -> bytes:
        with _as_os_errors(path), tf.io.gfile.GFile(path, "rb") as file:
            file.seek(start)
            return bytes(file.read(-1 if stop is None else stop - start))

    def open(self, path: str) -> RawIOBase:
        return _TensorFlowReader(path)


class _TensorFlowReader(RawIOBase):
    """A file of any file system that TensorFlow knows."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._file = tf.io.gfile.GFile(path, "rb")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        with _as_os_errors(self._path):
            data = self._file.read(len(view))
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()


_LOCAL = LocalFiles()
_BY_TENSORFLOW = TensorFlowFiles()
_BY_FSSPEC = RemoteFiles()


def is_copied(path: str) -> bool:
    """Return whether TensorFlow cannot open a URL, so that its file is copied first.

    TensorFlow knows local paths, `gs://` and what packages such as tensorflow-io have
    registered.
    """
    url = _URL.match(path)
    return url is not None and url[1] not in tf.io.gfile.get_registered_schemes()


def access_to(path: str) -> FileAccess:
    """Return what reads the file, directory or glob at a path or URL.

    TensorFlow reads URLs only in programs that have imported it.
    """
    if not _URL.match(path):
        return _LOCAL
    if "tensorflow" not in sys.modules or is_copied(path):
        return _BY_FSSPEC
    return _BY_TENSORFLOW
