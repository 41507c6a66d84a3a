"""Encoded images: headers, read without decoding, and encoders of pixels."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import Problem

MOST_PIXELS = 50_000_000
"""Larger images are not decoded to check them: a few bytes can ask for gigabytes."""

JPEG_START, PNG_START = b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n"
"""What each JPEG and each PNG begins with."""

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

# The scales at which libjpeg decodes: 1 to 1/8, sizes rounded up.
JPEG_RATIOS = (1, 2, 4, 8)

_GIF_COLORS = 256

_PNG_COLOR_TYPES = {1: 0, 3: 2, 4: 6}  # by the number of channels
_PNG_UP = 2  # the filter that stores the difference to the row above
_PNG_WORDS = {0: "grey", 2: "RGB", 3: "palette", 4: "grey and alpha", 6: "RGBA"}


class ImageHeader(NamedTuple):
    """Size and channels of an encoded image.

    Attributes:
        height: in pixels.
        width: in pixels.
        channels: 1 grey, 2 grey and alpha, 3 RGB or palette, 4 RGBA; a transparent
            colour counts as alpha. CMYK is decoded to RGB: 3.
        bits: per channel: 8, but 1, 2, 4 or 16 in some PNG images, 10 or 12 in some AVIF
            images, and 16 or, of floats, 32 in some TIFF images.
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


def header_by_pillow(
    plugin: str, channels_of: Callable[[Any, bytes], int | None], data: bytes
) -> ImageHeader | None:
    """Return the header that Pillow reads, if tensorflow decodes the image alike.

    An image of up to MOST_PIXELS is decoded, which finds damage behind the header.

    Args:
        plugin: what the names of Pillow's module and class for the format begin with.
        channels_of: returns the number of channels by what Pillow and the bytes say: 0
            where tensorflow decodes another picture, None where the end is missing.
        data: the encoded image.

    Raises:
        Problem: tensorflow decodes another picture, or there are more pixels than Pillow
            opens.
    """
    from PIL import Image

    # `Image.open` warns of many pixels, and refuses more, before it decodes any.
    opened = getattr(import_module(f"PIL.{plugin}ImagePlugin"), f"{plugin}ImageFile")
    form = plugin.lower()
    try:
        with opened(BytesIO(data)) as image:
            single = getattr(image, "n_frames", 1) == 1
            channels = channels_of(image, data) if single else 0
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


def bmp_channels(image: Any, data: bytes) -> int | None:
    """Return the channels of a BMP of plain pixels; see `header_by_pillow`."""
    codec, _, start, (mode, *sizes) = image.tile[0]
    if codec != "raw" or int.from_bytes(data[14:18], "little") < _BMP_INFO:
        return 0
    whole = start + sizes[0] * image.height <= len(data)
    return _BMP_CHANNELS.get(mode, 0) if whole else None


def gif_channels(image: Any, data: bytes) -> int | None:
    """Return the channels of a GIF that fills its screen; see `header_by_pillow`."""
    if not data.endswith(b";"):
        return None
    if image.tile[0][1] != (0, 0, *image.size):  # tensorflow does not know where it is
        return 0
    return 4 if "transparency" in image.info else 3


def webp_channels(image: Any, data: bytes) -> int:
    """Return the channels of a WebP of one picture; see `header_by_pillow`."""
    if data[12:16] == b"VP8X" and data[20] & WEBP_ANIMATED:
        return 0
    return len(image.getbands())


def encode_by_pillow(
    form: str,
    pixels: NDArray[np.uint8],
    *,
    image_of: Callable[[NDArray[np.uint8]], Any] | None = None,
    **options: Any,
) -> bytes:
    """Encode uint8 pixels [H, W, C] with Pillow.

    Args:
        form: Pillow's name of the format, in any case.
        pixels: the image.
        image_of: makes an image of Pillow's of them; None for the usual one.
        **options: of the encoder.

    Raises:
        Problem: the format cannot hold the pixels.
    """
    image = (image_of or _image_of)(pixels)
    out = BytesIO()
    try:
        image.save(out, format=form.upper(), **options)
    except (OSError, ValueError) as error:
        raise Problem(
            f"an array of shape {list(pixels.shape)}",
            f"what a {form} image can hold",
            str(error),
        ) from None
    return out.getvalue()


def _image_of(pixels: NDArray[np.uint8]) -> Any:
    from PIL import Image

    return Image.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels)


def image_with_palette(pixels: NDArray[np.uint8]) -> Any:
    """Return an image of Pillow's with the colours of RGB pixels [H, W, 3].

    Raises:
        Problem: more colours than a palette holds.
    """
    from PIL import Image

    colors, indices = _with_palette(pixels)
    image = Image.fromarray(indices)
    image.putpalette(colors.tobytes())
    return image


def _with_palette(
    pixels: NDArray[np.uint8],
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return the colours [N, 3] of RGB pixels, and the index of each pixel's [H, W].

    Raises:
        Problem: more colours than a palette holds.
    """
    wide = pixels.astype(np.uint32)
    codes = wide[:, :, 0] << 16 | wide[:, :, 1] << 8 | wide[:, :, 2]
    found, indices = np.unique(codes, return_inverse=True)
    if len(found) > _GIF_COLORS:
        raise Problem(
            f"pixels of {len(found)} colours",
            f"at most {_GIF_COLORS}, which is what a gif image can hold",
            "give the bytes of a gif image, or declare encoding='png'",
        )
    colors = np.stack([found >> 16, found >> 8 & 255, found & 255], axis=1)
    return colors.astype(np.uint8), indices.reshape(codes.shape).astype(np.uint8)


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
        return self.color_type == PNG_PALETTE

    @property
    def grey(self) -> bool:
        """Whether its pixels are single numbers."""
        return self.color_type == PNG_GREY

    def __str__(self) -> str:
        return f"a {_PNG_WORDS[self.color_type]} PNG of {self.bits} bits"


def first_chunk_of_png(data: bytes) -> PngHeader:
    """Read the first chunk of a PNG whose header `png_header` can read."""
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
    lines[:, 0] = _PNG_UP
    lines[:, 1:] = rows
    lines[1:, 1:] -= rows[:-1]
    bits, color_type = 8 * pixels.dtype.itemsize, _PNG_COLOR_TYPES[channels]
    header = struct.pack(">IIBBBBB", width, height, bits, color_type, 0, 0, 0)
    return b"".join(
        (
            PNG_START,
            _chunk(b"IHDR", header),
            _chunk(b"IDAT", zlib.compress(lines.tobytes())),
            _chunk(b"IEND", b""),
        )
    )


def encode_png_image(pixels: NDArray[Any]) -> bytes:
    """Encode uint8 or uint16 pixels [H, W, C] as PNG; Pillow cannot write the latter."""
    deep = pixels.dtype == np.uint16
    return encode_png(pixels) if deep else encode_by_pillow("png", pixels)


def _chunk(kind: bytes, body: bytes) -> bytes:
    size, checksum = len(body), zlib.crc32(kind + body)
    return struct.pack(">I", size) + kind + body + struct.pack(">I", checksum)
