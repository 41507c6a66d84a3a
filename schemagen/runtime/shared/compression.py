"""The table of compressions of TFRecord files.

An entry says all that is to be known of one. Writers, readers, checks, names of files and
errors take it from here.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from io import BufferedReader, RawIOBase
from typing import Any, Protocol

from ..interface import install
from .errors import DatasetError
from .wire import Buffer

# How much is inflated at a time, however much a few bytes may inflate to.
_PIECE_BYTES = 1 << 20

# How much of a compressed file is read at a time.
_READ_BYTES = 1 << 16

# How much of a stream is given to zlib first. It copies what follows the end of a stream, and
# a file may hold any number of short streams.
_FIRST_BYTES = 1 << 9

# The largest window of zstd: what its program takes without --memory.
_ZSTD_WINDOW = 1 << 27

# What frames of other programs begin with behind their first byte.
_ZSTD_SKIPPABLE = b"\x2a\x4d\x18"


class Compressor(Protocol):
    """Compresses one stream."""

    def compress(self, data: Buffer, /) -> bytes:
        """Take some bytes, and return what is compressed of all so far."""

    def flush(self) -> bytes:
        """Return what is left: the end of the stream."""


class DamageError(Exception):
    """Bytes that are not of a compression; `inflated` says of which."""


@dataclass(frozen=True)
class Compression:
    """One way in which whole files are compressed.

    Attributes:
        name: what users pass and manifests state.
        suffixes: what names of files end in, first that of a shard after `.tfrecord`.
        begins: whether a file that begins with some bytes, two or more, may be of it.
        levels: from fast to small.
        level: the usual one.
        compressor: makes a compressor of a level. Equal bytes become equal files.
        inflate: from the pieces of a file, which may be several in a row, to its contents
            in pieces of at most a megabyte, behind which it raises an EOFError if the file
            is cut off, or a DamageError.
        in_tensorflow: whether `tf.data.TFRecordDataset` takes it, by its name.
    """

    name: str
    suffixes: tuple[str, ...]
    begins: Callable[[bytes], bool]
    levels: range
    level: int
    compressor: Callable[[int], Compressor]
    inflate: Callable[[Iterator[bytes]], Iterator[bytes]]
    in_tensorflow: bool = True


def _deflate(window: int, level: int) -> Compressor:
    return zlib.compressobj(level, zlib.DEFLATED, window)


def _inflate(window: int, pieces: Iterator[bytes]) -> Iterator[bytes]:
    stream = zlib.decompressobj(window)
    begun = False
    for read in pieces:
        piece, at = memoryview(read), 0
        while at < len(piece):
            if stream.eof:
                if not piece[at] and not bytes(piece[at:]).strip(b"\0"):
                    break  # gzip allows zeros that fill up a block
                stream, begun = zlib.decompressobj(window), False
            before = stream.copy() if begun else zlib.decompressobj(window)
            given = piece[at:] if begun else piece[at : at + _FIRST_BYTES]
            begun = True
            try:
                out = stream.decompress(given, _PIECE_BYTES)
            except zlib.error as error:
                if out := _inflated_before_damage(before, given):
                    yield out
                raise DamageError(str(error).split(": ")[-1]) from None
            if out:
                yield out
            at += len(given) - len(stream.unconsumed_tail or stream.unused_data)
    while begun and not stream.eof:
        try:
            out = stream.decompress(b"", _PIECE_BYTES)
        except zlib.error:
            out = b""
        if not out:
            raise EOFError
        yield out


def _inflated_before_damage(stream: Any, data: memoryview) -> bytes:
    """Return what zlib keeps when it raises an error: less than a piece."""
    out = bytearray()
    with suppress(zlib.error):
        for at in range(len(data)):
            out += stream.decompress(data[at : at + 1])
    return bytes(out)


def _begins_gzip(start: bytes) -> bool:
    return start[:2] == b"\x1f\x8b"


def _begins_zlib(start: bytes) -> bool:
    return start[0] & 0x0F == 8 and int.from_bytes(start[:2], "big") % 31 == 0


def _of_deflate(
    name: str, suffixes: tuple[str, ...], begins: Callable[[bytes], bool], window: int
) -> Compression:
    """Return a compression by zlib, whose `wbits` say what is around the data."""
    return Compression(
        name,
        suffixes,
        begins,
        levels=range(1, 10),
        level=6,
        compressor=partial(_deflate, window),
        inflate=partial(_inflate, window),
    )


def _zstandard() -> Any:
    """Import zstandard.

    Raises:
        DatasetError: it is not installed.
    """
    try:
        import zstandard
    except ModuleNotFoundError as error:
        raise DatasetError(
            "ZSTD files are read and written with zstandard, which is not installed: "
            f"run {install('zstd')}"
        ) from error
    return zstandard


def _zstd(level: int) -> Compressor:
    stream: Compressor = (
        _zstandard().ZstdCompressor(level, write_checksum=True).compressobj()
    )
    return stream


def _inflate_zstd(pieces: Iterator[bytes]) -> Iterator[bytes]:
    zstandard = _zstandard()
    context = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
    stream = None
    for block in _zstd_blocks(pieces):
        stream = stream or context.decompressobj()
        try:
            out = stream.decompress(block)
        except zstandard.ZstdError as error:
            raise DamageError(str(error).split(": ")[-1]) from None
        if out:
            yield out
        stream = None if stream.eof else stream
    if stream is not None:
        raise EOFError


def _zstd_blocks(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Cut ZSTD data into blocks (RFC 8878), each of which inflates to at most 128 KiB.

    zstandard inflates all that it is given at once, and a block of four bytes may be 128 KiB.
    """
    held = bytearray()

    def take(count: int) -> bytes:
        while len(held) < count and (piece := next(pieces, b"")):
            held.extend(piece)
        taken = bytes(held[:count])
        del held[:count]
        return taken

    while start := take(5):
        if start[1:4] == _ZSTD_SKIPPABLE:  # a frame of anything, which has no contents
            start += take(3)
            yield start
            rest = int.from_bytes(start[4:8], "little")
            while rest and (piece := take(min(rest, _READ_BYTES))):
                yield piece
                rest -= len(piece)
            continue
        flags = start[-1]
        has_window, has_checksum = not flags & 32, flags & 4
        sizes = (0 if has_window else 1, 2, 4, 8)
        yield start + take(has_window + (0, 1, 2, 4)[flags & 3] + sizes[flags >> 6])
        last = 0
        while not last and (header := take(3)):
            number = int.from_bytes(header, "little")
            last, is_repeated = number & 1, number & 6 == 2
            yield header + take(1 if is_repeated else number >> 3)
        if has_checksum:
            yield take(4)


