"""The bytes of a file: their format, inflated if compressed, as a window that moves."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from ..runtime.shared.errors import DatasetError
from ..runtime.shared.tfrecord import detect_compression

Fill = Callable[[memoryview], int]
"""Fills memory with the next bytes, and returns how many there were."""

# How much is inflated at a time, however much a few bytes may inflate to.
_PIECE_BYTES = 1 << 20

# How much is read at a time: most windows need one step.
_STEP = 1 << 21

_WINDOW_BITS = {"GZIP": 16 + zlib.MAX_WBITS, "ZLIB": zlib.MAX_WBITS}


def compression_of(start: bytes) -> str | None:
    """Return "", "GZIP" or "ZLIB" by a file's first 12 bytes; None for neither."""
    try:
        return detect_compression(start[:12])
    except DatasetError:
        return None


class InflateError(Exception):
    """A compressed file that cannot be inflated any further.

    Attributes:
        ended: whether it merely ends too early.
    """

    def __init__(self, reason: str, *, ended: bool) -> None:
        self.ended = ended
        super().__init__(reason)


def inflated(pieces: Iterator[bytes], compression: str) -> Iterator[bytes]:
    """Inflate a file, or several in a row, in pieces of at most a megabyte.

    Args:
        pieces: the file's bytes.
        compression: "GZIP" or "ZLIB".

    Raises:
        InflateError: behind all that could be inflated.
    """
    bits = _WINDOW_BITS[compression]
    stream = zlib.decompressobj(bits)
    begun = False
    for piece in pieces:
        rest = piece
        while rest:
            if stream.eof:
                if not rest.strip(b"\0"):
                    break  # gzip allows zeros that fill up a block
                stream, begun = zlib.decompressobj(bits), False
            begun = True
            try:
                out = stream.decompress(rest, _PIECE_BYTES)
            except zlib.error as error:
                raise InflateError(
                    f"damaged {compression} data: {str(error).split(': ')[-1]}",
                    ended=False,
                ) from None
            if out:
                yield out
            rest = stream.unconsumed_tail or stream.unused_data
    while begun and not stream.eof:
        try:
            out = stream.decompress(b"", _PIECE_BYTES)
        except zlib.error:
            out = b""
        if not out:
            raise InflateError(
                f"the file ends before the end of its {compression} stream", ended=True
            )
        yield out


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


def fill_from(pieces: Iterator[bytes]) -> Fill:
    """Return a function that fills memory from pieces of any size."""
    rest = memoryview(b"")

    def fill(memory: memoryview) -> int:
        nonlocal rest
        rest = rest or memoryview(next(pieces, b""))
        taken = rest[: len(memory)]
        memory[: len(taken)] = taken
        rest = rest[len(taken) :]
        return len(taken)

    return fill
