"""Writing one file in one step: what stood there, or all that is new, never a half."""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import suppress
from pathlib import Path

from .findings import refused


def writing_advice(error: OSError) -> str:
    """Return what to do where a file cannot be written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "make room on the disk"
    return "make the directory writable"


def write_whole(path: Path, content: str | bytes, shown: str | None = None) -> None:
    """Write a file under a temporary name next to it, and rename it.

    A file that is there is replaced, and its mode kept.

    Args:
        path: where; directories above it are made.
        content: of the file; text becomes UTF-8 as it is.
        shown: what to call it in the finding, if not its path.

    Raises:
        SchemagenError: the disk refuses; what stood there still does.
    """
    data = content.encode() if isinstance(content, str) else content
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(data)
        if path.exists():
            shutil.copymode(path, temporary)
        temporary.replace(path)
    except BaseException as error:  # an interrupt leaves nothing behind either
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        shown = shown or str(path)
        raise refused(
            shown,
            f"{shown} cannot be written: {error.strerror or error}",
            rule="SG403",
            advice=f"{writing_advice(error)} and run the command again",
        ) from None
