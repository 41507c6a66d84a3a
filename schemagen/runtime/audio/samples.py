"""Samples of sound: 16-bit integers, and floats that are these divided by 32,768."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import Problem
from ..shared.values import Numbers

SCALE = 1 << 15
"""What an integer is divided by to be a float in [-1, 1)."""


class Samples(Numbers):
    """The samples of an array, as int16 or float32.

    Floats become integers by rounding, and 1.0 becomes 32,767. Integers become floats
    exactly.
    """

    def convert(self, value: object) -> NDArray[Any]:
        """Return samples as the declared dtype, of whatever shape.

        Raises:
            Problem: integers out of the range of int16, floats above 1 or below -1
                that should become integers, or no numbers.
        """
        array = value if isinstance(value, np.ndarray) else self._from_python(value)
        if array.dtype.kind in "iu":
            if array.dtype == np.uint8:  # 128 is silence
                advice = "of 8-bit samples x pass (x - 128.0) / 128"
                raise Problem("uint8 values", "int16, or floats from -1 to 1", advice)
            integers = Numbers("int16").convert(array)
            return integers if self.dtype == "int16" else as_floats(integers)
        floats = Numbers("float32").convert(array)
        return as_integers(floats) if self.dtype == "int16" else floats


def as_floats(
    integers: NDArray[Any], out: NDArray[np.float32] | None = None
) -> NDArray[np.float32]:
    """Return int16 samples as floats in [-1, 1), in given memory if there is some."""
    scale = np.float32(1 / SCALE)
    found: NDArray[np.float32] = np.multiply(integers, scale, out, dtype=np.float32)
    return found


def as_integers(floats: NDArray[Any]) -> NDArray[np.int16]:
    """Return floats in [-1, 1] as the nearest int16.

    Raises:
        Problem: a sample is outside, or NaN.
    """
    right = np.abs(floats) <= 1
    if not right.all():
        wrong = floats[~right].flat[0]
        advice = "divide the samples by the largest, or clip them"
        advice = "" if np.isnan(wrong) else advice
        raise Problem(f"a sample of {wrong:g}", "samples from -1 to 1", advice)
    scaled = np.rint(floats * np.float32(SCALE))
    return np.minimum(scaled, SCALE - 1).astype(np.int16)
