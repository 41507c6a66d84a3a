"""In which order raw pixels are stored, as far as real pictures tell.

Neighbouring pixels of a picture are alike. Read in another order than that in which they
were written, those that come to stand side by side are of other places or colours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .numbers import Rows

_MUCH = 2
"""How many times more neighbours have to differ in every other order."""

LAST, FIRST, TURNED = "last", "first", "turned"


@dataclass(frozen=True)
class Order:
    """What neighbours say.

    Attributes:
        differences: how much they differ in the mean, in each order.
    """

    differences: dict[str, float]

    @property
    def clear(self) -> str:
        """The order in which they differ much less than in all others; "" if none."""
        if len(self.differences) < 2:
            return ""
        (best, least), (_, next_best), *_ = self._sorted()
        return best if least * _MUCH < next_best else ""

    def _sorted(self) -> list[tuple[str, float]]:
        return sorted(self.differences.items(), key=lambda item: item[1])

    def said(self, channels: int | None) -> str:
        """Say by how much neighbours differ in each order, if that is clear."""
        if not self.clear:
            return ""
        each = (
            f"by {much:.1f} as {order_name(name, channels)}"
            for name, much in self._sorted()
        )
        return f"neighbouring pixels differ {', '.join(each)}"


def order_name(order: str, channels: int | None) -> str:
    """Return an order in words: height x width x 3; None for channels that vary."""
    sizes = "width x height" if order == TURNED else "height x width"
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
    if order.clear == TURNED:
        said += f", so that {height_key} seems to be the width"
    return said


def order_of(samples: Sequence[bytes], sizes: Rows) -> Order:
    """Compare neighbours in all orders that pixels may have.

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
        ways = {LAST: pixels.reshape(height, width, channels)}
        if channels > 1:
            ways[FIRST] = pixels.reshape(channels, height, width).transpose(1, 2, 0)
        if height != width:
            ways[TURNED] = pixels.reshape(width, height, channels)
        for name, picture in ways.items():
            found.setdefault(name, []).append(_difference(picture))
    whole = {
        name: each for name, each in found.items() if len(each) == len(found[LAST])
    }
    return Order({name: float(np.mean(each)) for name, each in whole.items()})


def _difference(picture: NDArray[np.int16]) -> float:
    """Return how much pixels differ from those below and next to them, in the mean."""
    down = np.abs(np.diff(picture, axis=0)).mean()
    right = np.abs(np.diff(picture, axis=1)).mean()
    return float(down + right) / 2
