"""A file's bytes as a window that moves along it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from .compression import InflateError

Fill = Callable[[memoryview], int]
"""Fills memory with what comes next, and returns how many bytes these are."""


class Stream:
    """A window over bytes that come one after the other.

    What was handed out of a window stays as it is: a wider one is new memory.

    Args:
        fill: gives the bytes.
        offset: where in the file they begin.

    Attributes:
        memory: uint8 [bytes], the window.
        data: the same, for reading single numbers.
        offset: where in the file it begins.
        failure: why there is nothing behind the window although more was expected;
            None at a plain end.
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
        """Widen the window to this many bytes at least; False if they are not there.

        Memory is asked for step by step, however much somebody says that there is.
        """
        while len(self.memory) < size and not self._ended:
            held = len(self.memory)
            wider = np.empty(min(size, max(_STEP, 2 * held)), np.uint8)
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
        """Move the beginning of the window on, also beyond its end: nothing is held."""
        while size and self.need(1):
            step = min(size, len(self.memory))
            self.drop(step)
            size -= step
            self.need(min(size, _STEP))

    def end(self) -> None:
        """Take what has been read for all that there is."""
        self.drop(len(self.memory))
        self._ended = True

    def rest(self) -> Iterator[bytes]:
        """Yield the window and what comes behind it."""
        while len(self.memory):
            piece = self.data.tobytes()
            self.drop(len(piece))
            yield piece
            self.need(_STEP)


# Most windows are asked for in one step.
_STEP = 1 << 21


def filling(pieces: Iterator[bytes]) -> Fill:
    """Return what fills memory from pieces of any size."""
    rest = memoryview(b"")

    def fill(memory: memoryview) -> int:
        nonlocal rest
        rest = rest or memoryview(next(pieces, b""))
        taken = rest[: len(memory)]
        memory[: len(taken)] = taken
        rest = rest[len(taken) :]
        return len(taken)

    return fill
