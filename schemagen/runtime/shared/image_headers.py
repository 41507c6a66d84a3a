"""The headers of encoded images, each format by its own rules, without decoding.

Each function returns None for a file whose end is not there, and raises a Problem for
one that tensorflow could not decode to the picture that the file holds.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import NamedTuple

from .errors import Problem

# The bytes that a file of each format begins with, and those that follow somewhat later:
# where, and which. Other files are RIFF too.
STARTS = {
    "jpeg": b"\xff\xd8\xff",
    "png": b"\x89PNG\r\n\x1a\n",
    "bmp": b"BM",
    "gif": b"GIF8",
    "webp": b"RIFF",
}
FURTHER_STARTS = {"gif": (4, (b"7a", b"9a")), "webp": (8, (b"WEBP",))}

# The first chunk of a PNG ends here; its bits and its colour type are single bytes.
PNG_HEAD = 33
PNG_BITS_AT, PNG_COLORS_AT = 24, 25
PNG_GREY, PNG_PALETTE = 0, 3
_PNG_CHANNELS = {PNG_GREY: 1, 2: 3, PNG_PALETTE: 3, 4: 2, 6: 4}

# What tensorflow decodes of a BMP: plain pixels, of 32 bits also with these masks for
# blue, green, red and alpha, and of 8 bits with the palette that is no palette.
BMP_HEAD, BMP_INFO = 54, 40
BMP_PLAIN, BMP_MASKS = 0, 3
BMP_BGRA = bytes.fromhex("0000ff00 00ff0000 ff000000")
BMP_GREY = b"".join(bytes((grey, grey, grey, 0)) for grey in range(256))
_BMP_CHANNELS = {8: 1, 24: 3, 32: 4}

# The bit of an extended WebP's flags that tells of an animation.
WEBP_ANIMATED = 0x02

_JPEG_SEGMENT = struct.Struct(">BBH")  # FF, marker, size
_JPEG_FRAME = struct.Struct(">BHHB")  # bits, height, width, channels
_START_OF_SCAN = 0xDA
_START_OF_FRAME = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


class ImageHeader(NamedTuple):
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
    bits: int = 8


def jpeg_header(data: bytes) -> ImageHeader | None:
    """Walk the segments to the frame header, then look for the end marker.

    Inside the scan an FF is followed by 00 or by a restart marker, so that an FF D9
    after its start is the end of the image. It is looked for where it mostly is.
    """
    header: ImageHeader | None = None
    at = 2
    while at + 4 <= len(data):
        start, marker, size = _JPEG_SEGMENT.unpack_from(data, at)
        if start != 0xFF:
            return None
        if marker == 0xFF:  # padding
            at += 1
            continue
        if marker in _START_OF_FRAME and at + 10 <= len(data):
            bits, height, width, channels = _JPEG_FRAME.unpack_from(data, at + 4)
            header = ImageHeader(height, width, channels, bits)
        if marker == _START_OF_SCAN:
            return header if data.rfind(b"\xff\xd9", at + 2 + size) >= 0 else None
        at += 2 + size
    return None


def png_header(data: bytes) -> ImageHeader | None:
    """Read IHDR, then jump from chunk to chunk to IEND."""
    if len(data) < PNG_HEAD or data[12:16] != b"IHDR":
        return None
    bits, colors = data[PNG_BITS_AT], data[PNG_COLORS_AT]
    if colors not in _PNG_CHANNELS:
        return None
    channels = _PNG_CHANNELS[colors]
    at = 8
    while at + 12 <= len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        chunk = data[at + 4 : at + 8]
        if chunk == b"tRNS":  # a transparent colour is an alpha channel in short
            channels += 1
        if chunk == b"IEND":
            return ImageHeader(
                height=int.from_bytes(data[20:24], "big"),
                width=int.from_bytes(data[16:20], "big"),
                channels=channels,
                bits=8 if colors == PNG_PALETTE else bits,
            )
        at += 12 + size
    return None


def bmp_header(data: bytes) -> ImageHeader | None:
    """Read the two headers, and see that all rows of pixels are there.

    tensorflow takes the bytes of a pixel for its channels: blue, green, red, alpha.
    """
    if len(data) < BMP_HEAD:
        return None
    info = _little(data, 14, 4)
    bits, compression = _little(data, 28, 2), _little(data, 30, 4)
    width = int.from_bytes(data[18:22], "little", signed=True)
    height = abs(int.from_bytes(data[22:26], "little", signed=True))
    if info < BMP_INFO or bits not in _BMP_CHANNELS or width < 1 or height < 1:
        raise Problem(
            f"a bmp image of {bits} bits a pixel, with a header of {info} bytes",
            "8, 24 or 32 bits and a header of 40 bytes or more",
        )
    masked = bits == 32 and compression == BMP_MASKS
    if masked and len(data) < 66:
        return None
    if compression != BMP_PLAIN and not (masked and data[54:66] == BMP_BGRA):
        raise Problem("a compressed bmp image", "plain pixels in a bmp image")
    if bits == 8:
        colors = _little(data, 46, 4) or 256
        palette = data[14 + info : 14 + info + 4 * colors]
        if palette != BMP_GREY[: len(palette)]:
            raise Problem(
                "a bmp image with a palette",
                "a grey or RGB bmp image: tensorflow does not look at palettes",
            )
    start = _little(data, 10, 4)
    row = (bits // 8 * width + 3) // 4 * 4
    if start + row * height > len(data):
        return None
    return ImageHeader(height, width, _BMP_CHANNELS[bits])


def gif_header(data: bytes) -> ImageHeader | None:
    """Walk the blocks to the trailer, and count the frames on the way."""
    if len(data) < 13:
        return None
    width, height = _little(data, 6, 2), _little(data, 8, 2)
    at = 13 + _gif_colors(data[10])
    frames, transparent, whole = 0, False, True
    while at < len(data):
        block = data[at]
        if block == 0x3B:
            break
        if block == 0x2C and at + 10 <= len(data):
            frames += 1
            size = _little(data, at + 5, 2), _little(data, at + 7, 2)
            whole = whole and size == (width, height)
            at = _after_gif_blocks(data, at + 11 + _gif_colors(data[at + 9]))
        elif block == 0x21 and at + 4 <= len(data):
            if data[at + 1] == 0xF9:
                transparent = transparent or bool(data[at + 3] & 1)
            at = _after_gif_blocks(data, at + 2)
        else:
            return None
    if at >= len(data) or not frames:
        return None
    if frames > 1:
        raise Problem(
            f"a gif image of {frames} pictures",
            "a single picture",
            "an animation is a list of pictures: Images, with a picture in each value",
        )
    if not whole:
        raise Problem(
            "a gif image whose picture is smaller than its screen",
            "a picture that fills the screen: tensorflow does not know where it stands",
        )
    return ImageHeader(height, width, 4 if transparent else 3)


def _gif_colors(flags: int) -> int:
    """Return the bytes of the colour table that a descriptor's flags announce."""
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


