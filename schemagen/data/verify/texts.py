"""Text in UTF-8."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..columns import Column
from ..varint_arrays import gathered
from .faults import Passed, refused, shown_bytes


def utf8(column: Column) -> Passed:
    """Check that all values are UTF-8."""
    bad = _not_utf8(column)
    if not len(bad):
        return column
    rows = np.zeros(len(column), np.bool_)
    rows[np.searchsorted(np.cumsum(column.lengths), bad, "right")] = True

    def found(wrong: Column, at: int) -> str:
        values = wrong.row_values(at)
        return next(shown_bytes(v) for v in values if not _is_utf8(v))

    def cause(wrong: Column, at: int) -> str:
        value = next(v for v in wrong.row_values(at) if not _is_utf8(v))
        if value.startswith((b"\xff\xfe", b"\xfe\xff")):
            return "text in UTF-16"
        if b"\0" in value:
            return "bytes that are no text: declare Scalar('bytes')"
        return f"text in Latin-1 or the like: {shown_bytes(_as_latin(value))}?"

    return (
        yield from refused(
            column, rows, "SG531", "text is not UTF-8", "UTF-8", found, cause
        )
    )


def _as_latin(value: bytes) -> bytes:
    return value.decode("latin-1").encode()


def _not_utf8(column: Column) -> NDArray[np.intp]:
    """Return which values are not."""
    if not len(column.values):
        return np.empty(0, np.intp)
    view = column.data.data
    starts, stops = column.values[:, 0], column.values[:, 1]
    joined = gathered(column.data, view, starts, stops)
    if not len(joined) or joined.max() < 0x80:
        return np.empty(0, np.intp)
    return np.array(
        [
            at
            for at, (start, stop) in enumerate(column.values.tolist())
            if not _is_utf8(bytes(view[start:stop]))
        ],
        np.intp,
    )


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True
