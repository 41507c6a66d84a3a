"""Pictures of records as small, harmless copies that a page can hold."""

from __future__ import annotations

import base64
import io
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...runtime.shared.errors import Problem
from ...runtime.shared.image_headers import HEADERS
from ...runtime.shared.images import sniff
from ...runtime.shared.png import encode_png
from ..formatting import size

if TYPE_CHECKING:
    from PIL.Image import Image

SIDE = 400
"""Copies have at most so many pixels in height and width."""

SMALL_SIDE = 160
"""As long as the page is small; afterwards so many."""

MOST_PIXELS = 50_000_000
"""What has more is not decoded: a few bytes can ask for terabytes."""

MOST_BYTES = 64 << 20
"""Nor are encoded images of more bytes."""

_COARSE = 64
_CHANNELS = {1: "grey", 2: "grey and alpha", 3: "RGB", 4: "RGBA"}


@dataclass
class Budget:
    """What the pictures of a page may take, in bytes of the page.

    Attributes:
        left: before none is shown any more.
        ample: from here on copies are smaller.
    """

    left: int = 4_000_000
    ample: int = 1_200_000

    @property
    def side(self) -> int:
        """The greatest height and width of the next copy."""
        return SIDE if self.left > self.ample else SMALL_SIDE

    def spend(self, url: str) -> bool:
        """Take a picture's bytes off, if there are enough left."""
        if len(url) > self.left:
            return False
        self.left -= len(url)
        return True


@dataclass(frozen=True)
class Copy:
    """A copy of a picture.

    Attributes:
        url: a data: URL of a PNG or JPEG; empty if there is none.
        about: what is stored, in words.
        height: of what is stored, in pixels.
        width: likewise.
        coarse: whether the pixels are so few that one wants to see each.
        trouble: why there is no copy.
    """

    url: str = ""
    about: str = ""
    height: int = 0
    width: int = 0
    coarse: bool = False
    trouble: str = ""


FULL = "left out: the report holds enough pictures"


def copy_of(data: bytes, budget: Budget) -> Copy:
    """Return a copy of an encoded image, made again from its pixels."""
    form = sniff(data)
    if form is None:
        return Copy(trouble="no image: neither JPEG, PNG, GIF, BMP nor WebP")
    try:
        header = HEADERS[form](data)
    except Problem as problem:
        header, trouble = None, problem.found
    else:
        trouble = "" if header else f"a truncated {form} image"
    if header and header.height * header.width > MOST_PIXELS:
        return _refused(form, header.height, header.width, data)
    if len(data) > MOST_BYTES:
        return Copy(trouble=f"a {form} image of {size(len(data))}, not decoded")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _copied(data, form, budget)
    except Exception:  # whatever a decoder thinks of hostile bytes
        return Copy(trouble=trouble or f"a {form} image that cannot be decoded")


def _refused(form: str, height: int, width: int, data: bytes) -> Copy:
    return Copy(
        trouble=f"a {form} image of {size(len(data))} that says it is "
        f"{width:,} × {height:,} pixels: not decoded"
    )


def _copied(data: bytes, form: str, budget: Budget) -> Copy:
    from PIL import Image

    with Image.open(io.BytesIO(data), formats=[form.upper()]) as image:
        width, height = image.size
        if width * height > MOST_PIXELS:
            return _refused(form, height, width, data)
        words = _CHANNELS.get(len(image.getbands()), image.mode)
        about = f"{width} × {height}, {words} {form.upper()}, {size(len(data))}"
        image.draft("RGB" if image.mode == "RGB" else None, (budget.side, budget.side))
        image.load()
        url, coarse = _url(_plain(image), budget, photo=form in ("jpeg", "webp"))
    if not budget.spend(url):
        return Copy(trouble=FULL)
    return Copy(url, about, height, width, coarse)


def _plain(image: Image) -> Image:
    """Return an image of 8 bits a channel: grey, RGB or RGBA."""
    import PIL.Image

    if image.mode.startswith("I"):
        values = np.asarray(image).astype(np.float64)
        return PIL.Image.fromarray((values / 257).clip(0, 255).astype(np.uint8))
    if image.mode in ("L", "RGB", "RGBA"):
        return image
    alpha = "A" in image.getbands() or "transparency" in image.info
    if image.mode == "1":
        return image.convert("L")
    return image.convert("RGBA" if alpha else "RGB")


def _url(image: Image, budget: Budget, *, photo: bool) -> tuple[str, bool]:
    import PIL.Image

    coarse = max(image.size) <= _COARSE
    if max(image.size) > budget.side:
        image.thumbnail((budget.side, budget.side), PIL.Image.Resampling.LANCZOS)
        photo = photo or image.mode == "RGB"
    # Comments and profiles of the original would be written, too.
    image.info.clear()
    out = io.BytesIO()
    if photo and not coarse and image.mode != "RGBA":
        image.save(out, "JPEG", quality=82, optimize=True)
        return data_url(out.getvalue(), "jpeg"), coarse
    image.save(out, "PNG", optimize=True)
    return data_url(out.getvalue(), "png"), coarse


def data_url(data: bytes, form: str) -> str:
    """Return encoded pixels as a URL."""
    return f"data:image/{form};base64,{base64.b64encode(data).decode()}"


def copy_of_pixels(pixels: NDArray[Any], budget: Budget) -> Copy:
    """Return a copy of pixels [H, W, C], of any number type.

    What is not uint8 is brought from its least and greatest value to black and white.
    """
    height, width, channels = pixels.shape
    about = f"{width} × {height}, {_CHANNELS.get(channels, f'{channels} channels')}"
    about += f", {pixels.dtype.name}"
    if not pixels.size:
        return Copy(trouble="no pixels", about=about)
    step = max(1, -(-max(height, width) // budget.side))
    small = pixels[::step, ::step]
    if channels not in (1, 3, 4):
        small = small[..., :1]
        about += ", the first one shown"
    if small.dtype != np.uint8:
        small, ends = _stretched(small)
        about += f", {ends}"
    url = data_url(encode_png(np.ascontiguousarray(small)), "png")
    if not budget.spend(url):
        return Copy(trouble=FULL, about=about)
    return Copy(url, about, height, width, max(height, width) <= _COARSE)


def _stretched(pixels: NDArray[Any]) -> tuple[NDArray[np.uint8], str]:
    values = pixels.astype(np.float64)
    finite = np.isfinite(values)
    low, high = (
        (float(values[finite].min()), float(values[finite].max()))
        if finite.any()
        else (0.0, 0.0)
    )
    span = high - low or 1.0
    scaled = np.where(finite, (values - low) / span, 0.0)
    return (255 * scaled).round().astype(np.uint8), f"black is {low:g}, white {high:g}"
