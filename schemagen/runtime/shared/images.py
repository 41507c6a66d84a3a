"""Encoded images: told apart, looked at without decoding, and made of pixels."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import Problem
from .image_headers import HEADERS, ImageHeader

__all__ = [
    "CHANNELS",
    "ImageHeader",
    "encode",
    "header_of",
    "read_header",
    "sniff",
]

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


def read_header(data: bytes, encoding: str) -> ImageHeader:
    """Read the header of an encoded image and see that its end is there.

    Args:
        data: the encoded image.
        encoding: a key of CHANNELS.

    Raises:
        Problem: another format, a damaged header, a truncated image, or one that
            tensorflow does not decode to the picture that it holds.
    """
    found = sniff(data)
    if found is None or encoding not in (found, "any"):
        start = f"bytes that begin with {data[:8].hex(' ')}" if data else "no bytes"
        raise Problem(f"a {found} image" if found else start, _named(encoding))
    header = HEADERS[found](data)
    if header is None:
        raise Problem(f"a truncated {found} image", f"a whole {found} image")
    return header


def header_of(data: bytes) -> tuple[str, ImageHeader]:
    """Return the format and the header of an image that has been checked."""
    found = sniff(data)
    assert found is not None
    return found, read_header(data, found)


def _named(encoding: str) -> str:
    return (
        "an image of any known format" if encoding == "any" else f"a {encoding} image"
    )


def sniff(data: bytes) -> str | None:
    """Tell an image's format by its first bytes; None if they are of no known one."""
    if data.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if data.startswith(b"BM"):
        return "bmp"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    return None


def encode(pixels: NDArray[np.uint8], encoding: str) -> bytes:
    """Encode uint8 pixels [H, W, C] with Pillow.

    JPEG is written at quality 95, the others without loss; of "any" it is PNG.

    Raises:
        Problem: Pillow is not installed, or the format cannot hold the pixels.
    """
    encoding = "png" if encoding == "any" else encoding
    try:
        from PIL import Image  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        raise Problem(
            "an array of pixels",
            f"an encoded {encoding} image",
            "run pip install pillow, which encodes arrays",
        ) from None
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
