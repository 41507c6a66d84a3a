"""Reading single files by URL, by way of fsspec."""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from io import RawIOBase
from threading import Lock
from typing import Any

from .file_system import named_errors, open_file_system
from .files import FileState

PIECE_BYTES = 1 << 23
"""How many bytes are requested at a time."""

# How many at first, as often a reader needs no more; then four times as many each time.
_FIRST_BYTES = 1 << 16

# How long to wait before a request is repeated, in seconds.
_PAUSES = (0.5, 2.0)

# What is not another answer a moment later.
_PERMANENT = {errno.ENOENT, errno.EACCES, errno.EISDIR, errno.ENOTDIR}

# What file systems say about a file's version, the most precise one first.
_VERSIONS = (
    *("ETag", "etag", "generation", "content_md5", "mtime", "LastModified"),
    *("last_modified", "updated", "modified", "created"),
)

_MAGIC = re.compile(r"[*?[]")

# What keeps copies of files on this machine: fsspec's prefixes of URLs.
_CACHE = re.compile(r"(?:simplecache|filecache)::")
# Of each directory, as fsspec has file systems for each thread, with copies of their own;
# and of each file.
_caches: dict[str, Any] = {}
_copied: dict[str, Lock] = {}


class RemoteFiles:
    """A `FileAccess` by fsspec.

    A request that fails is repeated twice, unless the file is missing or access is
    denied. Packages such as s3fs and gcsfs repeat requests on their own before that.

    Of URLs that begin with `simplecache::` or `filecache::`, ranges of files come from
    copies. Manifests, listings and versions do not, so that it is seen when files change.

    Args:
        listed: take sizes from a listing that fsspec has kept, which saves requests.

    Raises:
        DatasetError: from each method: fsspec or its package for a URL is not installed.
    """

    def __init__(self, *, listed: bool = False) -> None:
        self._listed = listed

    def is_dir(self, url: str) -> bool:
        file_system, path = self._open(url)
        with named_errors(url):
            return bool(file_system.isdir(path))

    def exists(self, url: str) -> bool:
        file_system, path = self._open(url)
        with named_errors(url):
            return bool(file_system.exists(path))

    def names(self, url: str) -> list[str]:
        file_system, path = open_file_system(_CACHE.sub("", url))
        with named_errors(url):
            file_system.invalidate_cache()
            entries = file_system.ls(path, detail=True)
        found = (
            entry["name"].rstrip("/").rsplit("/", 1)[-1]
            + "/" * (entry["type"] == "directory")
            for entry in entries
            # Stores show a directory that was made by itself as an empty file in it.
            if entry["name"].strip("/") != path.strip("/")
        )
        return sorted(found)

    def glob(self, pattern: str) -> list[str]:
        magic = _MAGIC.search(pattern)
        start = pattern[: magic.start() if magic else len(pattern)].rpartition("/")[0]
        file_system, root = open_file_system(_CACHE.sub("", start))
        with named_errors(pattern):
            file_system.invalidate_cache()
            found = file_system.glob(f"{root}{pattern[len(start) :]}")
        return sorted(f"{start}{path[len(root) :]}" for path in map(str, found))

    def state(self, url: str) -> FileState:
        file_system, path = self._open(url)
        with named_errors(url):
            found = file_system.info(path)
            if found["type"] == "directory":
                raise IsADirectoryError
        versions = (str(found[key]) for key in _VERSIONS if found.get(key))
        return FileState(int(found["size"] or 0), next(versions, ""))

    def read(self, url: str, start: int = 0, stop: int | None = None) -> bytes:
        return b"" if stop is not None and start >= stop else _fetched(url, start, stop)

    def open(self, url: str) -> RawIOBase:
        return RangeReader(partial(_fetched, url), self.state(url).size)

    def _open(self, url: str) -> tuple[Any, str]:
        file_system, path = open_file_system(_CACHE.sub("", url))
        if not self._listed:
            file_system.invalidate_cache()
        return file_system, path


def _fetched(url: str, start: int, stop: int | None) -> bytes:
    """Return a range of bytes, with a few attempts.

    Raises:
        OSError: the file does not exist or cannot be read, or it ends before `stop`.
    """
    for pause in _PAUSES:
        try:
            return _requested(url, start, stop)
        except OSError as error:
            if error.errno in _PERMANENT:
                raise
            time.sleep(pause)
    return _requested(url, start, stop)


def _requested(url: str, start: int, stop: int | None) -> bytes:
    is_cached = stop is not None and _CACHE.match(url)
    file_system, path = open_file_system(url if is_cached else _CACHE.sub("", url))
    alone: AbstractContextManager[Any] = nullcontext()
    if is_cached:
        where = url.rpartition("/")[0]
        file_system = _caches.setdefault(where, file_system)
        # A copy that another thread is still making would be read as far as it goes;
        # filecache:: also has one list of all its copies.
        alone = _copied.setdefault(url if url.startswith("simple") else where, Lock())
    with named_errors(url), alone:
        data = bytes(file_system.cat_file(path, start=start or None, end=stop))
    if stop is not None and len(data) != stop - start:
        raise OSError(
            errno.EIO,
            f"found {len(data)} bytes, expected the {stop - start} from {start} on; the "
            "file was changed meanwhile, or its server does not serve ranges of bytes",
            url,
        )
    return data


class RangeReader(RawIOBase):
    """A file that is read by ranges of bytes.

    Args:
        read: returns the bytes from a position to another one.
        size: how many bytes the file has.
    """

    def __init__(self, read: Callable[[int, int], bytes], size: int) -> None:
        self._read = read
        self._size = size
        self._at = 0
        self._piece, self._start = b"", 0
        self._step = _FIRST_BYTES

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        origin = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}
        self._at = origin[whence] + offset
        return self._at

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        if not self._start <= self._at < self._start + len(self._piece):
            stop = min(self._size, self._at + max(self._step, len(view)))
            self._start = self._at
            self._step = min(PIECE_BYTES, 4 * self._step)
            self._piece = self._read(self._at, stop) if self._at < stop else b""
        at = self._at - self._start
        data = self._piece[at : at + len(view)]
        view[: len(data)] = data
        self._at += len(data)
        return len(data)
