"""The dtypes of numbers: what each of them is in memory and in tf.train.Example."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class DType:
    """A dtype of numbers.

    Attributes:
        name: TensorFlow's name.
        size: how many bytes a number has.
        stored: the list of tf.train.Example that holds it without loss, "int64" or
            "float32"; "bytes" if neither does, and it is stored as raw bytes.
        bounds: the least and the greatest number of integers and bools.
        in_numpy: whether numpy has it. The numbers of others are float32 while they are
            checked and read, which holds each of them.
    """

    name: str
    size: int
    stored: str
    bounds: tuple[int, int] | None = None
    in_numpy: bool = True

    @property
    def limits(self) -> tuple[int, int] | None:
        """The bounds, if its list can hold numbers that are out of them."""
        return self.bounds if self.stored == "int64" and self.size < 8 else None

    @property
    def numpy(self) -> np.dtype[Any]:
        """The dtype in numpy, or that of ml_dtypes where numpy has none.

        Raises:
            ModuleNotFoundError: ml_dtypes is not installed; says how to install it.
        """
        if self.in_numpy:
            return np.dtype(self.name)
        from .requirements import ml_dtypes

        found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, self.name))
        return found

    @property
    def memory(self) -> np.dtype[Any]:
        """The dtype of its numbers while they are checked and read."""
        return np.dtype(self.name if self.in_numpy else "float32")


def _integers(bits: int) -> tuple[DType, DType]:
    half = 1 << (bits - 1)
    unsigned = "int64" if bits < 64 else "bytes"
    return (
        DType(f"int{bits}", bits // 8, "int64", (-half, half - 1)),
        DType(f"uint{bits}", bits // 8, unsigned, (0, 2 * half - 1)),
    )


_SIGNED, _UNSIGNED = zip(*map(_integers, (8, 16, 32, 64)), strict=True)

DTYPES: dict[str, DType] = {
    each.name: each
    for each in (
        DType("bool", 1, "int64", (0, 1)),
        *_SIGNED,
        *_UNSIGNED,
        DType("float16", 2, "bytes"),
        DType("bfloat16", 2, "bytes", in_numpy=False),
        DType("float32", 4, "float32"),
        DType("float64", 8, "bytes"),
        DType("complex64", 8, "bytes"),
        DType("complex128", 16, "bytes"),
    )
}
"""All dtypes, by name."""

PARTS = {"complex64": "float32", "complex128": "float64"}
"""The dtype of the two parts of a complex number."""

NUMBERS = tuple(name for name in DTYPES if name not in PARTS)
"""All but complex numbers, which only arrays of a shape hold."""

STRINGS = ("string", "bytes")
"""What is text in UTF-8, and what is opaque."""

ITEMS = (*NUMBERS, *STRINGS)
"""What the items of lists may be."""

INTEGERS = tuple(each.name for each in (*_SIGNED, *_UNSIGNED))
FLOATS = tuple(name for name in NUMBERS if DTYPES[name].bounds is None)
INEXACT = (*FLOATS, *PARTS)
"""What may be NaN or infinite."""

RAW_ONLY = tuple(name for name, each in DTYPES.items() if each.stored == "bytes")
"""What is stored as raw bytes always."""

LISTED = tuple(name for name in NUMBERS if name not in RAW_ONLY)
"""What a list of tf.train.Example holds without loss."""


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
