"""Floats: dtypes that numpy lacks, comparing them with integers, finding NaN."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .dtypes import DType

# Up to this many numbers are summed up to see whether all are finite; for longer
# arrays numpy's library would start threads.
_SUMMED = 8192


def rounded(array: NDArray[Any], dtype: DType) -> NDArray[np.float32]:
    """Round to the nearest numbers of a dtype that numpy lacks, ties to even."""
    if dtype.name == "bfloat16":  # for which no ml_dtypes is needed
        return _rounded_to_bfloat16(array)
    return array.astype(dtype.numpy).astype(np.float32)


def bits_of(array: NDArray[np.float32], dtype: DType) -> NDArray[Any]:
    """Return rounded numbers as the little-endian numbers to store."""
    if dtype.name == "bfloat16":  # the first half of a float32
        bits = np.ascontiguousarray(array).view(np.uint32)
        return (bits >> np.uint32(16)).astype("<u2")
    return np.ascontiguousarray(array.astype(dtype.numpy)).view(f"<u{dtype.size}")


def from_bits(data: NDArray[np.uint8], dtype: DType) -> NDArray[np.float32]:
    """Return the numbers of a dtype that numpy lacks, given their bytes."""
    if dtype.name == "bfloat16":
        return (data.view("<u2").astype(np.uint32) << 16).view(np.float32)
    return data.view(dtype.numpy).astype(np.float32)


def _rounded_to_bfloat16(array: NDArray[Any]) -> NDArray[np.float32]:
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
    nearest = ((bits + half) & np.uint32(0xFFFF0000)).view(np.float32)
    return np.where(np.isfinite(single), nearest, single)


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
