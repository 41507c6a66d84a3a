"""Floats: rounding to bfloat16, comparing them with integers, finding NaN."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Up to this many numbers are summed up to see whether all are finite; for longer
# arrays numpy's library would start threads.
_SUMMED = 8192


def round_to_bfloat16(array: NDArray[Any]) -> NDArray[np.float32]:
    """Round to the nearest bfloat16, ties to even; returned as float32."""
    with np.errstate(over="ignore", invalid="ignore"):
        single = array.astype(np.float32)
    bits = single.view(np.uint32)
    if array.dtype.kind == "f" and array.dtype.itemsize > 4:
        # Rounding twice would make a tie of what is next to one. The first time goes
        # towards zero, with the last bit set to tell that something was cut off.
        cut = np.isfinite(single) & (single != array)
        bits = bits - (cut & (np.abs(single) > np.abs(array)))
        bits = np.where(cut, bits | np.uint32(1), bits)
    half = np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    rounded = ((bits + half) & np.uint32(0xFFFF0000)).view(np.float32)
    return np.where(np.isfinite(single), rounded, single)


def same_integers(floats: NDArray[Any], integers: NDArray[Any]) -> NDArray[np.bool_]:
    """Compare without the rounding of a comparison in float64."""
    wide = floats.astype(np.float64)
    inside = (wide >= -(2.0**63)) & (wide < 2.0**63)
    back = np.where(inside, wide, 0.0).astype(np.int64)
    same = inside & (back == integers)
    if integers.dtype == np.uint64:
        high = (wide >= 2.0**63) & (wide < 2.0**64)
        same |= high & (np.where(high, wide, 0.0).astype(np.uint64) == integers)
    return np.asarray(same)


def all_finite(array: NDArray[Any]) -> bool:
    """Return whether no number of an array is NaN or infinite.

    The sum of squares is finite only if all of them are: one call for a short array.
    Where large numbers make it infinite each is looked at.
    """
    if array.size <= _SUMMED and isfinite(np.vdot(array, array)):
        return True
    return bool(np.isfinite(array).all())