COMPRESSIONS = {
    each.name: each
    for each in (
        _of_deflate("GZIP", (".gz", ".gzip"), _begins_gzip, zlib.MAX_WBITS + 16),
        _of_deflate("ZLIB", (".zlib",), _begins_zlib, zlib.MAX_WBITS),
        Compression(
            "ZSTD",
            (".zst", ".zstd"),
            lambda start: start[:4] == b"\x28\xb5\x2f\xfd",
            levels=range(1, 20),
            level=3,
            compressor=_zstd,
            inflate=_inflate_zstd,
            in_tensorflow=False,
        ),
    )
}
"""Each compression by its name. Files that are not compressed have the name ""."""


def one_of(names: Iterable[str]) -> str:
    """Return some names as a text, such as "GZIP or ZLIB"."""
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last


ANY = one_of(COMPRESSIONS)
"""All names, as texts have them."""

SUFFIX_PATTERN = "|".join(re.escape(each.suffixes[0]) for each in COMPRESSIONS.values())
"""A pattern of what a shard's name may end in after `.tfrecord`."""


def suffix_of(name: str) -> str:
    """Return what a shard's name ends in after `.tfrecord`."""
    return COMPRESSIONS[name].suffixes[0] if name else ""


def in_tensorflow(name: str) -> bool:
    """Return whether TensorFlow reads files of a compression; "" is none."""
    return not name or COMPRESSIONS[name].in_tensorflow


class InflateError(Exception):
    """A compressed file that cannot be inflated any further.

    Attributes:
        ended: whether it merely ends too early.
    """

    def __init__(self, reason: str, *, ended: bool) -> None:
        self.ended = ended
        super().__init__(reason)


def inflated(pieces: Iterator[bytes], name: str) -> Iterator[bytes]:
    """Inflate a file, or several in a row, in pieces of at most a megabyte.

    Args:
        pieces: the file's bytes.
        name: of the compression.

    Raises:
        InflateError: behind all that could be inflated.
    """
    try:
        yield from COMPRESSIONS[name].inflate(pieces)
    except DamageError as error:
        raise InflateError(f"damaged {name} data: {error}", ended=False) from None
    except EOFError:
        reason = f"the file ends before the end of its {name} stream"
        raise InflateError(reason, ended=True) from None


def fill_from(pieces: Iterator[bytes]) -> Callable[[memoryview], int]:
    """Return a function that fills memory from pieces of any size.

    It returns how many bytes there were.
    """
    rest = memoryview(b"")

    def fill(memory: memoryview) -> int:
        nonlocal rest
        rest = rest or memoryview(next(pieces, b""))
        taken = rest[: len(memory)]
        memory[: len(taken)] = taken
        rest = rest[len(taken) :]
        return len(taken)

    return fill


def open_inflated(raw: BufferedReader, name: str) -> BufferedReader:
    """Return the contents of an open file, inflated as they are read.

    Args:
        raw: the file, at its beginning.
        name: of the compression; "" for none.
    """
    if not name:
        return raw
    pieces = iter(partial(raw.read, _READ_BYTES), b"")
    inflating: Any = _Inflating(inflated(pieces, name))
    return BufferedReader(inflating, _READ_BYTES)


class _Inflating(RawIOBase):
    """A file whose bytes come in pieces."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._fill = fill_from(pieces)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._fill(memoryview(buffer).cast("B"))
