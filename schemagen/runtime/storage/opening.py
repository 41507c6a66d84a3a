"""Opening a data directory by its path or URL."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ..shared.errors import DatasetError
from .directory import Directory
from .local import LocalDirectory

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(::[^/]*)?://")
_URL_OF_A_PATH = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/(?!/)")


def is_remote(path: str) -> bool:
    """Return whether a path is a URL; `file://` URLs are of this machine."""
    local = path.startswith(("file://", "local://"))
    return not local and _URL.match(path) is not None


def path_of(path: str | os.PathLike[str]) -> str:
    """Return the text of a path or a URL.

    Raises:
        DatasetError: it is empty, not text, or a URL that has lost a slash in a Path.
    """
    text = os.fspath(path)
    if not isinstance(text, str) or not text:
        raise DatasetError(f"directory {text!r}: expected a path or a URL, as text")
    swallowed = None if isinstance(path, str) else _URL_OF_A_PATH.match(text)
    if swallowed:
        scheme = swallowed[1]
        raise DatasetError(
            f"directory {text!r}: a path, which would be made on this machine; pass "
            f"the URL {text.replace(':/', '://', 1)!r} as a str, since Path takes one "
            f"of the slashes of {scheme}:// away"
        )
    return text


def open_directory(path: str | os.PathLike[str]) -> Directory:
    """Return the directory at a path, or at a URL such as `s3://bucket/data`.

    It need not be there. `file://` URLs are local directories.

    Raises:
        DatasetError: the URL's file system is not known or not installed.
    """
    text = path_of(path)
    if text.startswith(("file://", "local://")):
        return LocalDirectory(Path(text.partition("://")[2]))
    if is_remote(text):
        from .remote import RemoteDirectory  # seldom needed

        return RemoteDirectory(text)
    return LocalDirectory(Path(text))
