"""Encoded images."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image


def encoded(pixels: np.ndarray, form: str = "png") -> bytes:
    """Return pixels [H, W] or [H, W, C] as a PNG or another format."""
    is_flat = pixels.ndim == 3 and pixels.shape[2] == 1
    image = Image.fromarray(pixels[:, :, 0] if is_flat else pixels)
    out = io.BytesIO()
    image.save(out, format=form.upper())
    return out.getvalue()


def picture(
    height: int, width: int, channels: int = 3, form: str = "png", seed: int = 0
) -> bytes:
    """Return an encoded image of random pixels."""
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, channels))
    return encoded(pixels.astype(np.uint8), form)
