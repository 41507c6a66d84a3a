"""Encoded images: their formats, their headers without decoding, and encoding pixels."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import Problem
from .image_headers import (
    FURTHER_STARTS,
    HEADERS,
    PNG_GREY,
    PNG_PALETTE,
    STARTS,
    ImageHeader,
)

# How many channels a picture may have in each format. Readers turn grey into RGB and
# add an opaque alpha channel, so that "any" may hold what only some formats can.
CHANNELS = {
    "jpeg": (1, 3),
    "png": (1, 3, 4),
    "bmp": (1, 3, 4),
    "gif": (3,),
    "webp": (3, 4),
    "any": (1, 3, 4),
}

_PILLOW_OPTIONS: dict[str, dict[str, Any]] = {
    "jpeg": {"quality": 95},
    "webp": {"lossless": True, "exact": True},  # exact: also below full transparency
}
_GIF_COLORS = 256

_PNG_COLOR_TYPES = {1: 0, 3: 2, 4: 6}  # by the number of channels
_PNG_UP = 2  # the filter that stores the difference to the row above
_PNG_WORDS = {0: "grey", 2: "RGB", 3: "palette", 4: "grey and alpha", 6: "RGBA"}


def read_header(data: bytes, encoding: str) -> ImageHeader:
    """Return the header of an encoded image; arguments and errors are `header_of`'s."""
    return header_of(data, encoding)[1]


def header_of(data: bytes, encoding: str = "any") -> tuple[str, ImageHeader]:
    """Return the format and the header of an encoded image whose end is there.

    Args:
        data: the encoded image.
        encoding: a key of CHANNELS.

    Raises:
        Problem: another format, a damaged header, a truncated image, or one that
            tensorflow does not decode to the picture that it holds.
    """
    found = sniff(data)
    if found is None or encoding not in (found, "any"):
        start = f"bytes that begin with {_shown(data[:8])}" if data else "no bytes"
        raise Problem(f"a {found} image" if found else start, _named(encoding))
    header = HEADERS[found](data)
    if header is None:
        raise Problem(f"a truncated {found} image", f"a whole {found} image")
    return found, header


def _shown(start: bytes) -> str:
    """Write bytes as text, such as that of HTML, if they are; otherwise as hex."""
    if start.isascii() and b"".join(start.split()).decode().isprintable():
        return repr(start.decode())
    return start.hex(" ")


def _named(encoding: str) -> str:
    return (
        "an image of any known format" if encoding == "any" else f"a {encoding} image"
    )


def sniff(data: bytes) -> str | None:
    """Tell an image's format by its first bytes; None if they are of no known one."""
    for form, start in STARTS.items():
        if data.startswith(start):
            if form not in FURTHER_STARTS:
                return form
            at, further = FURTHER_STARTS[form]
            return form if data.startswith(further, at) else None
    return None


def encode(pixels: NDArray[np.uint8], encoding: str) -> bytes:
    """Encode uint8 pixels [H, W, C] with Pillow.

    JPEG is written at quality 95, the others without loss; of "any" it is PNG.

    Raises:
        Problem: the format cannot hold the pixels.
    """
    from PIL import Image

    encoding = "png" if encoding == "any" else encoding
    if encoding == "gif":
        colors, indices = _with_palette(pixels)
        image = Image.fromarray(indices)
        image.putpalette(colors.tobytes())
    else:
        image = Image.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels)
    out = BytesIO()
    try:
        image.save(out, format=encoding.upper(), **_PILLOW_OPTIONS.get(encoding, {}))
    except (OSError, ValueError) as error:
        raise Problem(
            f"an array of shape {list(pixels.shape)}",
            f"what a {encoding} image can hold",
            str(error),
        ) from None
    return out.getvalue()


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
    lines[:, 0] = _PNG_UP
    lines[:, 1:] = rows
    lines[1:, 1:] -= rows[:-1]
    bits, color_type = 8 * pixels.dtype.itemsize, _PNG_COLOR_TYPES[channels]
    header = struct.pack(">IIBBBBB", width, height, bits, color_type, 0, 0, 0)
    return b"".join(
        (
            STARTS["png"],
            _chunk(b"IHDR", header),
            _chunk(b"IDAT", zlib.compress(lines.tobytes())),
            _chunk(b"IEND", b""),
        )
    )


def _chunk(kind: bytes, body: bytes) -> bytes:
    size, checksum = len(body), zlib.crc32(kind + body)
    return struct.pack(">I", size) + kind + body + struct.pack(">I", checksum)
