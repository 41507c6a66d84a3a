"""One run that writes at a time."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform != "win32":
    import fcntl


@contextmanager
def turn(directory: Path) -> Iterator[bool]:
    """Wait until no other run that writes is in a project, and keep others waiting.

    The directory itself is locked: no file is left over from that, and the lock ends
    with its process, however it ends.

    Args:
        directory: the project's directory.

    Yields:
        Whether others wait. They do not where platform or file system has no such
        locks; each file is written at once all the same.
    """
    if sys.platform == "win32":
        yield False
        return
    try:
        descriptor = os.open(directory, os.O_RDONLY)
    except OSError:
        yield False
        return
    try:
        yield _lock(descriptor)
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError:
        return False
    return True
