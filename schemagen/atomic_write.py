"""Writing one file in one step: what stood there, or all that is new, never a half."""

from __future__ import annotations

import errno
from pathlib import Path

from .findings import refused


def writing_advice(error: OSError) -> str:
    """Return what to do where a file cannot be written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "make room on the disk"
    return "make the directory writable"


def write_whole(path: Path, content: str | bytes, shown: str | None = None) -> None:
    """Write a file in one step, and make the directories above it.

    A file that is there is replaced, and its mode kept.

    Args:
        path: where; directories above it are made.
        content: of the file; text becomes UTF-8 as it is.
        shown: what to call it in the finding, if not its path.

    Raises:
        SchemagenError: the disk refuses; what stood there still does.
    """
    from .runtime.storage.local import replace_file

    data = content.encode() if isinstance(content, str) else content
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, data)
    except OSError as error:
        shown = shown or str(path)
        raise refused(
            shown,
            f"{shown} cannot be written: {error.strerror or error}",
            rule="SG403",
            advice=f"{writing_advice(error)} and run the command again",
        ) from None
