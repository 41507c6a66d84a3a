"""GZIP and ZLIB on several threads: one ordinary stream, deflated block by block.

What is written is cut into blocks at fixed offsets, and each block is deflated by
itself, with the input before it as its dictionary, so that repetitions across the
seams are found. Deflated blocks can stand one after the other in one stream: the
result is a single GZIP member or ZLIB stream that any reader takes. Its bytes depend
on the data and the level alone, not on how they were handed over nor on the threads.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future

from ..shared.wire import Buffer

BLOCK_BYTES = 1 << 18
"""How much input is deflated at a time. Other sizes make other bytes of equal data."""

# Deflate looks back no further than this.
_WINDOW_BYTES = 1 << 15
_RAW = -zlib.MAX_WBITS  # deflate without a header: those are written here

_GZIP_MAGIC = b"\x1f\x8b\x08"  # and the method, deflate
_GZIP_TRAILER = struct.Struct("<II")
_NO_SYSTEM = 255
_ZLIB_METHOD = 0x78  # deflate with a window of 32 KiB
_ZLIB_TRAILER = struct.Struct(">I")


class Compressor:
    """One GZIP member or one ZLIB stream.

    Holds a few blocks of 256 KiB and what becomes of them; `write` waits for the oldest
    when there are more.

    Args:
        sink: takes the compressed bytes piece by piece, in order; called from the
            thread that calls `write` and `close`, never from another.
        form: "GZIP" or "ZLIB".
        level: 0 (stored) to 9 (smallest).
        threads: deflates the blocks. zlib lets other Python threads run meanwhile, so
            that one thread is enough to compress alongside the caller's work.
    """

    def __init__(
        self,
        sink: Callable[[bytes], object],
        form: str,
        level: int,
        threads: Executor,
    ) -> None:
        self._sink = sink
        self._gzip = form == "GZIP"
        self._level = level
        self._threads = threads
        self._limit = 2 * (os.cpu_count() or 1) + 1  # keeps every processor busy
        self._block = bytearray()
        self._window = b""  # the end of the block before
        self._deflated: deque[Future[bytes]] = deque()
        self._size = 0
        self._checksum = 0 if self._gzip else 1
        self._begun = False
        self._closed = False
        self._failure: BaseException | None = None

    def write(self, data: Buffer) -> None:
        """Take more input, of any size.

        Raises:
            ValueError: the stream is closed.
            Exception: what the sink or a thread has raised, now or before.
        """
        self._check()
        rest = memoryview(data).cast("B")
        while rest:
            room = BLOCK_BYTES - len(self._block)
            self._block += rest[:room]
            rest = rest[room:]
            if len(self._block) == BLOCK_BYTES:
                self._deflate(zlib.Z_SYNC_FLUSH)
                self._pass_on(self._limit)

    def close(self) -> None:
        """End the stream: everything has gone to the sink. Closing twice is once.

        Raises:
            Exception: what the sink or a thread has raised, now or before.
        """
        if self._closed and self._failure is None:
            return
        self._check()
        self._deflate(zlib.Z_FINISH)
        self._pass_on(0)
        self._put(self._trailer())
        self._closed = True

    def discard(self) -> None:
        """Forget what is pending; the stream stays a torn one."""
        self._closed = True
        self._block.clear()
        for future in self._deflated:
            future.cancel()
        self._deflated.clear()

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure
        if self._closed:
            raise ValueError("the compressed stream is closed")

    def _deflate(self, flush: int) -> None:
        """Give the block that is collected to the threads."""
        block = bytes(self._block)
        self._block.clear()
        update = zlib.crc32 if self._gzip else zlib.adler32
        self._checksum = update(block, self._checksum)
        self._size += len(block)
        try:
            future = self._threads.submit(
                _deflated, block, self._window, self._level, flush
            )
        except BaseException as error:
            self._fail(error)
            raise
        self._window = block[-_WINDOW_BYTES:]
        self._deflated.append(future)

    def _pass_on(self, limit: int) -> None:
        """Put what is ready into the sink, and wait while more than `limit` is not."""
        while self._deflated and (
            len(self._deflated) > limit or self._deflated[0].done()
        ):
            try:
                piece = self._deflated.popleft().result()
            except BaseException as error:
                self._fail(error)
                raise
            if not self._begun:
                self._begun = True
                piece = self._header() + piece
            self._put(piece)

    def _put(self, piece: bytes) -> None:
        try:
            self._sink(piece)
        except BaseException as error:
            self._fail(error)
            raise

    def _fail(self, error: BaseException) -> None:
        """Remember that a piece is lost: nothing may follow it."""
        self._failure = error
        self.discard()

    def _header(self) -> bytes:
        level = self._level
        if self._gzip:
            # No name and no time inside: equal records make equal files.
            effort = 4 if level < 2 else 2 if level == 9 else 0
            return _GZIP_MAGIC + bytes((0, 0, 0, 0, 0, effort, _NO_SYSTEM))
        effort = 0 if level < 2 else 1 if level < 6 else 2 if level == 6 else 3
        flags = effort << 6
        return bytes((_ZLIB_METHOD, flags + -(_ZLIB_METHOD << 8 | flags) % 31))

    def _trailer(self) -> bytes:
        if self._gzip:
            return _GZIP_TRAILER.pack(self._checksum, self._size & 0xFFFFFFFF)
        return _ZLIB_TRAILER.pack(self._checksum)


def _deflated(block: bytes, window: bytes, level: int, flush: int) -> bytes:
    """Return a block as it stands in a deflate stream behind `window`."""
    stream = zlib.compressobj(
        level, zlib.DEFLATED, _RAW, zlib.DEF_MEM_LEVEL, zlib.Z_DEFAULT_STRATEGY, window
    )
    return stream.compress(block) + stream.flush(flush)
