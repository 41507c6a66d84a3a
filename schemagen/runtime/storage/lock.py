"""One writer at a time: locks on files, which a dead process does not hold."""

from __future__ import annotations

import errno
import os
import sys
import threading
import weakref
from contextlib import suppress
from datetime import datetime
from io import FileIO
from pathlib import Path
from time import monotonic, sleep
from types import TracebackType
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
    """A lock that another writer holds.

    Attributes:
        owner: who holds it, in words: process, host, and since when.
    """

    def __init__(self, path: str, owner: str) -> None:
        super().__init__(errno.EWOULDBLOCK, f"held by {owner}", path)
        self.owner = owner

    def __str__(self) -> str:
        return f"{self.filename}: {self.strerror}"


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

    def release(self) -> None:
        """Let others have it; releasing twice is no error."""
        with _CHANGING:
            file, self._file = self._file, None
            if file is None or self._path is None or sys.platform == "win32":
                return
            _HELD.discard(self)
            # The file goes while it is locked: who waits for it sees that its path
            # leads elsewhere, and tries again. If it cannot be removed it stays,
            # unlocked, for the next holder.
            with suppress(OSError):
                if _is_at(file, self._path):
                    self._path.unlink()
            with suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_UN)
            file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    def forget(self) -> None:
        """Close the file and leave the lock to the process that took it.

        Descriptors that are inherited share one lock. A child that kept its own would
        hold the lock after its parent's death, and unlocking would take it from the
        parent.
        """
        file, self._file = self._file, None
        if file is not None:
            file.close()


# Files are opened and closed, and processes forked, one at a time: a child
# then knows every lock whose descriptor it has inherited.
_CHANGING = threading.RLock()
_HELD: weakref.WeakSet[Lock] = weakref.WeakSet()


def _forget_inherited() -> None:
    for lock in list(_HELD):
        lock.forget()
    _HELD.clear()
    _CHANGING.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_CHANGING.acquire,
        after_in_parent=_CHANGING.release,
        after_in_child=_forget_inherited,
    )


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
        _warn(path, "this platform has no locks that end with their process")
        return Lock()
    until = monotonic() + _GRACE_SECONDS
    while True:
        with _CHANGING:
            file = FileIO(str(path), "a+")
            lock = Lock(path, file)
            _HELD.add(lock)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            if _is_at(file, path):
                _sign(file)
                return lock
        except BlockingIOError:
            owner = _owner(file)
            lock.forget()
            if monotonic() < until:
                sleep(_RETRY_SECONDS)
                continue
            raise Busy(str(path), owner) from None
        except OSError as error:
            lock.forget()
            if error.errno not in _NO_LOCKS:
                raise OSError(error.errno, error.strerror, str(path)) from None
            path.unlink(missing_ok=True)
            _warn(path, f"this file system cannot lock files ({error.strerror})")
            return Lock()
        except BaseException:
            lock.forget()
            raise
        # The holder before has removed the file while this one waited for it.
        lock.forget()


def _is_at(file: FileIO, path: Path) -> bool:
    """Whether a path still leads to an open file."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _sign(file: FileIO) -> None:
    """Write into a locked file who holds it, for the messages of those who may not."""
    import socket  # takes longer to import than all of this module

    now = datetime.now().astimezone().isoformat(" ", "seconds")
    text = f"process {os.getpid()} on {socket.gethostname()} since {now}\n"
    try:
        file.truncate(0)
        file.write(text.encode())
    except OSError:
        # On a full disk the lock is good without its text.
        return


def _owner(file: FileIO) -> str:
    try:
        file.seek(0)
        text = file.read().decode("utf-8", "replace").strip()
    except OSError:
        text = ""
    return text or "another process"


def _warn(path: Path, reason: str) -> None:
    warn(f"{path}: {reason}; make sure yourself that no one else writes here meanwhile")
