"""Images without TensorFlow, with the pixels that TensorFlow has."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from io import BytesIO
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..native.pictures import picked, rounded, scaled_to
from ..shared.errors import UNDECODABLE, DatasetError
from ..shared.platforms import usable_cores
from .headers import (
    JPEG_RATIOS,
    MIRRORED,
    TRANSPOSED,
    UPSIDE_DOWN,
    jpeg_header,
)

Size = tuple[int, int]
Item = TypeVar("Item")

# Fewer images than these are not worth the threads.
_FEW = 4

_MODES = {1: "L", 3: "RGB", 4: "RGBA"}
_JPEG_COLORS = {1: "GRAY", 3: "RGB", 4: "RGBA"}


class UndecodableError(ValueError):
    """A value whose bytes have passed all checks, and cannot be decoded.

    Attributes:
        at: its position among the values.
    """

    def __init__(self, at: int, reason: object) -> None:
        self.at = at
        super().__init__(str(reason))

    def in_rows(self, lengths: NDArray[np.int64]) -> UndecodableError:
        """Return the same error of the row, of rows of these lengths, that has it."""
        row = np.searchsorted(np.cumsum(lengths), self.at, "right")
        return UndecodableError(int(row), self)


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
            raise UndecodableError(at, f"{UNDECODABLE}: {result}")
    return results


@cache
def _threads(process: int) -> ThreadPoolExecutor:
    """Return the threads of a process, which a fork does not have."""
    return ThreadPoolExecutor(usable_cores(), "schemagen-images")


class Wanted(NamedTuple):
    """How the pixels of an image are wanted.

    Attributes:
        channels: 1, 3 or 4.
        deep: whether it is a PNG of 16 bits a channel.
        least: (height, width) that a JPEG may be scaled down to while it is decoded.
        upright: turn a JPEG as its EXIF orientation says.
    """

    channels: int
    deep: bool = False
    least: Size | None = None
    upright: bool = False


def decode_jpeg(data: bytes, wanted: Wanted) -> NDArray[Any]:
    """Decode a JPEG: uint8 [H, W, channels]."""
    header = jpeg_header(data) if wanted.upright else None
    orientation = header.orientation if header else 1
    least = wanted.least
    if least is not None and orientation >= TRANSPOSED:
        least = least[::-1]
    with _opened(data, "jpeg") as image:
        size = _scaled_size(image.size, least)
        pixels = _jpeg(image, data, wanted.channels, size)
    return _turned(pixels, orientation)


def decode_png(data: bytes, wanted: Wanted) -> NDArray[Any]:
    """Decode a PNG: uint8 or uint16 [H, W, channels].

    Raises:
        DatasetError: it has a transparent colour of 16 bits.
    """
    if not wanted.deep:
        return decode_by_pillow("png", data, wanted)
    with _opened(data, "png") as image:
        if "transparency" in image.info:
            raise _other_pixels("a transparent colour of 16 bits")
        if image.mode.startswith("I"):
            grey = np.asarray(image).astype(np.uint16)
            return with_channels(grey[:, :, np.newaxis], wanted.channels)
    # Of several channels Pillow keeps the higher bytes; the lower ones are the higher
    # ones in the other order of bytes.
    high, low = (_bytes_of_png(data, order).astype(np.uint16) for order in "BL")
    return with_channels(high << 8 | low, wanted.channels)


def _bytes_of_png(data: bytes, order: str) -> NDArray[np.uint8]:
    """Decode a PNG of 16 bits to the first bytes of its samples, in an order of bytes."""
    with _opened(data, "png") as image:
        codec, box, start, layout = image.tile[0]
        image.tile = [(codec, box, start, layout[:-1] + order)]
        return np.asarray(image)


def with_channels(pixels: NDArray[Any], channels: int) -> NDArray[Any]:
    """Turn grey pixels [H, W, C] into RGB, and add an opaque alpha channel."""
    if pixels.shape[2] == 1 < channels:
        pixels = np.repeat(pixels, 3, axis=2)
    if pixels.shape[2] < channels:
        is_float = pixels.dtype.kind == "f"
        opaque = 1 if is_float else np.iinfo(pixels.dtype).max
        pixels = np.pad(pixels, ((0, 0), (0, 0), (0, 1)), constant_values=opaque)
    return pixels


def decode_bmp(data: bytes, wanted: Wanted) -> NDArray[Any]:
    """Decode a BMP: uint8 [H, W, channels].

    Raises:
        DatasetError: it may have an alpha channel.
    """
    with _opened(data, "bmp") as image:
        if wanted.channels == 4:
            raise _other_pixels("the alpha channel of a BMP")
        return _pixels_of(image, wanted.channels)


def decode_gif(data: bytes, wanted: Wanted) -> NDArray[Any]:
    """Decode a GIF: uint8 [H, W, channels]. No pixels are transparent in TensorFlow."""
    with _opened(data, "gif") as image:
        opaque = image.convert("RGB") if wanted.channels == 4 else image
        return _pixels_of(opaque, wanted.channels)


def decode_by_pillow(form: str, data: bytes, wanted: Wanted) -> NDArray[Any]:
    """Decode an image of a format that Pillow decodes alike: uint8 [H, W, channels]."""
    with _opened(data, form) as image:
        return _pixels_of(image, wanted.channels)


def _other_pixels(what: str) -> DatasetError:
    return DatasetError(
        f"Pillow does not decode {what}: read the bytes of images with "
        "decode_images=False, or the pixels with make_dataset"
    )


def _pixels_of(image: Any, channels: int) -> NDArray[Any]:
    mode = _MODES[channels]
    pixels = np.asarray(image if image.mode == mode else image.convert(mode))
    return pixels[:, :, np.newaxis] if channels == 1 else pixels


def decode_ids(data: bytes) -> NDArray[Any]:
    """Decode a PNG of class ids: its grey values or palette indices, [H, W]."""
    with _opened(data, "png") as image:
        return np.asarray(image)


def _opened(data: bytes, form: str) -> Any:
    from PIL import Image

    # Other formats that Pillow knows are no images of a schema.
    try:
        return Image.open(BytesIO(data), formats=[form])
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise ValueError(str(error)) from None


def _jpeg(image: Any, data: bytes, channels: int, least: Size) -> NDArray[Any]:
    """Decode a JPEG, to at least (height, width).

    Args:
        image: as Pillow has opened it.
        data: its bytes.
        channels: 1, 3 or 4.
        least: (height, width).

    Raises:
        ValueError: it ends too early, or is damaged otherwise.
    """
    if image.mode == "CMYK":
        try:
            inks = _decoded_jpeg(data, "CMYK", least).astype(np.uint16)
        except ValueError as error:
            if "subsampling" not in str(error):
                raise
            # Inks of several sizes. Pillow returns those of Adobe inverted.
            inks = np.asarray(image).astype(np.uint16)
            inks = 255 - inks if "adobe" in image.info else inks
        inks = inks if "adobe" in image.info else 255 - inks
        pixels = (inks[:, :, :3] * inks[:, :, 3:] // 255).astype(np.uint8)
        opaque = ((0, 0), (0, 0), (0, channels - 3))
        return np.pad(pixels, opaque, constant_values=255)
    return _decoded_jpeg(data, _JPEG_COLORS[channels], least)


def _turned(pixels: NDArray[Any], orientation: int) -> NDArray[Any]:
    """Turn an image [H, W, C] as an EXIF orientation says."""
    if orientation >= TRANSPOSED:
        pixels = pixels.swapaxes(0, 1)
    if orientation in UPSIDE_DOWN:
        pixels = pixels[::-1]
    return pixels[:, ::-1] if orientation in MIRRORED else pixels


def _decoded_jpeg(data: bytes, colors: str, least: Size) -> NDArray[Any]:
    from simplejpeg import decode_jpeg  # slow to import, as Pillow

    # As TensorFlow: with the fast transformation, and in spite of superfluous bytes.
    decode = partial(
        decode_jpeg, data, colors, True, min_height=least[0], min_width=least[1]
    )
    try:
        found: NDArray[Any] = decode()
    except ValueError as error:
        if not str(error).startswith("Corrupt JPEG data"):
            raise
        found = decode(strict=False)
    return found


def _scaled_size(size: Size, least: Size | None) -> Size:
    """Return (height, width) at the scale that TensorFlow decodes a JPEG at.

    Args:
        size: (width, height) of the image.
        least: (height, width) that it may be scaled down to.
    """
    width, height = size
    if least is None:
        return height, width
    fits = (
        ratio
        for ratio in JPEG_RATIOS
        if -(-height // ratio) >= least[0] and -(-width // ratio) >= least[1]
    )
    ratio = max(fits, default=1)
    return -(-height // ratio), -(-width // ratio)


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
    if interpolation == "nearest":
        return picked(pixels, size).astype(wanted, copy=False)
    known = pixels.dtype in (np.uint8, np.float32)
    scaled = scaled_to(
        pixels if known else pixels.astype(np.float32), size, antialias=antialias
    )
    if wanted == np.uint8:
        return rounded(scaled)
    if wanted.kind in "iu":
        np.rint(scaled, out=scaled)
    return scaled.astype(wanted, copy=False)
