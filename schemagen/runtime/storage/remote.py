"""A data directory on a remote file system, by way of fsspec."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from time import monotonic, sleep
from typing import Any

from ..shared.wire import Buffer
from .directory import Directory, OutputFile
from .file_system import named_errors as _named
from .file_system import open_file_system
from .files import Result, in_threads
from .lock import Lock
from .remote_files import RemoteFiles

LEASE_SECONDS = 20.0
"""After how long a lease that is not renewed has ended."""

_POLL_SECONDS = 0.2


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
            if file_system.exists(path):
                raise FileExistsError
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
            self._file_system.rm(self._path)

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


class RemoteDirectory(Directory):
    """A `Directory` behind a URL.

    On object stores (S3, GCS, Azure) a file is there once it is closed, whole or
    not at all, and renaming is `mv`: a copy under the new name, made by the store
    in one step, and the removal of the old one. On servers with real directories (SFTP,
    SMB) a file is visible while it grows, and `mv` renames.

    `replace` therefore writes a temporary file and moves it, on both. A single put
    would be as good on an object store, and one request less; on a server it would
    cut the old file before the new one is there.

    Stores have no locks that end with their process. `lock` with `wait` is a file that
    its holder renews, and that others remove once it has not been renewed for a while;
    without `wait` it locks nothing. Two writers of one split do not mix bytes, as
    temporary files have names of their own, and claims keep them apart.

    Args:
        url: such as `s3://bucket/data`; options come from fsspec's configuration.

    Raises:
        DatasetError: fsspec or its package for this URL is not installed.
    """

    def __init__(self, url: str) -> None:
        self._file_system, self._root = open_file_system(url)
        self.where = url.rstrip("/")
        self.files = RemoteFiles()

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    def make(self) -> None:
        with _named(self.where):
            if self._file_system.isfile(self._root):
                raise NotADirectoryError
            self._file_system.makedirs(self._root, exist_ok=True)

    def create(self, name: str) -> OutputFile:
        return RemoteFile(self._file_system, self._path(name), self.path(name))

    def rename(self, old: str, new: str) -> None:
        with _named(self.path(old)):
            self._file_system.mv(self._path(old), self._path(new))

    def remove(self, name: str) -> None:
        with _named(self.path(name)), suppress(FileNotFoundError):
            self._file_system.rm(self._path(name))

    def sync(self) -> None:
        """Do nothing: what a server has answered for is durable there."""

    def for_each(
        self, function: Callable[..., Result], *items: Iterable[Any]
    ) -> list[Result]:
        # An object store takes half a second to rename a file.
        return in_threads(lambda each: function(*each), list(zip(*items, strict=True)))

    def lock(self, name: str, *, wait: bool = False) -> Lock:
        """Return a lease, or a lock that holds nothing; see the class."""
        return Lease(self, name) if wait else Lock()

    def create_whole(self, name: str, data: bytes) -> bool:
        """Create a small file in one step; return whether it was not there before.

        Where a file system cannot do this in one step, it is asked before.
        """
        with _named(self.path(name)):
            self._file_system.invalidate_cache()
            if self._file_system.exists(self._path(name)):
                return False
            try:
                file = self._file_system.open(self._path(name), "xb")
            except FileExistsError:
                return False
            except (ValueError, NotImplementedError):
                file = self._file_system.open(self._path(name), "wb")
            try:
                with file:
                    file.write(data)
            except FileExistsError:
                return False
        return True

    def write_whole(self, name: str, data: bytes) -> None:
        """Write a small file in one step, in place of one that is there."""
        with _named(self.path(name)):
            self._file_system.pipe_file(self._path(name), data)


class Lease(Lock):
    """A lock on a remote directory: a file that its holder renews until it is released.

    The holder's text changes with each renewal. Who waits, and does not see it change for
    longer than a lease, takes the holder for dead and removes the file: no clocks are
    compared. It is meant for what takes moments, such as a publication.

    Args:
        directory: the directory.
        name: of the file.
    """

    def __init__(self, directory: RemoteDirectory, name: str) -> None:
        super().__init__()
        self._directory = directory
        self._name = name
        self._id = os.urandom(8).hex()
        self._renewals = 0
        self._released = threading.Event()
        self._wait()
        self._renewing = threading.Thread(target=self._renew, daemon=True)
        self._renewing.start()

    def _text(self) -> bytes:
        return f"{self._id} {self._renewals}\n".encode()

    def _wait(self) -> None:
        seen, since = None, monotonic()
        while not self._directory.create_whole(self._name, self._text()):
            found = self._directory.read(self._name)
            if found != seen:
                seen, since = found, monotonic()
            elif found is not None and monotonic() - since > LEASE_SECONDS:
                self._directory.remove(self._name)
            sleep(_POLL_SECONDS)

    def _renew(self) -> None:
        while not self._released.wait(LEASE_SECONDS / 5):
            self._renewals += 1
            with suppress(OSError):  # the next renewal may be better off
                self._directory.write_whole(self._name, self._text())

    def release(self) -> None:
        """Let others have it; releasing twice is not an error."""
        if self._released.is_set():
            return
        self._released.set()
        self._renewing.join()
        with suppress(OSError):
            found = self._directory.read(self._name) or b""
            if found.startswith(self._id.encode()):
                self._directory.remove(self._name)
