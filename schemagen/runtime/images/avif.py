"""AVIF: headers, and pixels by Pillow."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..interface import install
from ..shared.errors import Problem
from .headers import ImageHeader, encode_by_pillow
from .pixels import decode_by_pillow

# Of the codec: where its flags are behind its name, and those of 10 and 12 bits.
_FLAGS, _DEEP, _DEEPER = 6, 0x40, 0x20


def header(data: bytes) -> ImageHeader | None:
    """Return the header that Pillow reads, if the boxes of the file end with it.

    Raises:
        Problem: several pictures.
    """
    plugin, at = pillow_with_codec(), 0
    while at + 8 <= len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        at += max(size, 8) if size else len(data) - at
    if at != len(data):
        return None
    try:
        with plugin.AvifImageFile(BytesIO(data)) as image:
            (width, height), bands = image.size, image.getbands()
            frames = image.n_frames
    except Exception:  # Pillow raises many for damaged files
        return None
    if frames != 1:
        raise Problem("an avif image of several pictures", "a single picture")
    flags = data[data.find(b"av1C") + _FLAGS]
    bits = (10 + (flags & _DEEPER) // 16) if flags & _DEEP else 8
    return ImageHeader(height, width, 4 if "A" in bands else 3, bits)


def pillow_with_codec() -> Any:
    """Import the part of Pillow that reads and writes AVIF.

    Raises:
        ModuleNotFoundError: it is not there; says how to install it.
    """
    from PIL import features

    if "avif" in features.modules and features.check("avif"):
        return import_module("PIL.AvifImagePlugin")
    raise ModuleNotFoundError(
        f"Pillow has a codec of AVIF since 11.3, which is not there: run {install('avif')}",
        name="PIL.AvifImagePlugin",
    )


def encode(pixels: NDArray[np.uint8]) -> bytes:
    """Encode uint8 pixels [H, W, C] as AVIF."""
    pillow_with_codec()
    return encode_by_pillow("avif", pixels, quality=95)


decode = partial(decode_by_pillow, "avif")
"""Decodes an AVIF: uint8 [H, W, channels]."""
