"""A file's bytes as a window that moves along it."""

from __future__ import annotations

from collections.abc import Iterator

from .compression import InflateError


class Stream:
    """A window over bytes that come in pieces.

    Args:
        pieces: the bytes.
        offset: where in the file they begin.

    Attributes:
        data: the window.
        offset: where in the file it begins.
        failure: why there is nothing behind the window although more was expected;
            None at a plain end.
    """

    def __init__(self, pieces: Iterator[bytes], offset: int = 0) -> None:
        self._pieces = pieces
        self._ended = False
        self.data = b""
        self.offset = offset
        self.failure: InflateError | None = None

    def need(self, size: int) -> bool:
        """Widen the window to this many bytes at least; False if they are not there."""
        missing = size - len(self.data)
        if missing <= 0:
            return True
        found = [self.data]
        while missing > 0 and not self._ended:
            try:
                piece = next(self._pieces, b"")
            except InflateError as error:
                self.failure, piece = error, b""
            self._ended = not piece
            found.append(piece)
            missing -= len(piece)
        self.data = b"".join(found)
        return missing <= 0

    def drop(self, size: int) -> None:
        """Move the beginning of the window on."""
        self.data = self.data[size:]
        self.offset += size

    def rest(self) -> Iterator[bytes]:
        """Yield the window and what comes behind it."""
        if self.data:
            yield self.data
        yield from self._pieces
