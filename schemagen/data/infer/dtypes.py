"""The likely dtype of raw numbers, judged by their values.

Floats have exponents that are near to each other, small integers have high bytes that
repeat their sign, and single bytes have the same distribution at every place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_MOST_BYTES = 1 << 19

# By size, floats first, since their bits make no small integers.
SIZES = {
    8: ("float64", "int64"),
    4: ("float32", "int32", "uint32"),
    2: ("float16", "bfloat16", "int16", "uint16"),
    1: ("uint8", "int8", "bool"),
}

FLOATS = ("float64", "float32")

# Binary logarithms of numbers that people store, which integers do not have if they are
# read as floats, and the share of numbers that has to be usual.
_LOW, _HIGH = -120, 40
_USUAL_SHARE = 0.99

# By how much the high bytes of numbers have to differ from their low bytes.
_UNEVEN, _ALWAYS_UNEVEN = 0.35, 0.7
_BINS = 16

# The bits of the largest integers that people store in so many bytes.
_LARGEST_BITS = {8: 39, 4: 23}

# Fewer numbers tell nothing of that.
_FEW = 4


class Guess(NamedTuple):
    """A dtype that bytes may have.

    Attributes:
        dtype: the most likely one.
        others: others that have not been excluded, the likelier first.
        clear: whether the values say so, rather than that nothing else is known.
    """

    dtype: str
    others: tuple[str, ...]
    clear: bool


def guess_dtype(samples: Sequence[bytes], size: int = 0) -> Guess:
    """Return the likely dtype of raw numbers.

    Args:
        samples: some values.
        size: the bytes of a number, if they are known; 0 if they are not.
    """
    joined = _joined(samples)
    usable = (
        [size]
        if size
        else [s for s in SIZES if not any(len(each) % s for each in samples)]
    )
    if {len(sample) for sample in samples} <= {4, 8}:
        usable = [item for item in usable if item >= 4]  # a number, rather than bytes
    found = {item: _dtype_of(joined, item) for item in usable} if joined.any() else {}
    for item, dtype in found.items():
        if dtype and (item in (1, size) or _is_uneven(joined, item)):
            others = [other for other in found.values() if other]
            return Guess(dtype, _others(dtype, [*SIZES[item], *others]), item > 1)
    # Zeros fit everything. Of a known size, numbers without a pattern are integers.
    dtype = {8: "int64", 4: "int32", 2: "uint16", 1: "uint8"}[min(usable)]
    every = [dtype for item in usable for dtype in SIZES[item]]
    return Guess(dtype, _others(dtype, every), False)


def _others(dtype: str, possible: Sequence[str]) -> tuple[str, ...]:
    return tuple(other for other in dict.fromkeys(possible) if other != dtype)


def item_bytes(dtype: str) -> int:
    """Return the bytes of one number."""
    return next(size for size, dtypes in SIZES.items() if dtype in dtypes)


def _joined(samples: Sequence[bytes]) -> NDArray[np.uint8]:
    """Return bytes of all samples, cut where numbers of 8 bytes end: uint8 [N]."""
    each = _MOST_BYTES // max(1, len(samples))
    parts = [sample[: min(each, len(sample)) // 8 * 8 or None] for sample in samples]
    return np.frombuffer(b"".join(parts), np.uint8)


def as_numbers(joined: NDArray[np.uint8], dtype: str) -> NDArray[Any]:
    """Return bytes as the numbers that they hold whole: [N]."""
    item = np.dtype(dtype).newbyteorder("<")
    return joined[: len(joined) // item.itemsize * item.itemsize].view(item)


def _is_uneven(joined: NDArray[np.uint8], size: int) -> bool:
    """Return whether the halves of numbers are unlike: two numbers would be alike."""
    rows = joined[: len(joined) // size * size].reshape(-1, size)
    rows = rows[rows.any(axis=1)]
    if len(rows) < _FEW:
        return True
    halves = rows[:, size // 2 :], rows[:, : size // 2]
    # Small integers have a half that only repeats their sign.
    signs = (
        (half == half[:, :1]).all(1) & np.isin(half[:, 0], (0, 255)) for half in halves
    )
    shares = (
        np.bincount(half[:, -1] >> 4, minlength=_BINS) / len(rows) for half in halves
    )
    high, low = (sign.mean() for sign in signs)
    # Few numbers differ by chance.
    least = min(_UNEVEN + 2 / len(rows) ** 0.5, _ALWAYS_UNEVEN)
    return bool(max(high - low, np.abs(np.subtract(*shares)).sum() / 2) > least)


def _is_float(joined: NDArray[np.uint8], dtype: str) -> bool:
    """Return whether numbers that are not 0 are of sizes that people store."""
    with np.errstate(all="ignore"):
        values = as_numbers(joined, dtype).astype(np.float64)
        sizes = np.log2(np.abs(values[values != 0]))
    usual = (sizes > _LOW) & (sizes < _HIGH)
    return bool(len(sizes)) and bool(usual.mean() >= _USUAL_SHARE)


def _dtype_of(joined: NDArray[np.uint8], size: int) -> str:
    """Return the dtype that numbers of so many bytes seem to have; "" for none."""
    if size == 1:
        return "uint8"
    if size < 8 and (joined[3::4] == 255).all():
        return ""  # pixels with an alpha channel
    values = as_numbers(joined, f"int{8 * size}")
    if size == 2:
        # Negative numbers near 0 have high bytes full of ones.
        negative = np.isin(joined[1::2], (0xFE, 0xFF)).any() and (values > 0).any()
        found = "int16" if negative else "uint16"
        return found if _is_uneven(joined, 2) else ""
    if _is_float(joined, f"float{8 * size}"):
        return f"float{8 * size}"
    limit = 1 << _LARGEST_BITS[size]
    small = ((values >= -limit) & (values < limit)).all()
    return f"int{8 * size}" if small else ""
