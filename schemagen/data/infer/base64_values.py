"""Columns of base64 text, which look like any other text."""

from __future__ import annotations

from ...runtime.codecs.values import of_bytes
from ...runtime.reading.columns import Column
from ...runtime.shared import base64_text
from ...runtime.shared.errors import Problem

SHORTEST = 24
"""Shorter text is no base64 that is worth a question: words may be base64, too."""

_CHARACTERS = bytes(range(48, 58)) + bytes(range(65, 91)) + bytes(range(97, 123))
_CHARACTERS += b"+/-_=\r\n"


def decoded_text(column: Column) -> Column | None:
    """Return what a column of bytes holds if all of it is base64 text; else None."""
    for start, stop in column.values.tolist():
        head = column.data[start : min(start + SHORTEST, stop)].tobytes()
        if len(head) < SHORTEST or head.translate(None, _CHARACTERS):
            return None
    try:
        contents = list(map(base64_text.decoded, column.bytes_values()))
    except Problem:
        return None
    return of_bytes(column, contents) if contents else None
