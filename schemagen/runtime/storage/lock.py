"""One writer at a time: locks on files, which a dead process does not hold.

The package filelock would leave its files behind, and a child that was forked would go on
holding the lock of a parent that has died.
"""

from __future__ import annotations

import errno
import os
import sys
import weakref
from contextlib import suppress
from io import FileIO
from pathlib import Path
from time import monotonic, sleep
from typing import Self

from ..shared.errors import warn

if sys.platform != "win32":
    import fcntl

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


_OPEN: weakref.WeakSet[Lock] = weakref.WeakSet()


def _forget_inherited() -> None:
    for lock in list(_OPEN):
        lock.forget()


if hasattr(os, "register_at_fork"):
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
        The lock. Where the platform or the file system has none there is a
        RuntimeWarning, and a Lock that holds nothing.

    Raises:
        Busy: another holds it.
        OSError: the file cannot be made.
    """
    if sys.platform == "win32":
        return _without_lock(path, "this platform cannot lock files")
    until = monotonic() + _GRACE_SECONDS
    while True:
        file = FileIO(str(path), "a")
        lock = Lock(path, file)
        _OPEN.add(lock)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            if _is_at(file, path):
                return lock
            # The holder before has removed the file while this one waited for it.
            lock.forget()
        except BlockingIOError:
            lock.forget()
            if monotonic() > until:
                raise Busy(errno.EWOULDBLOCK, "locked", str(path)) from None
            sleep(_RETRY_SECONDS)
        except OSError as error:
            lock.forget()
            if error.errno not in _NO_LOCKS:
                raise OSError(error.errno, error.strerror, str(path)) from None
            path.unlink(missing_ok=True)
            reason = f"this file system cannot lock files ({error.strerror})"
            return _without_lock(path, reason)
        except BaseException:
            lock.forget()
            raise


def _is_at(file: FileIO, path: Path) -> bool:
    """Whether a path still leads to an open file."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _without_lock(path: Path, reason: str) -> Lock:
    warn(f"{path}: {reason}; make sure yourself that no one else writes here meanwhile")
    return Lock()
