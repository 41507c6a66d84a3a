"""Images without TensorFlow: decoded by Pillow, and resized as TensorFlow does it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, lru_cache
from io import BytesIO
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import DatasetError
from ..shared.images import sniff
from .decoded import UndecodableError
from .graph_formats import JPEG_RATIOS

Size = tuple[int, int]
Item = TypeVar("Item")

# Fewer images than these are not worth the threads.
_FEW = 4

_MODES = {1: "L", 3: "RGB", 4: "RGBA"}


def each(function: Callable[[Item], Any], images: Sequence[Item]) -> list[Any]:
    """Apply a function to encoded images, on all cores.

    Raises:
        UndecodableError: it fails for one of them.
    """

    def found(image: Item) -> Any:
        try:
            return function(image)
        except (OSError, SyntaxError, ValueError) as error:  # what Pillow raises
            return error

    mapping = map if len(images) < _FEW else _threads(os.getpid()).map
    results = list(mapping(found, images))
    for at, result in enumerate(results):
        if isinstance(result, Exception):
            raise UndecodableError(at, f"Pillow cannot decode it: {result}")
    return results


@cache
def _threads(process: int) -> ThreadPoolExecutor:
    """Return the threads of a process, which a fork does not have."""
    return ThreadPoolExecutor(os.cpu_count(), "schemagen-images")


def decode(
    data: bytes, channels: int, *, deep: bool = False, least: Size | None = None
) -> NDArray[Any]:
    """Decode an image.

    Args:
        data: the encoded image.
        channels: 1, 3 or 4.
        deep: whether it is a PNG of 16 bits a channel.
        least: (height, width) that a JPEG may be scaled down to while it is decoded.

    Returns:
        uint8 or uint16 [H, W, channels].

    Raises:
        DatasetError: Pillow decodes such images to other pixels.
    """
    with _opened(data) as image:
        form, mode = image.format, _MODES[channels]
        if channels > 1 and (deep or (form == "BMP" and channels == 4)):
            what = "channels of 16 bits" if deep else "the alpha channel of a BMP"
            raise DatasetError(
                f"Pillow does not decode {what}: read the bytes of images with "
                "decode_images=False, or the pixels with make_dataset"
            )
        if deep:
            return np.asarray(image).astype(np.uint16)[:, :, np.newaxis]
        if form == "JPEG":
            image.draft("L" if channels == 1 else "RGB", _draft_size(image.size, least))
        elif form == "GIF" and channels == 4:  # no transparent pixels in TensorFlow
            image = image.convert("RGB")
        pixels = np.asarray(image if image.mode == mode else image.convert(mode))
        return pixels[:, :, np.newaxis] if channels == 1 else pixels


def decode_ids(data: bytes) -> NDArray[Any]:
    """Decode a PNG of class ids: its grey values or palette indices, [H, W]."""
    with _opened(data) as image:
        return np.asarray(image)


def _opened(data: bytes) -> Any:
    try:
        from PIL import Image  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        raise DatasetError(
            "images are decoded by Pillow, which is not installed; run pip install "
            "pillow, or read their bytes with decode_images=False"
        ) from None
    # Other formats that Pillow knows are no images of a schema.
    try:
        return Image.open(BytesIO(data), formats=[sniff(data) or "png"])
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise ValueError(str(error)) from None


def _draft_size(size: Size, least: Size | None) -> Size | None:
    """Return the size at which Pillow decodes a JPEG at the scale of TensorFlow's."""
    if least is None:
        return None
    width, height = size
    fits = (
        ratio
        for ratio in JPEG_RATIOS
        if -(-height // ratio) >= least[0] and -(-width // ratio) >= least[1]
    )
    ratio = max(fits, default=1)
    return width // ratio, height // ratio


def resized(
    pixels: NDArray[Any],
    size: Size,
    interpolation: str = "bilinear",
    *,
    antialias: bool = False,
    dtype: str | None = None,
) -> NDArray[Any]:
    """Bring an image [H, W, C] to another height and width, as `tf.image.resize` does.

    Args:
        pixels: the image.
        size: (height, width) of the result.
        interpolation: "bilinear" or "nearest".
        antialias: filter it before it shrinks, if bilinear.
        dtype: of the result; None for the image's own.
    """
    wanted = np.dtype(dtype or pixels.dtype)
    height, width, channels = pixels.shape
    flat = pixels.reshape(height, width * channels)  # numpy has long rows to work on
    if interpolation == "nearest":
        rows, columns = _nearest(height, size[0], 1), _nearest(width, size[1], channels)
        chosen = flat.take(rows, 0).take(columns, 1)
        return chosen.reshape(*size, channels).astype(wanted, copy=False)
    if antialias:
        scaled = _filtered(_filtered(pixels, 0, size[0]), 1, size[1])
    else:
        scaled = _mixed(flat, 0, *_sample_points(height, size[0], 1))
        scaled = _mixed(scaled, 1, *_sample_points(width, size[1], channels))
    if wanted.kind in "iu":
        np.rint(scaled, out=scaled)
    return scaled.reshape(*size, channels).astype(wanted, copy=False)


def _spread(indices: NDArray[np.int64], channels: int) -> NDArray[np.int64]:
    """Return the indices of all channels of some pixels."""
    found: NDArray[np.int64] = indices[:, np.newaxis] * channels + np.arange(channels)
    return found.reshape(-1)


@lru_cache(maxsize=256)
def _nearest(size: int, wanted: int, channels: int) -> NDArray[np.int64]:
    """Return which old row, or column, each new one is."""
    scale = np.float32(size) / np.float32(wanted)
    centers = (np.arange(wanted, dtype=np.float32) + np.float32(0.5)) * scale
    return _spread(np.minimum(centers.astype(np.int64), size - 1), channels)


@lru_cache(maxsize=256)
def _sample_points(size: int, wanted: int, channels: int) -> tuple[Any, Any, Any]:
    """Return the two old rows next to each new one, and the share of the second."""
    scale = np.float32(size) / np.float32(wanted)
    centers = (np.arange(wanted, dtype=np.float32) + np.float32(0.5)) * scale
    centers -= np.float32(0.5)
    floors = np.floor(centers)
    first = np.maximum(floors.astype(np.int64), 0)
    second = np.minimum(np.ceil(centers).astype(np.int64), size - 1)
    shares = np.repeat(centers - floors, channels)
    return _spread(first, channels), _spread(second, channels), shares


def _mixed(
    pixels: NDArray[Any], axis: int, first: Any, second: Any, shares: Any
) -> NDArray[np.float32]:
    """Mix pairs of rows, or of columns."""
    one, other = pixels.take(first, axis), pixels.take(second, axis)
    found: NDArray[np.float32] = np.subtract(other, one, dtype=np.float32)
    found *= shares if axis else shares[:, np.newaxis]
    found += one
    return found


def _filtered(pixels: NDArray[Any], axis: int, wanted: int) -> NDArray[np.float32]:
    """Mix all rows, or columns, under a triangle as wide as a new one."""
    weights = _triangles(pixels.shape[axis], wanted)
    found = np.tensordot(weights, pixels.astype(np.float32), (1, axis))
    return np.ascontiguousarray(np.moveaxis(found, 0, axis))


@lru_cache(maxsize=64)
def _triangles(size: int, wanted: int) -> NDArray[np.float32]:
    """Return the share of each old row in each new one: float32 [wanted, size]."""
    scale = size / wanted
    width = max(scale, 1.0)
    centers = (np.arange(wanted) + 0.5)[:, np.newaxis] * scale
    distances = np.abs(np.arange(size) + 0.5 - centers) / width
    weights = np.maximum(0, 1 - distances)
    shares = weights / weights.sum(axis=1, keepdims=True)
    return np.asarray(shares, np.float32)