def _after_gif_blocks(data: bytes, at: int) -> int:
    """Return where a chain of blocks ends, each with its size in its first byte."""
    while at < len(data) and data[at]:
        at += 1 + data[at]
    return at + 1


def webp_header(data: bytes) -> ImageHeader | None:
    """Walk the chunks of the RIFF container to the one that holds the pixels."""
    end = 8 + _little(data, 4, 4)
    if end > len(data):
        return None
    alpha = False
    at = 12
    while at + 8 <= end:
        name, size = data[at : at + 4], _little(data, at + 4, 4)
        if at + 8 + size > end:
            return None
        part = data[at + 8 : at + 18]
        if name == b"VP8X" and size >= 10:
            if part[0] & WEBP_ANIMATED:
                raise Problem("an animated webp image", "a single picture")
            alpha = bool(part[0] & 0x10)
        elif name == b"ALPH":
            alpha = True
        elif name == b"VP8 " and size >= 10:
            width, height = _little(part, 6, 2) & 0x3FFF, _little(part, 8, 2) & 0x3FFF
            return ImageHeader(height, width, 4 if alpha else 3)
        elif name == b"VP8L" and size >= 5:
            bits = _little(part, 1, 4)
            width, height = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
            return ImageHeader(height, width, 4 if bits >> 28 & 1 else 3)
        at += 8 + size + size % 2
    return None


def _little(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "little")


HEADERS: dict[str, Callable[[bytes], ImageHeader | None]] = {
    "jpeg": jpeg_header,
    "png": png_header,
    "bmp": bmp_header,
    "gif": gif_header,
    "webp": webp_header,
}
