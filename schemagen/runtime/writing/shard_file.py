"""One shard while it is written: framed records in, bytes on disk out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ..shared.tfrecord import Framed, extend_crc32c
from ..shared.wire import Buffer
from ..storage.directory import OutputFile
from ..storage.journal import Contents
from ..storage.manifest import TAIL_BYTES

SUFFIXES = {"": "", "GZIP": ".gz", "ZLIB": ".zlib"}
"""What a shard's name ends in after `.tfrecord`, by its compression."""

Sink = Callable[[Buffer], object]


class Stream(Protocol):
    """What takes bytes and passes them on, smaller."""

    def write(self, data: Buffer, /) -> object: ...

    def close(self) -> None: ...


class ShardFile:
    """A file that counts what goes into it.

    Args:
        file: where the bytes go.
        compressed: makes a compressing stream that writes to a function; None for
            bytes as they are.
        buffer: how many bytes are handed to the system at once.
    """

    def __init__(
        self,
        file: OutputFile,
        compressed: Callable[[Sink], Stream] | None,
        *,
        buffer: int,
    ) -> None:
        self.records = 0
        self._file = file
        self._buffer = buffer
        self._bytes = 0
        self._checksum = 0
        self._last = b""
        self._tail = b""
        self._pending = bytearray()
        self._stream = compressed(self._take) if compressed else None

    def add(self, framed: Framed) -> None:
        """Take some records.

        Raises:
            OSError: the disk refuses.
        """
        if not len(framed):
            return
        self.records += len(framed)
        self._last = bytes(framed.data[-4:])
        if self._stream is None:
            self._take(framed.data)
        else:
            self._stream.write(framed.data)

    def _take(self, data: Buffer) -> None:
        """Take bytes as they shall stand on disk (compressors write here too)."""
        if len(data) >= self._buffer:
            self._flush()
            self._put(data)
            return
        self._pending += data
        if len(self._pending) >= self._buffer:
            self._flush()

    def _flush(self) -> None:
        if self._pending:
            pending, self._pending = self._pending, bytearray()
            self._put(pending)

    def _put(self, data: Buffer) -> None:
        self._checksum = extend_crc32c(self._checksum, data)
        self._file.write(data)
        self._bytes += len(data)
        self._tail = (self._tail + bytes(data[-TAIL_BYTES:]))[-TAIL_BYTES:]

    def fill(self) -> None:
        """Hand all bytes to the system; nothing may be added afterwards."""
        if self._stream is not None:
            self._stream.close()
        self._flush()

    def finish(self) -> Contents:
        """Make the file durable, after `fill`.

        Raises:
            OSError: the disk refuses.
        """
        self._file.finish()
        return Contents(
            self.records,
            self._bytes,
            f"{self._checksum:08x}",
            self._last.hex(),
            self._tail.hex(),
        )

    def discard(self) -> None:
        """Close the file and remove it."""
        self._file.discard()
