"""What a file is by its first bytes, and inflating it in bounded pieces."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from ..runtime.shared.errors import DatasetError
from ..runtime.shared.tfrecord import detect_compression

# What is handed on at a time, however much a few bytes may inflate to.
_PIECE_BYTES = 1 << 20

_WINDOW_BITS = {"GZIP": 16 + zlib.MAX_WBITS, "ZLIB": zlib.MAX_WBITS}

_OTHERS = (
    (b"\x28\xb5\x2f\xfd", "compressed with zstd"),
    (b"BZh", "compressed with bzip2"),
    (b"\xfd7zXZ\x00", "compressed with xz"),
    (b"\x04\x22\x4d\x18", "compressed with lz4"),
    (b"\xff\x06\x00\x00sNaPpY", "compressed with snappy"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "a GZIP file"),
    (b"PAR1", "a Parquet file"),
    (b"ARROW1", "an Arrow file"),
    (b"Obj\x01", "an Avro file"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (b"\x93NUMPY", "an array of numpy"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"\x89PNG", "a PNG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\x80\x04\x95", "a pickle"),
    (b"version https://git-lfs.github.com/", "a pointer of Git LFS, not the file"),
    (b"<", "text: XML or HTML"),
    (b"{", "text: JSON"),
    (b"[", "text: JSON"),
)
_SHOWN_BYTES = 12

# A length may begin with one or two bytes of another format's, and be damaged behind.
_SURE_BYTES = 3
_TAR_MAGIC = slice(257, 262)


class InflateError(Exception):
    """A compressed file that cannot be inflated any further.

    Attributes:
        ended: whether it merely ends too early.
    """

    def __init__(self, reason: str, *, ended: bool) -> None:
        self.ended = ended
        super().__init__(reason)


def compression_of(start: bytes) -> str | None:
    """Return "", "GZIP" or "ZLIB" by a file's first 12 bytes; None for neither."""
    try:
        return detect_compression(start[:12])
    except DatasetError:
        return None


def other_format(start: bytes) -> str:
    """Say which format it is that no record begins like; "" if none is known."""
    if start[_TAR_MAGIC] == b"ustar":
        return "a tar archive"
    magics = (each for each in _OTHERS if len(each[0]) >= _SURE_BYTES)
    return next((what for magic, what in magics if start.startswith(magic)), "")


def what_begins_so(start: bytes) -> str:
    """Say in plain words what a file is that is not a TFRecord file."""
    if start[_TAR_MAGIC] == b"ustar":
        return "a tar archive"
    for magic, what in _OTHERS:
        if start.startswith(magic):
            return what
    if not start.strip(b"\0"):
        return "nothing but zeros, as a file that was set aside and never written"
    if all(byte in b"\t\n\r" or 0x20 <= byte < 0x7F for byte in start):
        return f"text: {start[:40].decode('ascii')!r}"
    return f"bytes that begin with {start[:_SHOWN_BYTES].hex(' ')}"


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
                    break  # gzip lets zeros fill up a block
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
