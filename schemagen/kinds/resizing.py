"""Parameters of images that say how they are decoded and resized when read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, Protocol, cast, get_args

from ..runtime.shared.errors import Problem
from .parameters import choice_problems, flag_problems, is_shape, sizes_problem

Interpolation = Literal["bilinear", "nearest"]
INTERPOLATIONS: tuple[str, ...] = get_args(Interpolation)


class Resized(Protocol):
    """A kind of images with these parameters."""

    @property
    def encoding(self) -> str: ...
    @property
    def dtype(self) -> str: ...
    @property
    def resize(self) -> tuple[int, int] | None: ...
    @property
    def interpolation(self) -> str: ...
    @property
    def antialias(self) -> bool: ...
    @property
    def scaled_decoding(self) -> bool: ...


def stored_dtype(kind: Resized) -> str:
    """Return the dtype of the pixels in rows and files, which reading may convert."""
    unrounded = kind.encoding != "raw" and kind.dtype == "float32"
    return "uint8" if unrounded else kind.dtype


def encoded_dtype_problems(
    kind: Resized, stored: tuple[str, ...] = ("uint8",)
) -> Iterator[Problem]:
    """Yield what is wrong with the dtype of encoded images.

    Args:
        kind: the kind of images.
        stored: the dtypes of pixels that its encoding holds.
    """
    dtype, found = kind.dtype, f"dtype={kind.dtype!r} with encoding={kind.encoding!r}"
    if isinstance(dtype, str) and dtype == "float32":
        if kind.resize is None:
            yield Problem(
                f"{found} without resize",
                f"{' or '.join(stored)}, or resize=(height, width)",
                "encoded pixels are integers; only resized ones may stay float32",
            )
        return
    allowed = stored if kind.resize is None else (*stored, "float32")
    if len(stored) > 1:
        yield from choice_problems("dtype", dtype, allowed)
    elif not isinstance(dtype, str) or dtype not in allowed:
        advice = "PNG has uint16 too" if dtype == "uint16" else ""
        yield Problem(found, " or ".join(allowed), advice)


def resize_problems(kind: Resized) -> Iterator[Problem]:
    """Yield what is wrong with a size to bring images to, and with how."""
    resize, interpolation = kind.resize, kind.interpolation
    yield from choice_problems("interpolation", interpolation, INTERPOLATIONS)
    yield from flag_problems(
        antialias=kind.antialias, scaled_decoding=kind.scaled_decoding
    )
    if resize is None:
        given = {
            "interpolation='nearest'": interpolation == "nearest",
            "antialias=True": kind.antialias is True,
            "scaled_decoding=True": kind.scaled_decoding is True,
        }
        for parameter, is_given in given.items():
            if is_given:
                yield Problem(f"{parameter} without resize", "resize=(height, width)")
    elif not is_shape(resize) or len(cast("tuple[int, ...]", resize)) != 2:
        yield sizes_problem("resize", resize, "(height, width) in pixels")
    if kind.antialias is True and interpolation == "nearest":
        yield Problem(
            "antialias=True with interpolation='nearest'",
            "interpolation='bilinear'",
            "nearest copies single pixels and does not filter",
        )
    if kind.scaled_decoding is True and kind.encoding != "jpeg":
        yield Problem(
            f"scaled_decoding=True with encoding={kind.encoding!r}",
            "encoding='jpeg'",
            "images of other formats are decoded at full size only",
        )
