"""Files behind URLs, by way of fsspec."""

from __future__ import annotations

import errno
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from io import RawIOBase
from typing import Any

from ..interface import install
from ..shared.errors import DatasetError
from ..shared.wire import Buffer
from .files import FileReader, Files, FileState, OutputFile, temporary_name
from .lock import Lease, Lock

PIECE_BYTES = 1 << 23
"""How many bytes are requested at a time."""

# How many at first, as often a reader needs no more; then four times as many each time.
_FIRST_BYTES = 1 << 16

# How long to wait before a request is repeated, in seconds.
_PAUSES = (0.5, 2.0)

# What is not another answer a moment later.
_PERMANENT = {errno.ENOENT, errno.EACCES, errno.EISDIR, errno.ENOTDIR}

# What file systems say about a file's version, the most precise one first.
_DISTINCT = ("ETag", "etag", "generation", "content_md5")
_VERSIONS = (
    *(*_DISTINCT, "mtime", "LastModified"),
    *("last_modified", "updated", "modified", "created"),
)

# Errors of fsspec often have a class and no errno.
_ERRNO: dict[type[OSError], int] = {
    FileNotFoundError: errno.ENOENT,
    FileExistsError: errno.EEXIST,
    PermissionError: errno.EACCES,
    IsADirectoryError: errno.EISDIR,
    NotADirectoryError: errno.ENOTDIR,
    TimeoutError: errno.ETIMEDOUT,
}


# What s3fs says about a conditional request that another one was sooner than.
_CONDITION_FAILED = {errno.EEXIST, errno.EINVAL, errno.EBUSY}

_MAGIC = re.compile(r"[*?[]")

# Protocols of fsspec whose put replaces a file in one step.
_OBJECT_STORES = {
    *("s3", "gs", "gcs", "abfs", "abfss", "az", "oci", "oss", "memory"),
}

# More is put in several requests, which take no condition.
_MOST_COMPARED = 64 << 20

# What keeps copies of files on this machine: fsspec's prefixes of URLs.
_CACHE = re.compile(r"(?:simplecache|filecache)::")
# Of each directory, as fsspec has file systems for each thread, with copies of their own;
# and of each file.
_caches: dict[str, Any] = {}
_copied: dict[str, threading.Lock] = {}


@contextmanager
def _named(path: str) -> Iterator[None]:
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


def _open_file_system(url: str) -> tuple[Any, str]:
    """Return the file system of a URL, and the path of the URL there.

    Raises:
        DatasetError: fsspec or its package for this URL is not installed.
    """
    try:
        import fsspec  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ModuleNotFoundError as error:
        raise DatasetError(
            f"directory {url!r}: remote file systems need fsspec, which is not installed; "
            f"run {install('remote')}"
        ) from error
    try:
        file_system, root = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise DatasetError(
            f"directory {url!r}: fsspec cannot open it: {error}; for a directory of this "
            "machine pass its path"
        ) from error
    return file_system, str(root).rstrip("/")


