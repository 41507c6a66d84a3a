"""Numbers: their ranges, their bytes when stored raw, and whether they are finite."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...runtime.shared.values import FLOATS, RAW_ONLY, item_size, shape_text
from ..columns import Column
from ..message import BYTES, FLOAT, INT64
from ..varint_arrays import gathered
from .causes import cause_of_size
from .faults import Passed, Units, amount, counted, refused, refused_values, sizes_of
from .faults import stored as stored_

_PARTS = {"complex64": "<f4", "complex128": "<f8"}
_BFLOAT16_EXPONENT = 0x7F80


def list_kind(dtype: str) -> str:
    """Return the kind of list that holds numbers or strings of a dtype."""
    if dtype in ("string", "bytes") or dtype in RAW_ONLY:
        return BYTES
    return FLOAT if dtype == "float32" else INT64


def fixed_numbers(
    units: Units,
    key: str,
    dtype: str,
    shape: Sequence[int],
    *,
    raw: bool,
    optional: bool,
    finite: bool,
) -> Passed:
    """Check numbers of a fixed shape, as a list or as raw bytes."""
    count = prod(shape)
    if raw:
        size = count * item_size(dtype)
        text = f"{size} bytes ({dtype} {shape_text(shape)})"
        column = yield from single_bytes(units, key, optional=optional, expected=text)
        column = yield from raw_sizes(
            column, sizes_of(column) == size, text, dtype, size
        )
        return (yield from finite_bytes(column, dtype)) if finite else column
    kind = list_kind(dtype)
    text = f"{amount(count, kind)} ({dtype} {shape_text(shape)})"
    column = yield from stored_(units, key, kind, optional=optional, expected=text)
    column = yield from counted(column, count, text)
    return (yield from of_dtype(column, dtype, finite=finite))


def single_bytes(units: Units, key: str, *, optional: bool, expected: str) -> Passed:
    """Check that rows have one bytes value."""
    column = yield from stored_(units, key, BYTES, optional=optional, expected=expected)
    return (yield from counted(column, 1, f"1 bytes value: {expected}"))


def raw_sizes(
    column: Column,
    right: NDArray[np.bool_],
    expected: str,
    dtype: str,
    size: int | None,
) -> Passed:
    """Refuse raw values of the wrong size, and guess how they came to be."""

    def found(wrong: Column, at: int) -> str:
        return f"{int(sizes_of(wrong)[at])} bytes"

    def cause(wrong: Column, at: int) -> str:
        return cause_of_size(wrong.bytes_at(at), dtype, size)

    what = "raw bytes of another size"
    return (yield from refused(column, ~right, "SG525", what, expected, found, cause))


def of_dtype(column: Column, dtype: str, *, finite: bool) -> Passed:
    """Check the values of a list of numbers: the dtype's range, or that they are finite."""
    values = column.values
    if not len(values):
        return column
    if dtype == "float32":
        return (yield from _finite(column)) if finite else column
    low, high = (0, 1) if dtype == "bool" else _bounds(dtype)
    if values.min() >= low and values.max() <= high:
        return column
    bad = (values < low) | (values > high)
    what = "a number out of the dtype's range"
    expected = "0 or 1 for a bool" if dtype == "bool" else f"{dtype}, {low} to {high}"
    return (
        yield from refused_values(column, bad, "SG526", what, expected, _wider(dtype))
    )


def _bounds(dtype: str) -> tuple[int, int]:
    bounds = np.iinfo(dtype)
    return int(bounds.min), int(bounds.max)


def _wider(dtype: str) -> Callable[[Any], str]:
    def cause(value: Any) -> str:
        if dtype == "bool":
            return "a number, or a bool that was written as one: declare an integer"
        for other in (f"u{dtype}", dtype.removeprefix("u"), "int32", "uint32"):
            if other in np.sctypeDict and other != dtype:
                low, high = _bounds(other)
                if low <= int(value) <= high:
                    return f"written as {other}?"
        return "written as int64?"

    return cause


def _finite(column: Column) -> Passed:
    bad = ~np.isfinite(column.values)
    what = "a number that is not finite"
    expected = "finite numbers"
    return (yield from refused_values(column, bad, "SG532", what, expected))


def finite_bytes(column: Column, dtype: str) -> Passed:
    """Check that raw floats are finite."""
    if dtype not in FLOATS and dtype not in _PARTS:
        return column
    sizes = sizes_of(column)
    starts, stops = column.values[:, 0], column.values[:, 1]
    data = gathered(column.data, column.data.data, starts, stops)
    if dtype == "bfloat16":
        bits = data.view("<u2")
        numbers = (bits & _BFLOAT16_EXPONENT) == _BFLOAT16_EXPONENT
    else:
        own = _PARTS.get(dtype) or np.dtype(dtype).newbyteorder("<")
        numbers = ~np.isfinite(data.view(own))
    if not numbers.any():
        return column
    item = len(data) // max(1, len(numbers))
    owners = np.searchsorted(np.cumsum(sizes // item), np.flatnonzero(numbers), "right")
    bad = np.zeros(len(column), np.bool_)
    bad[owners] = True
    return (
        yield from refused(
            column,
            bad,
            "SG532",
            "a number that is not finite",
            "finite numbers",
            lambda wrong, at: f"NaN or infinity among {dtype} numbers",
        )
    )
