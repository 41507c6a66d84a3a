"""TIFF: headers, and pixels by tifffile."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import Problem
from .headers import ImageHeader
from .pixels import Wanted, with_channels

# The tags that are looked at, and the sizes of their numbers.
_WIDTH, _HEIGHT, _BITS, _COMPRESSION, _COLORS = 256, 257, 258, 259, 262
_SAMPLES, _SAMPLE_FORMAT, _PLANES = 277, 339, 284
_STRIP_HEIGHT, _TILE_WIDTH, _TILE_HEIGHT = 278, 322, 323
_PLACES = ((273, 279), (324, 325))  # strips, tiles: where they are, and their sizes
_NUMBERS = {3: "H", 4: "I", 16: "Q"}
_SAMPLE_KINDS = {(8, 1), (16, 1), (32, 3)}  # bits, and one of the next
_WORDS = {1: "unsigned", 2: "signed", 3: "floating-point"}
_GREY, _RGB = 1, 2
# None, LZW, deflate (with two numbers) and PackBits.
_COMPRESSIONS = (1, 5, 8, 32946, 32773)
# None of these makes pixels so much smaller: a few bytes cannot ask for gigabytes.
_MOST_COMPRESSED = 2000


def header(data: bytes) -> ImageHeader | None:
    """Read the first directory of a TIFF, and compare it with what it may have.

    Raises:
        Problem: several pages, or pixels that are not read to arrays as they are stored.
    """
    try:
        tags, following = _directory(data)
        (width,), (height,), (colors,) = tags[_WIDTH], tags[_HEIGHT], tags[_COLORS]
    except (KeyError, ValueError, struct.error):
        return None
    samples = tags.get(_SAMPLES, (1,))[0]
    bits = {*tags.get(_BITS, (1,))}
    kinds = {(each, form) for each in bits for form in tags.get(_SAMPLE_FORMAT, (1,))}
    compression = tags.get(_COMPRESSION, (1,))[0]
    trouble = ""
    if following:
        trouble = "several pages"
    elif colors not in (_GREY, _RGB):
        trouble = "a palette, of CMYK or of other colours"
    elif len(kinds) > 1 or not kinds <= _SAMPLE_KINDS:
        depth, form = min(kinds)
        words = _WORDS.get(form, "other")
        trouble = f"{words} samples of {depth} bits"
    elif compression not in _COMPRESSIONS:
        trouble = f"compression {compression}"
    if trouble:
        raise Problem(
            f"a tiff image with {trouble}",
            "a single page of grey, RGB or RGBA pixels, as uint8, uint16 or float32, "
            "uncompressed or with LZW, deflate or PackBits",
            "give its pixels as an array",
        )
    ((depth, _),) = kinds
    places = [
        pair
        for at, sizes in _PLACES
        for pair in zip(tags.get(at, ()), tags.get(sizes, ()), strict=False)
    ]
    size = height * width * samples * depth // 8
    if not 0 < size <= _MOST_COMPRESSED * len(data):
        return None
    # A reader leaves the pixels of a strip that is not there as they were in memory.
    whole = len(places) == _pieces(tags, height, width, samples)
    if not whole or not all(n and at + n <= len(data) for at, n in places):
        return None
    return ImageHeader(height, width, samples, depth)


def _pieces(
    tags: Mapping[int, tuple[int, ...]], height: int, width: int, samples: int
) -> int:
    """Return how many strips or tiles the pixels of a TIFF need."""
    planes = 1 if tags.get(_PLANES, (1,))[0] == 1 else samples
    if _TILE_WIDTH in tags:
        (across,), (down,) = tags[_TILE_WIDTH], tags.get(_TILE_HEIGHT, (0,))
    else:
        across, down = width, min(tags.get(_STRIP_HEIGHT, (height,))[0], height)
    if not across or not down:
        return 0
    return planes * -(-width // across) * -(-height // down)


def _directory(data: bytes) -> tuple[dict[int, tuple[int, ...]], int]:
    """Return the numbers of a TIFF's first directory by tag, and where the next one is.

    Raises:
        struct.error: the end of the data is missing.
    """
    order = "<" if data.startswith(b"II") else ">"
    big = 0x2B in data[2:4]  # BigTIFF
    counted, word, size = ("Q", "Q", 8) if big else ("H", "I", 4)

    def numbers(form: str, at: int) -> tuple[int, ...]:
        return struct.unpack_from(order + form, data, at)

    (at,) = numbers(word, size)
    (entries,) = numbers(counted, at)
    at += struct.calcsize(counted)
    tags = {}
    for _ in range(entries):
        tag, kind, count = numbers(f"HH{word}", at)
        value = at + 4 + size
        if kind in _NUMBERS:
            form = _NUMBERS[kind]
            if count * struct.calcsize(form) > size:
                (value,) = numbers(word, value)
            tags[tag] = numbers(f"{count}{form}", value)
        at += 4 + 2 * size
    return tags, numbers(word, at)[0]


def library() -> Any:
    """Import what reads and writes the pixels of a TIFF.

    Raises:
        ModuleNotFoundError: it is not installed; says how to install it.
    """
    from ..shared.requirements import tifffile

    return tifffile


def encode(pixels: NDArray[Any]) -> bytes:
    """Encode uint8, uint16 or float32 pixels [H, W, C] as TIFF, without loss."""
    out, channels = BytesIO(), pixels.shape[2]
    library().imwrite(
        out,
        pixels if channels > 1 else pixels[:, :, 0],
        photometric="rgb" if channels > 1 else "minisblack",
        planarconfig="contig" if channels > 1 else None,
        extrasamples=("unassalpha",) if channels == 4 else None,
        compression="zlib",
        metadata=None,
        software=False,
    )
    return out.getvalue()


def decode(data: bytes, wanted: Wanted) -> NDArray[Any]:
    """Decode a TIFF of one page: uint8, uint16 or float32 [H, W, channels].

    Raises:
        ValueError: it is damaged.
    """
    tifffile = library()
    try:
        with tifffile.TiffFile(BytesIO(data)) as file:
            page = file.pages[0]
            pixels = page.asarray(out=np.zeros(page.shape, page.dtype))
            if pixels.ndim == 3 and page.planarconfig == tifffile.PLANARCONFIG.SEPARATE:
                pixels = np.moveaxis(pixels, 0, 2)
            size = page.imagelength, page.imagewidth, page.samplesperpixel
            pixels = pixels.reshape(size)
    except Exception as error:  # of any type, as the bytes can be hostile
        raise ValueError(str(error)) from None
    native = pixels.astype(pixels.dtype.newbyteorder("="), copy=False)
    return with_channels(native, wanted.channels)
