"""Reading files wherever they are: on this machine, by TensorFlow, or by fsspec."""

from __future__ import annotations

import errno
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import RawIOBase
from typing import Any

from ..codecs.tensorflow import tf
from ..storage.files import FileAccess, FileState, LocalFiles
from ..storage.remote_files import RemoteFiles

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.:-]*)://")


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