class RemoteReader(FileReader):
    """A `FileReader` by fsspec.

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
        with _named(url):
            return bool(file_system.isdir(path))

    def exists(self, url: str) -> bool:
        file_system, path = self._open(url)
        with _named(url):
            return bool(file_system.exists(path))

    def names(self, url: str) -> list[str]:
        return sorted(
            f"{name}/" if entry["type"] == "directory" else name
            for name, entry in self._entries(url)
        )

    def sizes(self, url: str) -> dict[str, int]:
        return {
            name: int(entry["size"])
            for name, entry in self._entries(url)
            if entry["type"] == "file" and entry.get("size") is not None
        }

    def _entries(self, url: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the names of what is in a directory, with what the file system says of it."""
        file_system, path = _open_file_system(_CACHE.sub("", url))
        with _named(url):
            file_system.invalidate_cache()
            entries = file_system.ls(path, detail=True)
        for entry in entries:
            # Stores show a directory that was made by itself as an empty file in it.
            if entry["name"].strip("/") != path.strip("/"):
                yield entry["name"].rstrip("/").rsplit("/", 1)[-1], entry

    def glob(self, pattern: str) -> list[str]:
        magic = _MAGIC.search(pattern)
        start = pattern[: magic.start() if magic else len(pattern)].rpartition("/")[0]
        file_system, root = _open_file_system(_CACHE.sub("", start))
        with _named(pattern):
            file_system.invalidate_cache()
            found = file_system.glob(f"{root}{pattern[len(start) :]}")
        return sorted(f"{start}{path[len(root) :]}" for path in map(str, found))

    def state(self, url: str) -> FileState:
        file_system, path = self._open(url)
        with _named(url):
            found = file_system.info(path)
            if found["type"] == "directory":
                raise IsADirectoryError
        version = next((key for key in _VERSIONS if found.get(key)), "")
        size, is_distinct = int(found["size"] or 0), version in _DISTINCT
        return FileState(size, str(found.get(version, "")), is_distinct)

    def read(self, url: str, start: int = 0, stop: int | None = None) -> bytes:
        return b"" if stop is not None and start >= stop else _fetched(url, start, stop)

    def open(self, url: str) -> RawIOBase:
        return RangeReader(partial(_fetched, url), self.state(url).size)

    def _open(self, url: str) -> tuple[Any, str]:
        file_system, path = _open_file_system(_CACHE.sub("", url))
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
    file_system, path = _open_file_system(url if is_cached else _CACHE.sub("", url))
    alone: AbstractContextManager[Any] = nullcontext()
    if is_cached:
        where = url.rpartition("/")[0]
        file_system = _caches.setdefault(where, file_system)
        # A copy that another thread is still making would be read as far as it goes;
        # filecache:: also has one list of all its copies.
        alone = _copied.setdefault(
            url if url.startswith("simple") else where, threading.Lock()
        )
    with _named(url), alone:
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


class RemoteFile:
    """An `OutputFile` that is sent while it is written, block by block.

    Args:
        file_system: of fsspec.
        path: the file's path there.
        url: its name in messages.
    """

    def __init__(self, file_system: Any, path: str, url: str) -> None:
        self._file_system = file_system
        self._path = path
        self._url = url
        self._bytes = 0
        with _named(url):
            self._file = file_system.open(path, "wb")

    def write(self, data: Buffer) -> None:
        view = memoryview(data)
        self._bytes += len(view)
        with _named(self._url):
            while view:
                written = self._file.write(view)
                # Not all of them say how much they took: then it was all.
                view = view[len(view) if written is None else written :]

    def finish(self) -> None:
        with _named(self._url):
            self._file.close()
            self._file_system.invalidate_cache()
            found = self._file_system.info(self._path)["size"]
        if found != self._bytes:
            raise OSError(
                errno.EIO,
                f"{found} bytes are there, and {self._bytes} were written",
                self._url,
            )

    def discard(self) -> None:
        # A server that is out of reach is mostly why this is called.
        with suppress(Exception):
            self._abort()
        with suppress(Exception):
            self._file_system.rm_file(self._path)

    def _abort(self) -> None:
        from fsspec.spec import AbstractBufferedFile  # type: ignore[import-not-found, import-untyped, unused-ignore]

        if self._file.closed:
            return
        if isinstance(self._file, AbstractBufferedFile):
            try:
                self._file.discard()
            finally:
                # Closing such a file completes it, also when it is collected.
                self._file.closed = True
        else:
            self._file.close()


