"""A data directory on a remote file system, by way of fsspec."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from operator import eq
from time import monotonic, sleep
from typing import Any

from ..shared.wire import Buffer
from .directory import Directory, OutputFile
from .file_system import named_errors as _named
from .file_system import open_file_system
from .files import Result, in_threads
from .lock import Lock, Lost
from .remote_files import RemoteFiles

LEASE_SECONDS = 20.0
"""After how long a lease that is not renewed has ended."""

_POLL_SECONDS = 0.2

# What s3fs says about a conditional request that another one was sooner than.
_CONDITION_FAILED = {errno.EEXIST, errno.EINVAL, errno.EBUSY}


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
    its holder renews, and that others take over once it has not been renewed for a while;
    without `wait` it locks nothing. Two writers of one split do not mix bytes, as
    temporary files have names of their own, and claims keep them apart.

    Args:
        url: such as `s3://bucket/data`; options come from fsspec's configuration.

    Attributes:
        compares: whether the store can replace a file only if it is a certain version.
        creates_once: whether of two processes that create a file only one succeeds, as
            far as is known.

    Raises:
        DatasetError: fsspec or its package for this URL is not installed.
    """

    def __init__(self, url: str) -> None:
        self._file_system, self._root = open_file_system(url)
        protocol = self._file_system.protocol
        self.compares = "s3" in ((protocol,) if isinstance(protocol, str) else protocol)
        self.creates_once = True
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
        """Create a small file in one step; return whether it did not exist before.

        Where a file system cannot do this in one step, it is asked before.
        """
        with _named(self.path(name)):
            if self._is_there(name):
                return False
            try:
                file = self._file_system.open(self._path(name), "xb")
            except FileExistsError:
                return False
            except (ValueError, NotImplementedError):
                self.creates_once = False
                file = self._file_system.open(self._path(name), "wb")
            try:
                with file:
                    file.write(data)
            except FileExistsError:
                return False
            except OSError as error:
                if error.errno in _CONDITION_FAILED and self._is_there(name):
                    return False
                raise
        return True

    def _is_there(self, name: str) -> bool:
        self._file_system.invalidate_cache()
        return bool(self._file_system.exists(self._path(name)))

    def replace_if(
        self, name: str, is_expected: Callable[[bytes], bool], data: bytes
    ) -> bool:
        """Replace a small file if it has the expected bytes; return whether it had them.

        With `compares` this is one step. Without, another process may replace the file
        between the comparison and the writing.
        """
        condition = {}
        try:
            if self.compares:
                # Asked for before the bytes: these are of this version or a later one.
                condition["IfMatch"] = self.files.state(self.path(name)).version
            found = self.files.read(self.path(name))
        except FileNotFoundError:
            return False
        if not is_expected(found):
            return False
        with _named(self.path(name)):
            try:
                self._file_system.pipe_file(self._path(name), data, **condition)
            except FileNotFoundError:
                return False
            except OSError as error:
                if condition and error.errno in _CONDITION_FAILED:
                    return False
                raise
        return True


class Lease(Lock):
    """A lock on a remote directory: a file that its holder renews until it is released.

    The holder's text changes with each renewal. Who waits, and does not see it change for
    longer than a lease, takes the holder for dead and puts its own text in the place of
    that one: no clocks are compared. A holder that cannot renew it for as long, or finds
    another text, has lost it. It is meant for what takes moments, such as a publication.

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
        self._lost = ""  # why it is
        self._error: OSError | None = None  # of the last renewal, if that failed
        self._writing = threading.Lock()
        self._released = threading.Event()
        self._renewed = self._wait()
        self._renewing = threading.Thread(target=self._renew, daemon=True)
        self._renewing.start()

    def _text(self) -> bytes:
        return f"{self._id} {self._renewals}\n".encode()

    def _wait(self) -> float:
        """Wait until this process has the lease; return when it was written."""
        seen, since = None, monotonic()
        while True:
            now = monotonic()
            found = self._directory.read(self._name)
            if found is None:
                is_written = self._create()
            elif found == self._text():  # by a request whose answer was lost
                is_written = True
            elif found == seen and now - since > LEASE_SECONDS:
                is_written = self._take_over(found)
            else:
                is_written = False
            if is_written:
                return now
            if found != seen:
                seen, since = found, now
            sleep(_POLL_SECONDS)

    def _create(self) -> bool:
        directory = self._directory
        is_created = directory.create_whole(self._name, self._text())
        return is_created and (directory.creates_once or self._is_kept())

    def _take_over(self, text: bytes) -> bool:
        """Replace the text of a holder that is dead, unless another process was sooner."""
        directory = self._directory
        is_replaced = directory.replace_if(self._name, partial(eq, text), self._text())
        return is_replaced and (directory.compares or self._is_kept())

    def _is_kept(self) -> bool:
        """Wait, and return whether no other process has written the file meanwhile."""
        sleep(LEASE_SECONDS / 20)
        return self._directory.read(self._name) == self._text()

    def _renew(self) -> None:
        while not self._lost and not self._released.wait(LEASE_SECONDS / 5):
            now = monotonic()
            with self._writing:
                self._renewals += 1
                try:
                    if self._directory.replace_if(
                        self._name, self._is_own, self._text()
                    ):
                        self._renewed, self._error = now, None
                    else:
                        self._lost = "another process has taken it over"
                except OSError as error:  # the next renewal may be better off
                    self._error = error
            self._note_time()

    def _note_time(self) -> None:
        if monotonic() - self._renewed > LEASE_SECONDS:
            self._lost = f"it was not renewed for {LEASE_SECONDS:.0f} seconds" + (
                f" ({self._error})" if self._error else ""
            )

    def check(self) -> None:
        self._note_time()
        if not self._lost and not self._is_mine():
            with self._writing:  # a server may show half of a renewal
                if not self._is_mine():
                    self._lost = "another process has taken it over"
        if self._lost:
            raise Lost(
                errno.ENOLCK,
                f"the lock was lost: {self._lost}; nothing was changed without it: "
                "run this again to complete it",
                self._directory.path(self._name),
            )

    def _is_mine(self) -> bool:
        return self._is_own(self._directory.read(self._name) or b"")

    def _is_own(self, text: bytes) -> bool:
        return text.startswith(self._id.encode())

    def release(self) -> None:
        """Let others have it; releasing twice is not an error."""
        if self._released.is_set():
            return
        self._released.set()
        self._renewing.join()
        with suppress(OSError):  # it ends in any case, after a while
            self.check()
            self._directory.remove(self._name)
