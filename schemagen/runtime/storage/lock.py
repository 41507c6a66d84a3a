"""One writer at a time: locks on files, and leases on stores.

A dead process does not hold its lock. Stores have none that end with their process: there a
lease ends if it is not renewed.

The package filelock would leave its files behind, and a child that was forked would go on
holding the lock of a parent that has died.
"""

from __future__ import annotations

import errno
import fcntl
import os
import threading
import weakref
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from io import FileIO
from operator import eq
from pathlib import Path
from time import monotonic, sleep
from typing import Protocol, Self

from ..shared.errors import warn

# A process that was killed while it forked leaves its lock to the child for a moment,
# until that has begun to run.
_GRACE_SECONDS = 0.3
_RETRY_SECONDS = 0.02

# What file systems without locks answer.
_NO_LOCKS = {
    errno.ENOLCK,
    errno.ENOSYS,
    errno.ENOTSUP,
    errno.EOPNOTSUPP,
    errno.EINVAL,
}

_OPEN: weakref.WeakSet[Lock] = weakref.WeakSet()

LEASE_SECONDS = 20.0
"""After how long a lease that is not renewed has ended."""

_POLL_SECONDS = 0.2


class Busy(OSError):
    """A lock that another process or thread holds."""


class Lost(OSError):
    """A lock that this process held, and that another one may hold now."""


class Lock:
    """A lock until it is released, or until the process ends, however it ends.

    Args:
        path: the file that is locked.
        file: the same file, open and locked; None where nothing can be locked.
    """

    def __init__(self, path: Path | None = None, file: FileIO | None = None) -> None:
        self._path = path
        self._file = file

    @property
    def held(self) -> bool:
        """Whether this process holds it; False also where there are no locks."""
        return self._file is not None

    def check(self) -> None:
        """See that the lock is still this process's own.

        A lock of the operating system is, until it is released.

        Raises:
            Lost: another process may have it.
            OSError: its holder is unknown.
        """

    def release(self) -> None:
        """Let others have it; releasing twice is not an error."""
        if self._file is not None and self._path is not None:
            # The file goes while it is locked: who waits for it sees that its path
            # leads elsewhere, and tries again. If it cannot be removed it stays,
            # unlocked, for the next holder.
            with suppress(OSError):
                if _is_at(self._file, self._path):
                    self._path.unlink()
            with suppress(OSError):
                fcntl.flock(self._file, fcntl.LOCK_UN)
        self.forget()

    def forget(self) -> None:
        """Close the file. In a child, it leaves the lock to the process that took it.

        Descriptors that are inherited share one lock. A child that kept its own would
        hold the lock after its parent's death, and unlocking would take it from the
        parent.
        """
        file, self._file = self._file, None
        if file is not None:
            _OPEN.discard(self)
            file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.release()


def _forget_inherited() -> None:
    for lock in list(_OPEN):
        lock.forget()


os.register_at_fork(after_in_child=_forget_inherited)


def acquire(path: Path, *, wait: bool = False) -> Lock:
    """Lock a file, which is made for that and removed at release.

    The lock excludes every other holder: processes, and threads of this one. It ends with
    its process; the file of a process that was killed is taken over by the next.
    Children of a fork do not have it.

    Args:
        path: the file; its directory must be there.
        wait: wait until it is free, instead of raising Busy.

    Returns:
        The lock. Where the file system has none there is a RuntimeWarning, and
        a Lock that holds nothing.

    Raises:
        Busy: another holds it.
        OSError: the file cannot be made.
    """
    until = monotonic() + _GRACE_SECONDS
    while True:
        try:
            lock = _locked(path, wait=wait)
        except BlockingIOError:
            if monotonic() > until:
                raise Busy(errno.EWOULDBLOCK, "locked", str(path)) from None
            sleep(_RETRY_SECONDS)
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise OSError(error.errno, error.strerror, str(path)) from None
            path.unlink(missing_ok=True)
            reason = f"this file system cannot lock files ({error.strerror})"
            return _without_lock(path, reason)
        else:
            if lock is not None:
                return lock


def _locked(path: Path, *, wait: bool, create: bool = True) -> Lock | None:
    """Lock a file; return None if its holder has removed it meanwhile.

    Args:
        path: the file.
        wait: wait until it is free, instead of raising a BlockingIOError.
        create: make the file if it does not exist.
    """
    file = FileIO(str(path), "a" if create else "r+")
    lock = Lock(path, file)
    _OPEN.add(lock)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        if _is_at(file, path):
            return lock
    except BaseException:
        lock.forget()
        raise
    lock.forget()
    return None