class RemoteFiles(RemoteReader, Files):
    """`Files` of a directory behind a URL.

    On object stores (S3, GCS, Azure) a file is there once it is closed, whole or
    not at all, so a put replaces a file in one step. A request may arrive long after its
    process was stopped. On servers with real directories (SFTP, SMB) a file is visible
    while it grows, and `mv` renames; a put would cut the old file before the new one is
    there. Renaming is `mv`, which on object stores is a copy and a removal.

    Stores have no locks that end with their process. `lock` with `wait` is a file that
    its holder renews, and that others take over once it has not been renewed for a while;
    without `wait` it locks nothing. Two writers of one split do not mix bytes, as
    temporary files have names of their own, and claims keep them apart.

    Args:
        directory: such as `s3://bucket/data`; options come from fsspec's configuration.

    Attributes:
        compares: whether the store can replace a file only if it is a certain version.
        creates_once: whether of two processes that create a file only one succeeds, as
            far as is known.

    Raises:
        DatasetError: fsspec or its package for this URL is not installed.
    """

    is_local = False

    def __init__(self, directory: str) -> None:
        super().__init__()
        # Threads share it to write; each thread that reads has its own.
        self._file_system, self._root = _open_file_system(directory)
        self._directory = directory.rstrip("/")
        protocol = self._file_system.protocol
        protocols = {protocol} if isinstance(protocol, str) else {*protocol}
        self.compares = "s3" in protocols
        self._puts_whole = not _OBJECT_STORES.isdisjoint(protocols)
        self.creates_once = True

    def _path(self, url: str) -> str:
        return self._root + url.removeprefix(self._directory)

    def make(self, directory: str) -> None:
        path = self._path(directory)
        with _named(directory):
            if self._file_system.isfile(path):
                raise NotADirectoryError
            self._file_system.makedirs(path, exist_ok=True)

    def create(self, url: str) -> OutputFile:
        return RemoteFile(self._file_system, self._path(url), url)

    def create_whole(self, url: str, data: bytes) -> bool:
        """Create a small file in one step; return whether it did not exist before.

        Where a file system cannot do this in one step, it is asked before.
        """
        path = self._path(url)
        with _named(url):
            if self._is_there(path):
                return False
            try:
                file = self._file_system.open(path, "xb")
            except FileExistsError:
                return False
            except (ValueError, NotImplementedError):
                self.creates_once = False
                file = self._file_system.open(path, "wb")
            try:
                with file:
                    file.write(data)
            except FileExistsError:
                return False
            except OSError as error:
                if error.errno in _CONDITION_FAILED and self._is_there(path):
                    return False
                raise
        return True

    def _is_there(self, path: str) -> bool:
        self._file_system.invalidate_cache()
        return bool(self._file_system.exists(path))

    def replace_if(
        self, url: str, is_expected: Callable[[bytes], bool], data: bytes
    ) -> bool:
        """Replace a small file if it has the expected bytes; return whether it had them.

        With `compares` this is one step. Without, another process may replace the file
        between the comparison and the writing.
        """
        # Asked for before the bytes: these are of this version or a later one.
        condition = self._condition(url)
        try:
            found = self.read(url)
        except FileNotFoundError:
            return False
        return is_expected(found) and self._put(url, data, condition)

    def replace(
        self, url: str, data: bytes, check: Callable[[], object] = lambda: None
    ) -> bool:
        if self._puts_whole:
            condition = self._condition(url)  # before the comparison
            check()
            return self._put(url, data, condition)
        where, _, name = url.rpartition("/")
        temporary = f"{where}/{temporary_name(name)}"
        try:
            self._put(temporary, data, {})
            check()
            self.rename(temporary, url)
        except BaseException:
            with suppress(OSError):
                self.remove(temporary)
            raise
        return True

    def _condition(self, url: str) -> dict[str, str]:
        """Return the condition that a file is the one that is there now; {} if unknown."""
        if not self.compares:
            return {}
        try:
            return {"IfMatch": self.state(url).version}
        except FileNotFoundError:
            return {"IfNoneMatch": "*"}

    def _put(self, url: str, data: bytes, condition: dict[str, str]) -> bool:
        """Put a small file; return False if the condition does not hold any more."""
        if len(data) > _MOST_COMPARED:
            condition = {}
        try:
            with _named(url):
                self._file_system.pipe_file(self._path(url), data, **condition)
        except OSError as error:
            failed = {*_CONDITION_FAILED, errno.ENOENT}
            if not condition or error.errno not in failed:
                raise
            # An attempt before this one may have written it, and its answer be lost.
            self._file_system.invalidate_cache()
            with suppress(FileNotFoundError):
                return self.read(url) == data
            return False
        return True

    def rename(self, old: str, new: str) -> None:
        with _named(old):
            self._file_system.mv(self._path(old), self._path(new))

    def remove(self, url: str) -> None:
        with _named(url), suppress(FileNotFoundError):
            self._file_system.rm_file(self._path(url))

    def sync(self, directory: str) -> None:
        """Do nothing: what a server has answered for is durable there."""

    def lock(self, url: str, *, wait: bool = False) -> Lock:
        """Return a lease, or a lock that holds nothing; see the class."""
        return Lease(self, url) if wait else Lock()
