"""Pictures at another size, with TensorFlow's pixels, by the core in C."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import address, core

Size = tuple[int, int]


def scaled_to(
    pixels: NDArray[Any], size: Size, *, antialias: bool
) -> NDArray[np.float32]:
    """Mix the pixels around each new one, or filter them before the picture shrinks.

    Args:
        pixels: uint8 or float32 [height, width, channels], none of them 0.
        size: (height, width) of the result.
        antialias: whether to filter.

    Raises:
        MemoryError: there is not enough.
    """
    pixels = np.ascontiguousarray(pixels)
    found = np.empty((*size, pixels.shape[2]), np.float32)
    function = core.image_filter if antialias else core.image_mix
    of_floats = pixels.dtype == np.float32
    if not function(address(pixels), of_floats, *pixels.shape, *size, address(found)):
        raise MemoryError
    return found


def rounded(numbers: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Round numbers from 0 to 255, halves to the even one."""
    found = np.empty(numbers.shape, np.uint8)
    core.floats_round(address(numbers), numbers.size, address(found))
    return found


def picked(pixels: NDArray[Any], size: Size) -> NDArray[Any]:
    """Return the old pixel that is nearest to each new one.

    Args:
        pixels: of any dtype, [height, width, channels], none of them 0.
        size: (height, width) of the result.
    """
    pixels = np.ascontiguousarray(pixels)
    height, width, channels = pixels.shape
    found = np.empty((*size, channels), pixels.dtype)
    one = channels * pixels.itemsize
    core.image_pick(address(pixels), one, height, width, *size, address(found))
    return found
