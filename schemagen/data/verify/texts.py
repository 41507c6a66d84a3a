"""Text in UTF-8."""

from __future__ import annotations

import numpy as np

from ..columns import Column
from ..varint_arrays import gathered
from .faults import Passed, refused_values, shown_bytes


def utf8(column: Column) -> Passed:
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
            _cause,
            shown_bytes,
        )
    )


def _cause(value: bytes) -> str:
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
