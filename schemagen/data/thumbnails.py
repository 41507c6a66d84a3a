"""Small copies of pictures, made again from their pixels."""

from __future__ import annotations

import base64
import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import PIL.Image
from numpy.typing import NDArray

from ..runtime.images.formats import DECODED, decode
from ..runtime.images.headers import MOST_PIXELS
from ..runtime.images.pixels import Wanted
from ..runtime.shared.compression import one_of
from .formatting import size
from .statistics.bytes_values import IMAGES, content_of

SIDE = 400
"""The greatest height and width of a copy while the page is small."""

SMALL_SIDE = 160
"""The greatest height and width of a copy afterwards."""

_COARSE = 64
_CHANNELS = {1: "grey", 2: "grey and alpha", 3: "RGB", 4: "RGBA"}
FULL = "left out: the report has reached its limit of pictures"


@dataclass
class Budget:
    """The bytes of the page that are left for pictures.

    Copies are smaller when no more than `ample` bytes are left.
    """

    left: int = 4_000_000
    ample: int = 1_200_000

    @property
    def side(self) -> int:
        """The greatest height and width of the next copy."""
        return SIDE if self.left > self.ample else SMALL_SIDE

    def spend(self, url: str) -> bool:
        """Subtract the length of a picture, if enough is left."""
        if len(url) > self.left:
            return False
        self.left -= len(url)
        return True


class Box(NamedTuple):
    """A box in pixels of a picture; `label` may be empty."""

    left: float
    top: float
    right: float
    bottom: float
    label: str
    color: str = ""


@dataclass(frozen=True)
class Thumbnail:
    """A picture of a record.

    Attributes:
        url: a data URL of a PNG or JPEG; empty if there is none.
        about: size, channels and format of the original.
        height: of the original, in pixels.
        width: likewise.
        coarse: True if there are so few pixels that each is shown as a square.
        trouble: the reason why the copy is missing.
        name: of its column.
        overlays: data URLs of its masks.
        boxes: the boxes over it.
    """

    url: str = ""
    about: str = ""
    height: int = 0
    width: int = 0
    coarse: bool = False
    trouble: str = ""
    name: str = ""
    overlays: Sequence[str] = ()
    boxes: Sequence[Box] = ()


@contextmanager
def opened(data: bytes, form: str) -> Iterator[PIL.Image.Image]:
    """Open an encoded image.

    Raises:
        Exception: of any type; bytes can be hostile.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with PIL.Image.open(io.BytesIO(data), formats=[form.upper()]) as image:
            if image.width * image.height > MOST_PIXELS:
                raise ValueError("too many pixels")
            yield image


def copy_of(data: bytes, budget: Budget) -> Thumbnail:
    """Return a copy of an encoded image."""
    content = content_of(data)
    form, header = content.format, content.picture
    if form not in IMAGES:
        titles = one_of(each.title for each in DECODED.values())
        return Thumbnail(trouble=f"not an image in {titles}")
    if header and header.height * header.width > MOST_PIXELS:
        return Thumbnail(
            trouble=f"a {form} image of {size(len(data))} that says it is "
            f"{header.width:,} × {header.height:,} pixels: not decoded"
        )
    try:
        if form == "tiff":  # Pillow does not open all of them
            return copy_of_pixels(decode(data, Wanted(1)), budget, " TIFF")
        with opened(data, form) as image:
            width, height = image.size
            channels = _CHANNELS.get(len(image.getbands()), image.mode)
            side = budget.side
            image.draft("RGB" if image.mode == "RGB" else None, (side, side))
            image.load()
            url = _encoded(_eight_bits(image), side)
    except Exception:  # of any type, as the bytes can be hostile
        damaged = f"a {form} image that cannot be decoded"
        return Thumbnail(trouble=content.trouble or damaged)
    about = f"{width} × {height}, {channels} {form.upper()}, {size(len(data))}"
    return shown(url, about, height, width, budget)


def shown(url: str, about: str, height: int, width: int, budget: Budget) -> Thumbnail:
    """Return a picture with its URL, or the reason why it has none."""
    coarse = max(height, width) <= _COARSE
    if budget.spend(url):
        return Thumbnail(url, about, height, width, coarse)
    return Thumbnail("", about, height, width, coarse, FULL)


def _eight_bits(image: PIL.Image.Image) -> PIL.Image.Image:
    """Return an image of 8 bits a channel: grey, RGB or RGBA."""
    if image.mode.startswith("I"):
        values = np.asarray(image).astype(np.float64)
        return PIL.Image.fromarray((values / 257).clip(0, 255).astype(np.uint8))
    if image.mode in ("L", "RGB", "RGBA"):
        return image
    alpha = "A" in image.getbands() or "transparency" in image.info
    return image.convert("RGBA" if alpha else "RGB")


def _encoded(image: PIL.Image.Image, side: int) -> str:
    """Return a small JPEG, or a PNG of few pixels or with transparency."""
    form = "png" if image.mode == "RGBA" or max(image.size) <= _COARSE else "jpeg"
    image.thumbnail((side, side), PIL.Image.Resampling.LANCZOS)
    # Comments and profiles of the original would be written, too.
    image.info.clear()
    return _data_url(image, form, quality=82)


def palette_url(indices: NDArray[np.uint8], palette: bytes, alpha: bytes) -> str:
    """Return the URL of a PNG with a palette, and with the opacity of each color."""
    image = PIL.Image.fromarray(indices)
    image.putpalette(palette)
    return _data_url(image, "png", transparency=alpha)


def _data_url(image: PIL.Image.Image, form: str, **options: Any) -> str:
    out = io.BytesIO()
    image.save(out, form, optimize=True, **options)
    return f"data:image/{form};base64,{base64.b64encode(out.getvalue()).decode()}"


def copy_of_pixels(pixels: NDArray[Any], budget: Budget, form: str = "") -> Thumbnail:
    """Return a copy of pixels [H, W, C] of any number type.

    The least value of other types than uint8 becomes black, and the greatest white.
    """
    height, width, channels = pixels.shape
    kind = _CHANNELS.get(channels, f"{channels} channels")
    about = f"{width} × {height}, {kind}{form}, {pixels.dtype.name}"
    step = max(1, -(-max(height, width) // budget.side))
    small = pixels[::step, ::step]
    if channels not in (1, 3, 4):
        small = small[..., :1]
        about += ", the first one shown"
    if small.dtype != np.uint8:
        values = small.astype(np.float64)
        finite = np.isfinite(values)
        known = values[finite] if finite.any() else np.zeros(1)
        low, high = known.min(), known.max()
        small = np.where(finite, (values - low) / (high - low or 1.0), 0.0)
        small = (255 * small).round().astype(np.uint8)
        about += f", black is {low:g}, white {high:g}"
    image = PIL.Image.fromarray(small[..., 0] if small.shape[2] == 1 else small)
    url = _encoded(image, budget.side)
    return shown(url, about, height, width, budget)
