"""PNG files at the level of their chunks: what Pillow does not write or tell."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .images import read_header

_MAGIC = b"\x89PNG\r\n\x1a\n"
_COLOR_TYPES = {1: 0, 3: 2, 4: 6}  # by the number of channels
_GREY, _PALETTE = 0, 3
_UP = 2  # the filter that stores the difference to the row above
_WORDS = {0: "grey", 2: "RGB", 3: "palette", 4: "grey and alpha", 6: "RGBA"}


@dataclass(frozen=True)
class PngHeader:
    """What the first chunk of a PNG says.

    Attributes:
        height: in pixels.
        width: in pixels.
        bits: per sample, or per index of a palette: 1, 2, 4, 8 or 16.
        color_type: 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGBA.
    """

    height: int
    width: int
    bits: int
    color_type: int

    @property
    def palette(self) -> bool:
        """Whether its pixels are indices of a palette."""
        return self.color_type == _PALETTE

    @property
    def grey(self) -> bool:
        """Whether its pixels are single numbers."""
        return self.color_type == _GREY

    def __str__(self) -> str:
        return f"a {_WORDS[self.color_type]} PNG of {self.bits} bits"


def read_png_header(data: bytes) -> PngHeader:
    """Read the header of a whole PNG.

    Raises:
        Problem: another format, a damaged header, or a truncated image.
    """
    read_header(data, "png")
    width, height, bits, color_type = struct.unpack(">IIBB", data[16:26])
    return PngHeader(height, width, bits, color_type)


def encode_png(pixels: NDArray[Any]) -> bytes:
    """Encode pixels as PNG, without loss.

    Args:
        pixels: uint8 or uint16 [H, W, C] of 1, 3 or 4 channels, of at least one pixel.
    """
    height, width, channels = pixels.shape
    big_endian = pixels.astype(pixels.dtype.newbyteorder(">"))
    rows = np.frombuffer(big_endian.tobytes(), np.uint8).reshape(height, -1)
    lines = np.empty((height, rows.shape[1] + 1), np.uint8)
    lines[:, 0] = _UP
    lines[:, 1:] = rows
    lines[1:, 1:] -= rows[:-1]
    bits, color_type = 8 * pixels.dtype.itemsize, _COLOR_TYPES[channels]
    header = struct.pack(">IIBBBBB", width, height, bits, color_type, 0, 0, 0)
    return b"".join(
        (
            _MAGIC,
            _chunk(b"IHDR", header),
            _chunk(b"IDAT", zlib.compress(lines.tobytes())),
            _chunk(b"IEND", b""),
        )
    )


def _chunk(kind: bytes, body: bytes) -> bytes:
    size, checksum = len(body), zlib.crc32(kind + body)
    return struct.pack(">I", size) + kind + body + struct.pack(">I", checksum)
