"""Reading by TensorFlow: `gs://` and the file systems that packages have registered."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import RawIOBase
from typing import Any

from ..shared.requirements import lazy_tf as tf
from .files import FileReader, FileState

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.:-]*)://")


def is_copied(path: str) -> bool:
    """Return whether TensorFlow cannot open a URL, so that its file is copied first.

    TensorFlow knows local paths, `gs://` and what packages such as tensorflow-io have
    registered.
    """
    scheme = _SCHEME.match(path)
    return scheme is not None and scheme[1] not in tf.io.gfile.get_registered_schemes()


@contextmanager
def _as_os_errors(path: str) -> Iterator[None]:
    try:
        yield
    except tf.errors.NotFoundError as error:
        raise OSError(errno.ENOENT, error.message, path) from None
    except tf.errors.OpError as error:
        raise OSError(errno.EIO, error.message, path) from None


class TensorFlowReader(FileReader):
    """A `FileReader` of the URLs that TensorFlow knows."""

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
        return _GFile(path)


class _GFile(RawIOBase):
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
