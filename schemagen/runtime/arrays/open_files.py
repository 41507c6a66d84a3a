"""Files of this machine that stay open, each held to what was found at its path."""

from __future__ import annotations

import errno
import os
from collections import OrderedDict
from collections.abc import Sequence
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from ..cells.columns import Rows
from ..native import read_ranges
from ..sources.generation import check_same, check_state
from ..sources.shards import File
from ..storage.files import FileState, named

MOST_OPEN = 128
"""How many files a reader keeps open. Systems allow a process 256 or more."""


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
        self.handle = file.at_its_name(lambda path: os.open(path, flags))
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
    """The local ones of some files, of which the last that were used stay open.

    Threads may share it, and processes that are forked: it has no lock.

    Args:
        files: all.
    """

    def __init__(self, files: Sequence[File]) -> None:
        self._files = files
        self._open: OrderedDict[int, OpenFile] = OrderedDict()

    def __getitem__(self, number: int) -> OpenFile:
        """Return a file, which is opened if it is not open.

        Raises:
            DatasetError: it is not the one that was opened with its split.
            OSError: it cannot be opened.
        """
        file = self._open.pop(number, None) or OpenFile(self._files[number])
        self._open[number] = file
        if len(self._open) > MOST_OPEN:
            self._open.popitem(last=False)
        return file
