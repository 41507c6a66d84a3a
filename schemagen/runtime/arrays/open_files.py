"""Files of this machine that stay open, each held to what was found at its path."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from functools import cached_property
from time import monotonic
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..cells.columns import Rows
from ..native import read_files, read_ranges
from ..sources.generation import check_same, check_state
from ..sources.shards import File
from ..storage.files import FileState, named
from .ranges import FileRanges

NEVER = float("-inf")
"""The time of what has not happened yet."""


class OpenFile:
    """A file that stays the one that was opened, whatever happens to its path.

    It is closed when nothing refers to it any more, so never while a thread reads it.

    Args:
        file: which.

    Attributes:
        handle: its descriptor.
        opened: when it was opened, on the clock of `time.monotonic`.

    Raises:
        DatasetError: it is not the one that was opened with its split.
        OSError: it cannot be opened.
    """

    def __init__(self, file: File) -> None:
        self._file = file
        # A pipe that has come in the place of the file is not waited for.
        flags = os.O_RDONLY | os.O_NONBLOCK
        self.handle = file.at_current_path(lambda path: os.open(path, flags))
        self.opened = monotonic()
        with named(file.path):
            check_same(file, FileState.of(os.fstat(self.handle)), self.read)

    def __del__(self) -> None:
        if hasattr(self, "handle"):
            os.close(self.handle)

    def read(self, start: int, stop: int) -> bytes:
        """Return the bytes from a position to another one.

        Raises:
            DatasetError: the file was changed, so that it ends before.
            OSError: it cannot be read.
        """
        pieces = []
        while start < stop:
            # A system reads two gigabytes at a time at most.
            piece = os.pread(self.handle, stop - start, start)
            if not piece:
                self.check()
                reason = f"it ended at byte {start} for a moment"
                raise OSError(errno.EIO, reason, self._file.path)
            pieces.append(piece)
            start += len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def read_into(
        self, memory: NDArray[np.uint8], starts: Rows, sizes: Rows, places: Rows
    ) -> None:
        """Read ranges into memory, and see that the file is unchanged.

        Args:
            memory: where the bytes go.
            starts: int64 [N], where each range begins in the file.
            sizes: int64 [N], how many bytes it has.
            places: int64 [N], where it begins in memory.

        Raises:
            DatasetError: the file was changed.
            OSError: it cannot be read.
        """
        with named(self._file.path):
            whole, error = read_ranges(self.handle, starts, sizes, places, memory)
            if error:
                raise OSError(error, os.strerror(error), self._file.path)
            if whole < len(starts):
                self.read(int(starts[whole]), int(starts[whole] + sizes[whole]))
            self.check()

    def check(self) -> None:
        """Compare the file with what it was when its split was opened.

        A change of its bytes is one of its time, too, which is made first. So what was
        read before this is what was opened.

        Raises:
            DatasetError: it was changed.
        """
        check_state(self._file, FileState.of(os.fstat(self.handle)))


class OpenFiles:
    """The local ones of some files, of which the first that are used stay open.

    Threads may share it, and processes that are forked: it has no lock.

    Args:
        files: all.
    """

    _open_in_all: ClassVar[int] = 0

    def __init__(self, files: Sequence[File]) -> None:
        self._files = files
        self._handles = np.full(len(files), -1, np.int32)
        self._opened = NEVER

    def __del__(self) -> None:
        kept = self._handles[self._handles >= 0].tolist()
        OpenFiles._open_in_all -= len(kept)
        for handle in kept:
            os.close(handle)

    @cached_property
    def _paths(self) -> tuple[NDArray[np.uint8], Rows]:
        paths = [os.fsencode(file.path) + b"\0" for file in self._files]
        starts = np.cumsum([0, *map(len, paths)], dtype=np.int64)
        return np.frombuffer(b"".join(paths), np.uint8), starts

    @cached_property
    def _states(self) -> NDArray[np.uint64]:
        """Size, inode and time of each file; zeros where they are not known."""
        states = [
            (0, 0, 0)
            if file.is_remote or file.state is None
            else file.state.of_this_machine
            for file in self._files
        ]
        # Inodes may have all 64 bits, and times before 1970 wrap around, as they do in C.
        numbers = [number % (1 << 64) for state in states for number in state]
        return np.array(numbers, np.uint64).reshape(-1, 3)

    def read_into(self, memory: NDArray[np.uint8], ranges: FileRanges) -> float:
        """Read ranges into memory, and see that their files are unchanged.

        Args:
            memory: where the bytes go.
            ranges: in the order of files.

        Returns:
            When the last of the files was opened, on the clock of `time.monotonic`.

        Raises:
            DatasetError: a file was changed.
            OSError: one cannot be read.
        """
        bounds = np.flatnonzero(np.diff(ranges.files, prepend=-1, append=-1))
        files = np.ascontiguousarray(ranges.files[bounds[:-1]])
        found = self._handles[files]
        opened, handles = self._opened, found.copy()
        is_new = found < 0
        keep = max(0, min(int(is_new.sum()), most_open() - OpenFiles._open_in_all))
        # Other threads keep no others meanwhile.
        OpenFiles._open_in_all += keep
        failed = read_files(
            files,
            bounds,
            self._paths,
            self._states,
            handles,
            keep,
            (ranges.starts, ranges.sizes, ranges.places),
            memory,
        )
        if is_new.any():
            opened = self._opened = monotonic()
            is_kept = handles != found
            kept = self._keep(files[is_kept].tolist(), handles[is_kept].tolist())
            OpenFiles._open_in_all -= keep - kept
        for row in np.flatnonzero(failed).tolist():
            # Its error says more; or it has a hidden name.
            some = ranges.at(slice(*bounds[row : row + 2].tolist()))
            file = OpenFile(self._files[int(files[row])])
            file.read_into(memory, some.starts, some.sizes, some.places)
        return opened

    def _keep(self, files: Sequence[int], handles: Sequence[int]) -> int:
        """Keep files open that no other thread keeps, and return how many."""
        kept = 0
        for file, handle in zip(files, handles, strict=True):
            if self._handles[file] < 0:
                self._handles[file] = handle
                kept += 1
            else:
                os.close(handle)
        return kept


def most_open() -> int:
    """Return how many files all readers of a process keep open: a quarter of what it may.

    The rest is for what else the program opens. PyTorch needs one for each tensor that
    processes share.
    """
    return os.sysconf("SC_OPEN_MAX") // 4
