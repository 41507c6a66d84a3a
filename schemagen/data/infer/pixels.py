"""Pictures among numbers: neighbors are similar, in rows and in columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Of the difference of any two numbers, what that of neighbors may be in a picture.
_ALIKE, _ALIKE_UNLESS_SQUARE = 0.6, 0.4

_MORE_ALIKE = 1.2

# Of the difference of pixels a quarter of a row off, what that of rows may be.
_ALIKE_ROWS = 0.9
_SMALLEST_SIDE, _MOST_CHANNELS = 8, (3, 1, 4)
_MOST_NUMBERS = 1 << 19


def picture_shape(
    numbers: Sequence[NDArray[Any]], *, square: bool = False
) -> tuple[int, int, int] | None:
    """Return the shape of pictures, (height, width, channels); None if none fits.

    Args:
        numbers: some lists of equally many numbers, [N] each.
        square: whether pictures are squares.
    """
    size = len(numbers[0]) if numbers else 0
    if size < _SMALLEST_SIDE**2:
        return None
    some = numbers[: max(1, _MOST_NUMBERS // size)]
    values = np.stack([np.asarray(each, np.float64) for each in some])
    if not np.isfinite(values).all():
        return None
    mixed = np.random.default_rng(0).permuted(values, axis=1)
    any_two = float(np.abs(values - mixed).mean())
    found: dict[tuple[int, int, int], float] = {}
    for height, width, channels in _sides(size):
        if square and height != width:
            continue
        for shape, pixel in (
            ((height, width, channels), channels),
            ((channels, height, width), 1),
        ):
            row = width * pixel
            next_to, below, *off = (
                _step(values, step)
                for step in (pixel, row, row - row // 4, row + row // 4)
            )
            near = max(next_to, below)
            alike = _ALIKE if height == width else _ALIKE_UNLESS_SQUARE
            if near < alike * any_two and below < _ALIKE_ROWS * min(off):
                found.setdefault(shape, near)
    if not found:
        return None
    # A square is no accident, unless others are more alike, but for its own colors in a
    # row, which are often as alike as neighbors.
    best = min(found, key=lambda shape: (found[shape], 1 not in shape))
    least = found[best] * _MORE_ALIKE
    squares = [
        shape
        for shape in found
        if len({*shape}) < 3
        and (found[shape] <= least or best == (shape[0], shape[1] * 3, 1))
    ]
    # Of several channels, one after the other, any number would be as alike.
    return min(squares or [best], key=lambda shape: (found[shape], 1 not in shape))


def square_picture(size: int) -> tuple[int, int, int] | None:
    """Return the shape of a square picture of so many numbers; None if there is none."""
    for channels in (3, 1):
        side = isqrt(size // channels)
        if side >= _SMALLEST_SIDE and side * side * channels == size:
            return side, side, channels
    return None


def _sides(size: int) -> Iterator[tuple[int, int, int]]:
    """Yield heights, widths and channels of so many numbers, squares first."""
    for channels in _MOST_CHANNELS:
        pixels, rest = divmod(size, channels)
        side = isqrt(pixels)
        if rest or side < _SMALLEST_SIDE:
            continue
        if side * side == pixels:
            yield side, side, channels
        for height in range(max(_SMALLEST_SIDE, side // 2), 2 * side):
            width, rest = divmod(pixels, height)
            if not rest and height != width and width >= _SMALLEST_SIDE:
                yield height, width, channels


def _step(values: NDArray[np.float64], step: int) -> float:
    """Return how much numbers that are so far apart differ, in the mean."""
    return float(np.abs(values[:, step:] - values[:, :-step]).mean())
