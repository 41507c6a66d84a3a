"""What differs between Linux and macOS, and that schemagen runs nowhere else."""

from __future__ import annotations

import errno
import os

TYPE_CHECKING = False  # that of typing takes time to import: see interrupts.py
if TYPE_CHECKING:
    from typing import Any

# Of renameat2 and renamex_np: paths count from the working directory; exchange both.
_HERE, _EXCHANGE = -100, 2


def require_platform() -> None:
    """Check that schemagen runs on this platform.

    Raises:
        ImportError: it does not run on Windows; says what to do.
    """
    if os.name == "nt":
        raise ImportError(
            "schemagen runs on Linux and macOS, not on Windows: use the Windows Subsystem "
            "for Linux or a container"
        )


def usable_cores() -> int:
    """Return how many cores this process may use: on macOS all of them."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def exchange(one: str, other: str) -> bool:
    """Exchange two directories in one step.

    Returns:
        Whether it was done; False where the system or the file system has no such call.

    Raises:
        OSError: the file system refuses.
    """
    import ctypes

    libc: Any = ctypes.CDLL(None, use_errno=True)
    paths = os.fsencode(one), os.fsencode(other)
    if hasattr(libc, "renameat2"):
        failed = libc.renameat2(_HERE, paths[0], _HERE, paths[1], _EXCHANGE)
    elif hasattr(libc, "renamex_np"):
        failed = libc.renamex_np(*paths, _EXCHANGE)
    else:
        return False
    number = ctypes.get_errno()
    if failed and number not in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
        raise OSError(number, os.strerror(number), one, None, other)
    return not failed
