"""Stored values: base64 text, UTF-8, raw numbers, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..native import BYTES, FLOAT, INT64, joined
from ..reading.columns import Column
from ..shared import base64_text
from ..shared.errors import Problem
from ..shared.images import sniff
from ..shared.values import FLOATS, item_size
from .faults import Passed, refused, refused_values, shown_bytes

_NAMES = {
    1: "uint8",
    2: "float16 or int16",
    4: "float32 or int32",
    8: "float64 or int64",
}


def checked_base64(column: Column, expected: str) -> Passed:
    """Decode the base64 text of a column of bytes."""
    contents: list[bytes] = []
    bad, texts = np.zeros(len(column), np.bool_), []
    for at, text in enumerate(column.bytes_values()):
        try:
            contents.append(base64_text.decoded(text))
        except Problem as problem:
            contents.append(b"")
            texts.append(problem.found)
            bad[at] = True
    yield from refused(
        column,
        bad,
        "SG528",
        "bytes are not base64 text",
        f"base64 text of {expected}",
        lambda _, at: texts[at],
        lambda wrong, at: _cause_of_text(wrong.bytes_at(at)),
    )
    return of_bytes(column, contents).only(~bad)


def _cause_of_text(data: bytes) -> str:
    form = sniff(data)
    return f"a {form} as it is: declare it without transfer_encoding" if form else ""


def of_bytes(column: Column, contents: list[bytes]) -> Column:
    """Return a column with other bytes values, one for each of its own."""
    bounds = np.cumsum([0, *map(len, contents)], dtype=np.int64)
    values = np.stack([bounds[:-1], bounds[1:]], axis=1)
    data = np.frombuffer(b"".join(contents), np.uint8)
    return replace(column, values=values, data=data)


def raw_numbers(column: Column, dtype: str) -> Column:
    """Return the numbers of raw bytes, all those of a row together.

    Args:
        column: one value in each row, of whole numbers.
        dtype: of the numbers; those of bfloat16 become float32.
    """
    data = joined(column.data, column.values)
    values: NDArray[Any]
    if dtype == "bfloat16":  # the first half of a float32
        values = (data.view("<u2").astype(np.uint32) << 16).view(np.float32)
    else:
        values = data.view(np.dtype(dtype).newbyteorder("<"))
    kind = FLOAT if values.dtype.kind == "f" else INT64
    lengths = column.sizes // item_size(dtype)
    return replace(column, kind=kind, lengths=lengths, values=values)


def checked_size(column: Column, expected: str, dtype: str, size: int | None) -> Passed:
    """Check the size of raw numbers.

    Args:
        column: one value in each row.
        expected: what should be there.
        dtype: of the numbers.
        size: the bytes of each value; None for any whole number of numbers.
    """
    sizes = column.sizes
    return (
        yield from refused(
            column,
            sizes % item_size(dtype) != 0 if size is None else sizes != size,
            "SG525",
            "wrong size of raw bytes",
            expected,
            lambda wrong, at: f"{wrong.sizes[at]} bytes",
            lambda wrong, at: cause_of_size(wrong.bytes_at(at), dtype, size),
        )
    )


def checked_finite(column: Column, dtype: str, finite: bool = True) -> Passed:
    """Check that floats are finite, raw ones too, if they have to be."""
    if not finite or dtype not in FLOATS:
        return column
    found: Callable[[Any], str] | None = None
    numbers = column
    if column.kind == BYTES:
        numbers = raw_numbers(column, dtype)
        text = f"NaN or infinity among {dtype} numbers"
        found = lambda value: text  # noqa: E731
    bad, what = ~np.isfinite(numbers.values), "number is not finite"
    passed = yield from refused_values(
        numbers, bad, "SG532", what, "finite numbers", found=found
    )
    return column.only(np.isin(column.rows, passed.rows))


def cause_of_size(data: bytes, dtype: str, size: int | None) -> str:
    """Guess why raw bytes have another size than `size`, or return ""."""
    form = sniff(data)
    if form:
        return f"they begin like a {form}: declare that encoding in the schema"
    if not data:
        return "nothing was written"
    item = item_size(dtype)
    for other, names in _NAMES.items():
        if size and other != item and len(data) * item == size * other:
            return (
                f"that is the size of as many {names} numbers: stored as such, read "
                f"as {dtype}?"
            )
    return ""


def checked_utf8(column: Column) -> Passed:
    """Check that all values are UTF-8."""
    data = joined(column.data, column.values)
    if not len(data) or data.max() < 0x80:
        return column
    bad = np.array([not _is_utf8(value) for value in column.bytes_values()], np.bool_)
    return (
        yield from refused_values(
            column,
            bad,
            "SG531",
            "text is not UTF-8",
            "UTF-8",
            _cause_of_bytes,
            shown_bytes,
        )
    )


def _cause_of_bytes(value: bytes) -> str:
    if b"\0" in value:
        return "bytes that are not text: declare Scalar('bytes')"
    latin = value.decode("latin-1").encode()
    return f"text in Latin-1 or the like: {shown_bytes(latin)}?"


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True
