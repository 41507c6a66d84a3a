"""The order of raw pixels, and whether numbers are pixels at all, told by neighbors.

Neighbors are alike in a picture. Read in another order, pixels of other places or colors
come to be neighbors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import isqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...runtime.reading.columns import Rows

LAST, FIRST, SWAPPED = "last", "first", "swapped"

# How many times as much neighbors have to differ in every other order.
_MUCH = 2

# Of the difference of any two numbers, what that of neighbors may be in a picture.
_ALIKE, _ALIKE_UNLESS_SQUARE = 0.6, 0.4

_MORE_ALIKE = 1.2

# Of the difference of pixels a quarter of a row off, what that of rows may be.
_ALIKE_ROWS = 0.9
_SMALLEST_SIDE, _MOST_CHANNELS = 8, (3, 1, 4)
_MOST_NUMBERS, _MOST_SHAPES = 1 << 19, 3


class Order(NamedTuple):
    """How much neighboring pixels differ in the mean, in each order."""

    differences: dict[str, float]

    @property
    def clear(self) -> str:
        """The order in which they differ much less than in all others; "" if none."""
        names = sorted(self.differences, key=self.differences.__getitem__)
        if len(names) < 2:
            return ""
        least, more = (self.differences[name] for name in names[:2])
        return names[0] if least * _MUCH < more else ""

    def said(self, channels: int | None) -> str:
        """Say by how much neighbors differ in each order."""
        found = sorted(self.differences.items(), key=lambda each: each[1])
        each = (
            f"by {much:.1f} as {order_name(name, channels)}" for name, much in found
        )
        return f"neighboring pixels differ {', '.join(each)}"


def order_name(order: str, channels: int | None) -> str:
    """Return an order in words: height x width x 3; None for channels that vary."""
    sizes = "width x height" if order == SWAPPED else "height x width"
    if channels == 1:
        return sizes
    depth = "channels" if channels is None else str(channels)
    return f"{depth} x {sizes}" if order == FIRST else f"{sizes} x {depth}"


def order_doubt(order: Order, channels: int | None, height_key: str) -> str:
    """Ask for the order of pixels that are taken channels last, and say what is seen."""
    said = f"raw pixels, taken as {order_name(LAST, channels)}: "
    if channels != 1:
        said += f"or {order_name(FIRST, channels)}, and "
    said += f"is {height_key} the height?"
    if order.clear:
        said += f" {order.said(channels).capitalize()}"
    if order.clear == SWAPPED:
        said += f", so {height_key} seems to be the width"
    return said


def resize_doubt(sizes: Iterable[Sequence[int]], then: str = "") -> str:
    """Say which sizes pictures have, heights and widths, and what that asks for."""
    ordered = sorted(sizes, key=lambda size: (size[0] * size[1], size))
    low, high = ("x".join(map(str, ordered[at][:2])) for at in (0, -1))
    then = then or ": batches of several need resize=(height, width)"
    return f"sizes from {low} to {high}{then}"


def order_of(samples: Sequence[bytes], sizes: Rows) -> Order:
    """Compare neighbors in all orders that pixels may have.

    Args:
        samples: some pictures, of uint8.
        sizes: int64 [n, 3], the heights, widths and channels that there are.
    """
    found: dict[str, list[float]] = {}
    for sample in samples:
        fitting = np.unique(sizes[np.prod(sizes, axis=1) == len(sample)], axis=0)
        if len(fitting) != 1:
            continue  # cut, or of one of several sizes
        height, width, channels = map(int, fitting[0])
        if min(height, width) < 2:
            continue
        pixels = np.frombuffer(sample, np.uint8).astype(np.int16)
        orders = {LAST: pixels.reshape(height, width, channels)}
        if channels > 1:
            orders[FIRST] = pixels.reshape(channels, height, width).transpose(1, 2, 0)
        if height != width:
            orders[SWAPPED] = pixels.reshape(width, height, channels)
        for name, picture in orders.items():
            found.setdefault(name, []).append(_difference(picture))
    return Order(
        {
            name: float(np.mean(each))
            for name, each in found.items()
            if len(each) == len(found[LAST])
        }
    )


def _difference(picture: NDArray[np.int16]) -> float:
    """Return how much pixels differ from those below and next to them, in the mean."""
    down = np.abs(np.diff(picture, axis=0)).mean()
    right = np.abs(np.diff(picture, axis=1)).mean()
    return float(down + right) / 2


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


def picture_shapes(size: int) -> list[tuple[int, int, int]]:
    """Return the likeliest shapes of a picture of so many numbers, squares first."""
    found = [shape for shape in _sides(size) if shape[0] <= shape[1]]
    return sorted(found, key=lambda shape: shape[1] / shape[0])[:_MOST_SHAPES]


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
