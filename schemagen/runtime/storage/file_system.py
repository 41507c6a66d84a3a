"""File systems of fsspec, and their errors as OSError."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..shared.errors import DatasetError

# Errors of fsspec often have a class and no errno.
_ERRNO: dict[type[OSError], int] = {
    FileNotFoundError: errno.ENOENT,
    FileExistsError: errno.EEXIST,
    PermissionError: errno.EACCES,
    IsADirectoryError: errno.EISDIR,
    NotADirectoryError: errno.ENOTDIR,
    TimeoutError: errno.ETIMEDOUT,
}


@contextmanager
def named_errors(path: str) -> Iterator[None]:
    """Make an OSError with the file's name of whatever a file system raises.

    The packages behind fsspec have errors of their own, of many classes.
    """
    try:
        yield
    except Exception as error:
        number = error.errno if isinstance(error, OSError) else None
        if number is None:
            of_class = (_ERRNO[kind] for kind in _ERRNO if isinstance(error, kind))
            number = next(of_class, errno.EIO)
        said = str(error)
        text = os.strerror(number)
        if said and said not in path and text not in said:
            text = f"{text} ({type(error).__name__}: {said})"
        raise OSError(number, text, path) from error


def open_file_system(url: str) -> tuple[Any, str]:
    """Return the file system of a URL, and the path of the URL there.

    Raises:
        DatasetError: fsspec or its package for this URL is not installed.
    """
    try:
        import fsspec  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ModuleNotFoundError as error:
        raise DatasetError(
            f"directory {url!r}: remote file systems need fsspec, which is not installed; "
            'run pip install "fsspec>=2024.2"'
        ) from error
    try:
        file_system, root = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise DatasetError(
            f"directory {url!r}: fsspec cannot open it: {error}; for a directory of this "
            "machine pass its path"
        ) from error
    return file_system, str(root).rstrip("/")
