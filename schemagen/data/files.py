"""Files of data: their paths, on this machine or behind a URL, and their bytes."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import RawIOBase
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..documents import ShownAs
from ..runtime.shared.compression import InflateError
from ..runtime.shared.errors import DatasetError
from ..runtime.shared.tfrecord import detect_compression
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
    __get_pydantic_core_schema__ = ShownAs(str, str)

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


Fill = Callable[[memoryview], int]
"""Fills memory with the next bytes, and returns how many there were."""

# How much is read at a time: most windows need one step.
_STEP = 1 << 21


def compression_of(start: bytes) -> str | None:
    """Return a compression by a file's first 12 bytes, "" for none; None for other bytes."""
    try:
        return detect_compression(start[:12])
    except DatasetError:
        return None


class Stream:
    """A window over bytes that are read in order.

    Memory that was handed out keeps its contents: a wider window is new memory.

    Args:
        fill: gives the bytes.
        offset: where in the file they begin.

    Attributes:
        memory: uint8 [bytes], the window.
        data: the same memory, for reading single numbers.
        offset: where in the file the window begins.
        failure: why nothing follows the window although more was expected; None at a
            plain end.
    """

    def __init__(self, fill: Fill, offset: int = 0) -> None:
        self._fill = fill
        self._ended = False
        self.memory: NDArray[np.uint8] = np.empty(0, np.uint8)
        self.data = memoryview(b"")
        self.offset = offset
        self.failure: InflateError | None = None

    def __len__(self) -> int:
        """Return how many bytes the window has."""
        return len(self.memory)

    def need(self, size: int) -> bool:
        """Widen the window to this many bytes at least; False if the bytes end before.

        Memory is allocated step by step, so that a wrong `size` takes no more than about
        four times what is there.
        """
        while len(self.memory) < size and not self._ended:
            held = len(self.memory)
            step = max(_STEP, 2 * held)
            # The last step is the largest: the old window is not half of the new one.
            wider = np.empty(size if size <= 2 * step else step, np.uint8)
            wider[:held] = self.memory
            view = memoryview(wider.data)
            while held < len(wider) and not self._ended:
                try:
                    got = self._fill(view[held:])
                except InflateError as error:
                    self.failure, got = error, 0
                self._ended = not got
                held += got
            self.memory = wider[:held]
            self.data = view[:held]
        return len(self.memory) >= size

    def drop(self, size: int) -> None:
        """Move the beginning of the window on."""
        self.memory = self.memory[size:]
        self.data = self.data[size:]
        self.offset += size

    def skip(self, size: int) -> None:
        """Move the beginning of the window on, also beyond its end."""
        while size and self.need(1):
            step = min(size, len(self.memory))
            self.drop(step)
            size -= step
            self.need(min(size, _STEP))

    def end(self) -> None:
        """Drop the window and read no further."""
        self.drop(len(self.memory))
        self._ended = True

    def rest(self) -> Iterator[bytes]:
        """Yield the window and all bytes that follow it."""
        while len(self.memory):
            piece = self.data.tobytes()
            self.drop(len(piece))
            yield piece
            self.need(_STEP)
