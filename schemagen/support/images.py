"""What an encoded image says of itself, read from its headers without decoding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import Problem

_JPEG_MAGIC = b"\xff\xd8\xff"
_PNG_MAGIC = b"\x89PNG\r\n\x1a\n"
_PNG_CHANNELS = {0: 1, 2: 3, 3: 3, 4: 2, 6: 4}
_PNG_PALETTE = 3
_START_OF_SCAN = 0xDA
_START_OF_FRAME = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


@dataclass(frozen=True)
class ImageHeader:
    """Size and channels of an encoded image.

    Attributes:
        height: in pixels.
        width: in pixels.
        channels: 1 grey, 2 grey and alpha, 3 RGB or palette, 4 RGBA or CMYK; a
            transparent colour counts as alpha.
        bits: per channel: 8, but 1, 2, 4 or 16 in some PNG images.
    """

    height: int
    width: int
    channels: int
    bits: int


def read_header(data: bytes, encoding: str) -> ImageHeader:
    """Read the header of a JPEG or PNG image and see that its end is there.

    Args:
        data: the encoded image.
        encoding: "jpeg" or "png".

    Raises:
        Problem: another format, a damaged header, or a truncated image.
    """
    found = sniff(data)
    if found != encoding:
        start = data[:8].hex(" ")
        raise Problem(
            f"a {found} image"
            if found
            else f"bytes that begin with {start or 'nothing'}",
            f"a {encoding} image",
        )
    header = _jpeg_header(data) if encoding == "jpeg" else _png_header(data)
    if header is None:
        raise Problem(f"a truncated {encoding} image", f"a whole {encoding} image")
    return header


def sniff(data: bytes) -> str | None:
    """Tell an image's format by its first bytes: "jpeg", "png" or None."""
    if data.startswith(_JPEG_MAGIC):
        return "jpeg"
    if data.startswith(_PNG_MAGIC):
        return "png"
    return None


def encode(pixels: NDArray[np.uint8], encoding: str) -> bytes:
    """Encode uint8 pixels [H, W, C] as JPEG (quality 95) or PNG, with Pillow.

    Raises:
        Problem: Pillow is not installed.
    """
    try:
        from PIL import Image
    except ImportError:
        raise Problem(
            "an array of pixels",
            f"an encoded {encoding} image",
            "pip install pillow to have arrays encoded",
        ) from None
    from io import BytesIO

    image = Image.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels)
    out = BytesIO()
    options: dict[str, Any] = {"quality": 95} if encoding == "jpeg" else {}
    image.save(out, format=encoding.upper(), **options)
    return out.getvalue()


def _jpeg_header(data: bytes) -> ImageHeader | None:
    """Walk the segments to the frame header, then look for the end marker.

    Inside the scan an FF is followed by 00 or by a restart marker, so that the
    first FF D9 after its start is the end of the image.
    """
    header: ImageHeader | None = None
    at = 2
    while at + 4 <= len(data):
        if data[at] != 0xFF:
            return None
        marker = data[at + 1]
        if marker == 0xFF:  # padding
            at += 1
            continue
        size = int.from_bytes(data[at + 2 : at + 4], "big")
        if marker in _START_OF_FRAME and at + 10 <= len(data):
            bits, channels = data[at + 4], data[at + 9]
            height = int.from_bytes(data[at + 5 : at + 7], "big")
            width = int.from_bytes(data[at + 7 : at + 9], "big")
            header = ImageHeader(height, width, channels, bits)
        if marker == _START_OF_SCAN:
            return header if data.find(b"\xff\xd9", at + 2 + size) >= 0 else None
        at += 2 + size
    return None


def _png_header(data: bytes) -> ImageHeader | None:
    """Read IHDR, then jump from chunk to chunk to IEND."""
    if len(data) < 33 or data[12:16] != b"IHDR" or data[25] not in _PNG_CHANNELS:
        return None
    bits, colors = data[24], data[25]
    channels = _PNG_CHANNELS[colors]
    at = 8
    while at + 12 <= len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        chunk = data[at + 4 : at + 8]
        if chunk == b"tRNS":  # a transparent colour is an alpha channel in short
            channels = channels + 1
        if chunk == b"IEND":
            return ImageHeader(
                height=int.from_bytes(data[20:24], "big"),
                width=int.from_bytes(data[16:20], "big"),
                channels=channels,
                bits=8 if colors == _PNG_PALETTE else bits,
            )
        at += 12 + size
    return None
