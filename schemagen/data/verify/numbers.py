"""Numbers: their ranges, their bytes when stored raw, and whether they are finite."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kinds.field import FieldSpec
from ...kinds.storage import Entry
from ...runtime.shared.values import FLOATS, item_size, shape_text
from ..columns import Column
from ..transfer import from_base64
from ..varint_arrays import gathered
from .causes import cause_of_size, what_it_is
from .faults import (
    Passed,
    Units,
    amount,
    counted,
    kind_of,
    only,
    refused,
    refused_values,
    sizes_of,
    stored,
    typed,
)
from .texts import utf8

_BFLOAT16_EXPONENT = 0x7F80


def by_storage(field: FieldSpec, units: Units) -> Passed:
    """Check the lists of a field by their storage, those of its values first."""
    shape = getattr(field.kind, "shape", ())
    finite = bool(getattr(field.kind, "finite", False))
    first, *others = field.storage
    column = yield from fixed_values(
        units, first, shape, optional=field.optional, finite=finite
    )
    for entry in others:
        yield from fixed_values(
            units, entry, (), optional=field.optional, finite=finite
        )
    return column


def fixed_values(
    units: Units,
    entry: Entry,
    shape: Sequence[int],
    *,
    optional: bool,
    finite: bool,
) -> Passed:
    """Check values by their storage: numbers of a shape, or strings."""
    dtype = entry.dtype
    if entry.encoding == "raw":
        size = prod(shape) * item_size(dtype)
        text = f"{size} bytes ({dtype} {shape_text(shape)})"
        column = yield from single_bytes(units, entry, optional=optional, expected=text)
        column = yield from raw_sizes(
            column, sizes_of(column) == size, text, dtype, size
        )
        return (yield from finite_bytes(column, dtype)) if finite else column
    if entry.transfer_encoding:
        return (
            yield from single_bytes(units, entry, optional=optional, expected="bytes")
        )
    text = amount(entry.count, kind_of(entry))
    if entry.stored != "bytes":
        text = f"{text} ({dtype} {shape_text(shape)})"
    column = yield from stored(units, entry, optional=optional, expected=text)
    return (yield from of_dtype(column, entry, finite=finite))


def single_bytes(
    units: Units, entry: Entry, *, optional: bool, expected: str
) -> Passed:
    """Check that rows have one bytes value; return what it holds."""
    column = yield from typed(units, entry, optional=optional, expected=expected)
    column = yield from counted(column, 1, f"1 bytes value: {expected}")
    if not entry.transfer_encoding:
        return column
    content, problems = from_base64(column)
    bad = np.zeros(len(column), np.bool_)
    bad[list(problems)] = True
    texts = [problem.found for problem in problems.values()]
    yield from refused(
        column,
        bad,
        "SG528",
        "bytes are not base64 text",
        f"base64 text of {expected}",
        lambda _, at: texts[at],
        lambda wrong, at: _cause_of_text(wrong.bytes_at(at)),
    )
    return only(content, ~bad)


def _cause_of_text(data: bytes) -> str:
    what = what_it_is(data)
    return f"{what} as it is: declare it without transfer_encoding" if what else ""


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

    what = "wrong size of raw bytes"
    return (yield from refused(column, ~right, "SG525", what, expected, found, cause))


def of_dtype(column: Column, entry: Entry, *, finite: bool) -> Passed:
    """Check the values of a list by their storage: UTF-8, range, or that they are finite."""
    dtype, values = entry.dtype, column.values
    if dtype == "string":
        return (yield from utf8(column))
    if dtype == "float32":
        return (yield from _finite(column)) if finite else column
    if entry.bounds is None or not len(values):
        return column
    low, high = entry.bounds
    assert low is not None
    if values.min() >= low and (high is None or values.max() <= high):
        return column
    bad = values < low
    if high is not None:
        bad |= values > high
    what = "number out of the dtype's range"
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
    what = "number is not finite"
    expected = "finite numbers"
    return (yield from refused_values(column, bad, "SG532", what, expected))


def finite_bytes(column: Column, dtype: str) -> Passed:
    """Check that raw floats are finite."""
    if dtype not in FLOATS:
        return column
    sizes = sizes_of(column)
    starts, stops = column.values[:, 0], column.values[:, 1]
    data = gathered(column.data, column.data.data, starts, stops)
    if dtype == "bfloat16":
        bits = data.view("<u2")
        numbers = (bits & _BFLOAT16_EXPONENT) == _BFLOAT16_EXPONENT
    else:
        numbers = ~np.isfinite(data.view(np.dtype(dtype).newbyteorder("<")))
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
            "number is not finite",
            "finite numbers",
            lambda wrong, at: f"NaN or infinity among {dtype} numbers",
        )
    )
