"""The dtypes of numbers: what each of them is in memory and in tf.train.Example."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class DType:
    """A dtype of numbers.

    Attributes:
        name: TensorFlow's name.
        size: how many bytes a number has.
        stored: the list of tf.train.Example that holds it without loss, "int64" or
            "float32"; "bytes" if neither does, and it is stored as raw bytes.
        bounds: the least and the greatest number of integers and bools.
    """

    name: str
    size: int
    stored: str
    bounds: tuple[int, int] | None = None

    @property
    def limits(self) -> tuple[int, int] | None:
        """The bounds, if its list can hold numbers that are out of them."""
        return self.bounds if self.stored == "int64" and self.size < 8 else None

    @property
    def numpy(self) -> np.dtype[Any]:
        """The dtype in numpy, or that of ml_dtypes where numpy has none.

        Raises:
            ModuleNotFoundError: ml_dtypes is not installed.
        """
        if self.name != "bfloat16":
            return np.dtype(self.name)
        import ml_dtypes  # type: ignore[import-not-found, import-untyped, unused-ignore]

        found: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
        return found


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
        DType("bfloat16", 2, "bytes"),
        DType("float32", 4, "float32"),
        DType("float64", 8, "bytes"),
    )
}
"""All dtypes, by name."""

INTEGERS = tuple(each.name for each in (*_SIGNED, *_UNSIGNED))
FLOATS = tuple(name for name, each in DTYPES.items() if each.bounds is None)
RAW_ONLY = tuple(name for name, each in DTYPES.items() if each.stored == "bytes")
"""What is stored as raw bytes always."""
