"""The headers of encoded images: of JPEG and PNG without decoding, of others by Pillow.

Each function returns None for a file whose end is missing, and raises a Problem for
one that tensorflow could not decode to the picture that the file holds.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import partial
from io import BytesIO
from typing import Any, NamedTuple

from .errors import Problem

MOST_PIXELS = 50_000_000
"""Larger images are not decoded to check them: a few bytes can ask for gigabytes."""

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

# What tensorflow decodes of a BMP: plain pixels, whose bytes it takes for the channels.
_BMP_CHANNELS = {"L": 1, "BGR": 3, "BGRX": 4, "BGRA": 4}
_BMP_INFO = 40

# The bit of an extended WebP's flags that tells of an animation.
WEBP_ANIMATED = 0x02

_JPEG_SEGMENT = struct.Struct(">BBH")  # FF, marker, size
_JPEG_FRAME = struct.Struct(">BHHB")  # bits, height, width, channels
START_OF_SCAN = 0xDA
EXIF_MARKER, EXIF_START = 0xE1, b"Exif\0\0"
_START_OF_FRAME = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


# An entry of EXIF has 12 bytes: a tag, a type and a count, and here a short number.
ORIENTATION = 0x0112
_EXIF_ENTRY = "H6xH2x"

# Which orientations need what, in this order, to be upright: rows become columns, from 5
# on; rows are reversed; columns are reversed.
TRANSPOSED = 5
UPSIDE_DOWN = (3, 4, 7, 8)
MIRRORED = (2, 3, 6, 7)


class ImageHeader(NamedTuple):
    """Size and channels of an encoded image.

    Attributes:
        height: in pixels.
        width: in pixels.
        channels: 1 grey, 2 grey and alpha, 3 RGB or palette, 4 RGBA; a transparent
            colour counts as alpha. CMYK is decoded to RGB: 3.
        bits: per channel: 8, but 1, 2, 4 or 16 in some PNG images.
        orientation: the EXIF orientation of a JPEG, 1 to 8; 1 is upright.
    """

    height: int
    width: int
    channels: int
    bits: int = 8
    orientation: int = 1

    @property
    def upright(self) -> ImageHeader:
        """The header of the image that is turned as its orientation says."""
        if self.orientation < TRANSPOSED:
            return self
        return self._replace(height=self.width, width=self.height)


def jpeg_header(data: bytes) -> ImageHeader | None:
    """Walk the segments to the frame header, then look for the end marker.

    Inside the scan an FF is followed by 00 or by a restart marker, so that an FF D9
    after its start is the end of the image. It is looked for where it mostly is.
    """
    header, orientation = None, 0
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
            header = ImageHeader(height, width, min(channels, 3), bits)
        if (
            marker == EXIF_MARKER
            and not orientation
            and data.startswith(EXIF_START, at + 4)
        ):
            orientation = _orientation(data[at + 10 : at + 2 + size])
        if marker == START_OF_SCAN:
            whole = data.rfind(b"\xff\xd9", at + 2 + size) >= 0
            return (
                header._replace(orientation=orientation or 1)
                if header and whole
                else None
            )
        at += 2 + size
    return None


def _orientation(exif: bytes) -> int:
    """Return the orientation that an EXIF segment states, 1 to 8; 1 if it has none."""
    order = "<" if exif.startswith(b"II") else ">"
    try:
        (start,) = struct.unpack_from(f"{order}I", exif, 4)
        (count,) = struct.unpack_from(f"{order}H", exif, start)
    except struct.error:
        return 1
    entries = exif[start + 2 : start + 2 + 12 * count]
    whole = entries[: len(entries) // 12 * 12]
    for tag, value in struct.iter_unpack(order + _EXIF_ENTRY, whole):
        if tag == ORIENTATION:
            return value if 1 <= value <= 8 else 1
    return 1


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


def _pillow_header(form: str, data: bytes) -> ImageHeader | None:
    """Return the header that Pillow reads, if tensorflow decodes the image alike.

    An image of up to MOST_PIXELS is decoded, which finds damage behind the header.
    """
    from PIL import BmpImagePlugin, GifImagePlugin, Image, WebPImagePlugin

    # `Image.open` warns of many pixels, and refuses more, before it decodes any.
    plugins: dict[str, Any] = {
        "bmp": BmpImagePlugin.BmpImageFile,
        "gif": GifImagePlugin.GifImageFile,
        "webp": WebPImagePlugin.WebPImageFile,
    }
    try:
        with plugins[form](BytesIO(data)) as image:
            single = getattr(image, "n_frames", 1) == 1
            channels = _CHANNELS_OF[form](image, data) if single else 0
            if image.height * image.width <= MOST_PIXELS:
                image.load()
    except Image.DecompressionBombError:
        raise Problem(
            f"a {form} image of more pixels than Pillow opens",
            "an image of fewer pixels",
        ) from None
    except Exception:  # Pillow raises many for damaged files
        return None
    if channels is None:
        return None
    if not channels:
        raise Problem(
            f"a {form} image that TensorFlow decodes differently",
            "a single picture of plain pixels",
            "it may have a palette, parts or an animation",
        )
    return ImageHeader(image.height, image.width, channels)


def _bmp_channels(image: Any, data: bytes) -> int | None:
    codec, _, start, (mode, *sizes) = image.tile[0]
    if codec != "raw" or int.from_bytes(data[14:18], "little") < _BMP_INFO:
        return 0
    whole = start + sizes[0] * image.height <= len(data)
    return _BMP_CHANNELS.get(mode, 0) if whole else None


def _gif_channels(image: Any, data: bytes) -> int | None:
    if not data.endswith(b";"):
        return None
    if image.tile[0][1] != (0, 0, *image.size):  # tensorflow does not know where it is
        return 0
    return 4 if "transparency" in image.info else 3


def _webp_channels(image: Any, data: bytes) -> int:
    if data[12:16] == b"VP8X" and data[20] & WEBP_ANIMATED:
        return 0
    return len(image.getbands())


# What Pillow and the bytes say: 0 where tensorflow decodes another picture, None where
# the end is missing.
_CHANNELS_OF: dict[str, Callable[[Any, bytes], int | None]] = {
    "bmp": _bmp_channels,
    "gif": _gif_channels,
    "webp": _webp_channels,
}

HEADERS: dict[str, Callable[[bytes], ImageHeader | None]] = {
    "jpeg": jpeg_header,
    "png": png_header,
    **{form: partial(_pillow_header, form) for form in _CHANNELS_OF},
}
