"""Parameters of images that say how they are decoded and resized when read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from ..runtime.shared.errors import Problem
from ..runtime.shared.images import CHANNELS

if TYPE_CHECKING:
    from .image import Image
    from .images import Images

Interpolation = Literal["bilinear", "nearest"]


def resize_problems(kind: Image | Images) -> Iterator[Problem]:
    """Yield what does not go together in how images are decoded and resized."""
    nearest = kind.interpolation == "nearest"
    if kind.resize is None and (nearest or kind.antialias or kind.scaled_decoding):
        yield Problem(
            "interpolation, antialias or scaled_decoding without resize",
            "resize=(height, width)",
        )
    if nearest and kind.antialias:
        yield Problem(
            "antialias=True with interpolation='nearest'", "interpolation='bilinear'"
        )
    if kind.scaled_decoding and kind.encoding != "jpeg":
        yield Problem(
            f"scaled_decoding=True with encoding={kind.encoding!r}", "encoding='jpeg'"
        )


def encoded_problems(
    kind: Image | Images, stored: tuple[str, ...]
) -> Iterator[Problem]:
    """Yield what an encoding of images does not hold.

    Args:
        kind: the kind of images.
        stored: the dtypes of pixels that its encoding holds.
    """
    encoding, channels = kind.encoding, kind.shape[2]
    if channels not in CHANNELS[encoding]:
        yield Problem(
            f"{channels} channels with encoding={encoding!r}",
            f"{' or '.join(map(str, CHANNELS[encoding]))}, as the last size of the shape",
        )
    if kind.dtype not in (*stored, *(("float32",) if kind.resize else ())):
        yield Problem(
            f"dtype={kind.dtype!r} with encoding={encoding!r}",
            f"{' or '.join(stored)}, or float32 with resize=(height, width)",
        )