def hold(path: Path) -> Lock:
    """Make a file that is locked as long as this process works on it.

    So others can tell it from one that a killed process has left: see `remove_abandoned`.

    Args:
        path: the file, of a name that no other file has.

    Returns:
        The lock, which removes the file at release, if it still has this name; a Lock that
        holds nothing where there are no locks, and then perhaps no file.

    Raises:
        OSError: the file cannot be made.
    """
    while True:
        try:
            lock = _locked(path, wait=True)
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise OSError(error.errno, error.strerror, str(path)) from None
            return Lock()
        if lock is not None:
            return lock


def remove_abandoned(paths: Iterable[Path]) -> None:
    """Remove those files that no process holds; none where there are no locks."""
    for path in paths:
        with suppress(OSError):
            lock = _locked(path, wait=False, create=False)
            if lock is not None:
                lock.release()


def _is_at(file: FileIO, path: Path) -> bool:
    """Whether a path still leads to an open file."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _without_lock(path: Path, reason: str) -> Lock:
    warn(f"{path}: {reason}; make sure yourself that no one else writes here meanwhile")
    return Lock()


class Store(Protocol):
    """What a lease asks of a store.

    Attributes:
        compares: whether it replaces a file only if it is a certain version, in one step.
        creates_once: whether of two processes that create a file only one succeeds, as
            far as is known.
    """

    compares: bool
    creates_once: bool

    def read(self, url: str, /) -> bytes:
        """Return the bytes of a file."""

    def create_whole(self, url: str, data: bytes, /) -> bool:
        """Write a new small file; return False if there is one of this name already."""

    def replace_if(
        self, url: str, is_expected: Callable[[bytes], bool], data: bytes, /
    ) -> bool:
        """Replace a small file if it has the expected bytes; return whether it had them."""

    def remove(self, url: str, /) -> None:
        """Remove a file; a missing one is not an error."""


class Lease(Lock):
    """A lock on a remote directory: a file that its holder renews until it is released.

    The holder's text changes with each renewal. Who waits, and does not see it change for
    longer than a lease, takes the holder for dead and puts its own text in the place of
    that one: no clocks are compared. A holder that cannot renew it for as long, or finds
    another text, has lost it. It is meant for what takes moments, such as a publication.

    Args:
        store: where the file is.
        url: of the file.
    """

    def __init__(self, store: Store, url: str) -> None:
        super().__init__()
        self._store = store
        self._url = url
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

    def _found(self) -> bytes | None:
        """Return the text that is there; None without the file."""
        try:
            return self._store.read(self._url)
        except FileNotFoundError:
            return None

    def _wait(self) -> float:
        """Wait until this process has the lease; return when it was written."""
        seen, since = None, monotonic()
        while True:
            now = monotonic()
            found = self._found()
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
        is_created = self._store.create_whole(self._url, self._text())
        return is_created and (self._store.creates_once or self._is_kept())

    def _take_over(self, text: bytes) -> bool:
        """Replace the text of a holder that is dead, unless another process was sooner."""
        is_text = partial(eq, text)
        is_replaced = self._store.replace_if(self._url, is_text, self._text())
        return is_replaced and (self._store.compares or self._is_kept())

    def _is_kept(self) -> bool:
        """Wait, and return whether no other process has written the file meanwhile."""
        sleep(LEASE_SECONDS / 20)
        return self._found() == self._text()

    def _renew(self) -> None:
        while not self._lost and not self._released.wait(LEASE_SECONDS / 5):
            now = monotonic()
            with self._writing:
                self._renewals += 1
                try:
                    text = self._text()
                    renewed = self._store.replace_if(self._url, self._is_own, text)
                    if renewed or self._is_mine():
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
            reason = (
                f"the lease of this process on the directory was lost: {self._lost}"
            )
            raise Lost(errno.ENOLCK, reason, self._url)

    def _is_mine(self) -> bool:
        """Whether the file has this lease; one that is gone is made again.

        A process that has lost its lease may be late to remove the file, and remove this one.
        """
        found = self._found()
        return self._create() if found is None else self._is_own(found)

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
            self._store.remove(self._url)
