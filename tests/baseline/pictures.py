"""Makes `pictures/` with Pillow, whose encoders differ between versions.

python -m tests.baseline.pictures
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from PIL import Image

from .rows import PICTURES, few_colors, flat, ids, pixels


def _pictures() -> Iterator[tuple[str, Any, dict[str, Any]]]:
    yield "4x6.png", Image.fromarray(pixels(4, 6, 3, 1)), {}
    yield "5x4.png", Image.fromarray(pixels(5, 4, 3, 2)), {}
    yield "3x3.png", Image.fromarray(pixels(3, 3, 1, 3)[:, :, 0]), {}
    yield "other-3x3.png", Image.fromarray(pixels(3, 3, 1, 4)[:, :, 0]), {}
    yield "mask.png", Image.fromarray(ids(4, 6, 250, 7).astype(np.uint8)), {}
    palette = Image.fromarray(ids(4, 6, 5, 0).astype(np.uint8), "P")
    palette.putpalette([level for at in range(5) for level in (at * 50, 9, 200)])
    yield "palette.png", palette, {"bits": 8}
    yield "4x6.jpg", Image.fromarray(flat(4, 6, 77)), {"quality": 100}
    yield "16x16.jpg", Image.fromarray(flat(16, 16, 128)), {"quality": 95}
    yield "40x48.jpg", Image.fromarray(flat(40, 48, 99)), {"quality": 100}
    turned = Image.Exif()
    turned[0x0112] = 6  # a quarter to the right
    shaded = np.full((8, 16, 3), np.arange(16)[None, :, None] * 16, np.uint8)
    yield "turned.jpg", Image.fromarray(shaded), {"quality": 90, "exif": turned}
    few = Image.fromarray(few_colors())
    yield "4x6.bmp", few, {}
    yield "4x6.gif", few.quantize(4), {}
    yield "4x6.webp", few, {"lossless": True, "exact": True}


def make_pictures() -> None:
    """Write each picture that is not there yet."""
    PICTURES.mkdir(exist_ok=True)
    for name, picture, options in _pictures():
        if not (PICTURES / name).exists():
            picture.save(PICTURES / name, **options)


if __name__ == "__main__":
    make_pictures()
