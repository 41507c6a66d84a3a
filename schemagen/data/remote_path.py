"""Paths of files, on this machine or behind a URL."""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass
from io import RawIOBase
from pathlib import Path
from typing import Literal

from ..runtime.storage.directory import is_remote
from ..runtime.storage.local import regular_state
from ..runtime.storage.remote import RemoteReader

_FRESH, _LISTED = RemoteReader(), RemoteReader(listed=True)

Entry = Literal["file", "directory", "missing", "special"]
"""What a name in a directory is; a broken link is missing."""


@dataclass(frozen=True, order=True)
class RemotePath:
    """A file or directory behind a URL that fsspec opens, with the methods of Path.

    Attributes:
        url: without a slash at the end.
    """

    url: str

    def __str__(self) -> str:
        return self.url

    def __truediv__(self, name: str) -> RemotePath:
        return RemotePath(f"{self.url}/{name}")

    @property
    def name(self) -> str:
        """What follows the last slash."""
        return self.url.rpartition("/")[2]

    @property
    def parent(self) -> RemotePath:
        """The directory that it is in."""
        return RemotePath(self.url.rpartition("/")[0])

    def is_dir(self) -> bool:
        """Return whether it is a directory, as the server says now."""
        return _FRESH.is_dir(self.url)

    def exists(self) -> bool:
        """Return whether it is there; by the last listing, if there is one."""
        return _LISTED.exists(self.url)

    def open(self, mode: Literal["rb"], buffering: int = 0) -> RawIOBase:
        """Open it for reading, unbuffered.

        Raises:
            OSError: it does not exist, or the server does not answer.
        """
        return _LISTED.open(self.url)


FilePath = Path | RemotePath


def file_path(where: str) -> FilePath:
    """Return the path that a user names by a path or a URL."""
    if is_remote(where):
        return RemotePath(where.rstrip("/"))
    return Path(where.removeprefix("file://"))


def open_file(path: FilePath) -> RawIOBase:
    """Open a file for reading, unbuffered.

    Raises:
        OSError: it does not exist, it is not a regular file, or it cannot be read.
    """
    if isinstance(path, Path):
        regular_state(str(path))
    return path.open("rb", buffering=0)


def matching(pattern: str) -> list[FilePath]:
    """Return the files and directories that match a glob, sorted."""
    if is_remote(pattern):
        return [RemotePath(url) for url in _FRESH.glob(pattern)]
    return [Path(found) for found in sorted(glob.glob(pattern.removeprefix("file://")))]


def entries_of(directory: FilePath) -> dict[str, Entry]:
    """Return what is in a directory, by name, sorted.

    Raises:
        OSError: it cannot be listed.
    """
    if isinstance(directory, RemotePath):
        return {
            name.rstrip("/"): "directory" if name.endswith("/") else "file"
            for name in _FRESH.names(directory.url)
        }
    return {name: _entry(directory / name) for name in sorted(os.listdir(directory))}


def _entry(path: Path) -> Entry:
    if path.is_file():
        return "file"
    if path.is_dir():
        return "directory"
    return "special" if path.exists() else "missing"
