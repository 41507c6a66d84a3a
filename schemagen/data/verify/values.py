"""Values: ranges of numbers, their bytes when stored raw, and text in UTF-8."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kinds.field import FieldSpec
from ...kinds.storage import Entry
from ...runtime.shared.values import FLOATS, item_size, shape_text
from ..columns import Column, Rows
from ..transfer import from_base64, from_raw
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
    shown_bytes,
    sizes_of,
    stored,
    typed,
)


def by_storage(field: FieldSpec, units: Units) -> Passed:
    """Check the lists of a field by their storage, those of its values first."""
    shape = getattr(field.kind, "shape", ())
    finite = bool(getattr(field.kind, "finite", False))
    first, *others = field.storage
    column = yield from fixed_values(units, first, shape, finite=finite)
    for entry in others:
        yield from fixed_values(units, entry, (), finite=finite)
    return column


def fixed_values(
    units: Units,
    entry: Entry,
    shape: Sequence[int],
    *,
    finite: bool,
    filled: bool = False,
) -> Passed:
    """Check values by their storage: numbers of a shape, or strings.

    Args:
        units: what to check.
        entry: where the values are.
        shape: of the numbers in each.
        finite: whether floats have to be finite.
        filled: whether raw bytes that are empty count as absent.
    """
    dtype = entry.dtype
    if entry.encoding == "raw":
        size = prod(shape) * item_size(dtype)
        text = f"{size} bytes ({dtype} {shape_text(shape)})"
        single = f"{size} bytes" if filled else text
        column = yield from single_bytes(units, entry, single, filled=filled)
        return (yield from raw_values(column, text, dtype, size, finite=finite))
    if entry.transfer_encoding:
        return (yield from single_bytes(units, entry, "bytes"))
    text = amount(entry.count, kind_of(entry))
    if entry.stored != "bytes":
        text = f"{text} ({dtype} {shape_text(shape)})"
    return (yield from listed_values(units, entry, text, finite))


def listed_values(units: Units, entry: Entry, expected: str, finite: bool) -> Passed:
    """Check a list of numbers or strings, and each of its values."""
    column = yield from stored(units, entry, expected)
    return (yield from of_dtype(column, entry, finite=finite))


def single_bytes(
    units: Units, entry: Entry, expected: str, *, filled: bool = False
) -> Passed:
    """Check that rows have one bytes value; return what it holds.

    With `filled` an empty value counts as absent.
    """
    column = yield from typed(units, entry, expected)
    column = yield from counted(column, 1, f"1 bytes value: {expected}")
    if entry.transfer_encoding:
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
        column = only(content, ~bad)
    return only(column, sizes_of(column) > 0) if filled else column


def _cause_of_text(data: bytes) -> str:
    what = what_it_is(data)
    return f"{what} as it is: declare it without transfer_encoding" if what else ""


def raw_values(
    column: Column, expected: str, dtype: str, size: int | None, *, finite: bool
) -> Passed:
    """Check raw numbers, and guess how those of a wrong size came to be.

    Args:
        column: one value in each row.
        expected: what should be there.
        dtype: of the numbers.
        size: how many bytes each value has; None for those of whole numbers.
        finite: whether floats have to be finite.
    """
    sizes = sizes_of(column)
    column = yield from refused(
        column,
        sizes % item_size(dtype) != 0 if size is None else sizes != size,
        "SG525",
        "wrong size of raw bytes",
        expected,
        lambda wrong, at: f"{sizes_of(wrong)[at]} bytes",
        lambda wrong, at: cause_of_size(wrong.bytes_at(at), dtype, size),
    )
    return (yield from finite_bytes(column, dtype)) if finite else column


def of_dtype(column: Column, entry: Entry, *, finite: bool) -> Passed:
    """Check the values of a list by their storage: UTF-8, range, or that they are finite."""
    dtype, values = entry.dtype, column.values
    if dtype == "string":
        return (yield from _utf8(column))
    if dtype == "float32":
        return (yield from _finite(column)) if finite else column
    if entry.bounds is None:
        return column
    low, high = entry.bounds
    what = "number out of the dtype's range"
    expected = "0 or 1 for a bool" if dtype == "bool" else f"{dtype}, {low} to {high}"
    bad = outside(values, low, high)
    return (
        yield from refused_values(column, bad, "SG526", what, expected, _wider(dtype))
    )


def outside(values: Rows, low: int | None, high: int | None) -> NDArray[np.bool_]:
    """Tell which values are out of a range; None where it has no end."""
    bad = np.zeros(len(values), np.bool_)
    if low is not None and values.min(initial=low) < low:
        bad |= values < low
    if high is not None and values.max(initial=high) > high:
        bad |= values > high
    return bad


def _wider(dtype: str) -> Callable[[Any], str]:
    def cause(value: Any) -> str:
        if dtype == "bool":
            return "a number, or a bool that was written as one: declare an integer"
        for other in (f"u{dtype}", dtype.removeprefix("u"), "int32", "uint32"):
            if other in np.sctypeDict and other != dtype:
                bounds = np.iinfo(other)
                if bounds.min <= int(value) <= bounds.max:
                    return f"written as {other}?"
        return "written as int64?"

    return cause


def _utf8(column: Column) -> Passed:
    """Check that all values are UTF-8."""
    starts, stops = column.values[:, 0], column.values[:, 1]
    joined = gathered(column.data, column.data.data, starts, stops)
    if not len(joined) or joined.max() < 0x80:
        return column
    bad = [not _is_utf8(value) for value in column.bytes_values()]
    return (
        yield from refused_values(
            column,
            np.array(bad, np.bool_),
            "SG531",
            "text is not UTF-8",
            "UTF-8",
            _cause_of_bytes,
            shown_bytes,
        )
    )


def _cause_of_bytes(value: bytes) -> str:
    if value.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "text in UTF-16"
    if b"\0" in value:
        return "bytes that are no text: declare Scalar('bytes')"
    latin = value.decode("latin-1").encode()
    return f"text in Latin-1 or the like: {shown_bytes(latin)}?"


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _finite(column: Column, found: Callable[[Any], str] | None = None) -> Passed:
    bad, expected = ~np.isfinite(column.values), "finite numbers"
    what = "number is not finite"
    return (
        yield from refused_values(column, bad, "SG532", what, expected, found=found)
    )


def finite_bytes(column: Column, dtype: str) -> Passed:
    """Check that raw floats are finite."""
    if dtype not in FLOATS:
        return column
    text = f"NaN or infinity among {dtype} numbers"
    numbers = yield from _finite(from_raw(column, dtype), lambda value: text)
    return only(column, np.isin(column.rows, numbers.rows))
