"""Writing one file in one step: what stood there, or all that is new, never a half."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from .findings import Finding, Location, refuse


def write_whole(path: Path, content: str | bytes, shown: str | None = None) -> None:
    """Write a file under a temporary name beside it, and rename it.

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
        temporary.replace(path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        shown = shown or str(path)
        raise refuse(
            Finding(
                Location(shown),
                "SG403",
                f"{shown} cannot be written: {error.strerror or error}",
                advice="make the directory writable and run the command again",
            )
        ) from None
    except BaseException:  # an interrupt leaves nothing behind either
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
