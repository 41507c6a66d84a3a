"""The bytes of a file: how they are compressed, and a window on them that moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from ..runtime.shared.compression import InflateError
from ..runtime.shared.errors import DatasetError
from ..runtime.shared.tfrecord import detect_compression

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
