"""The limit on the size of a record, so that a small file cannot inflate without end."""

from __future__ import annotations

import re

MAX_RECORD_BYTES = 1 << 28
"""The most bytes of a record that is read, unless the user raises it: 256 MiB."""

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMG]?)(?:i?B)?", re.IGNORECASE)


def byte_count(text: str) -> int:
    """Read a size such as "256MB", "1GiB" or "4096"; units are powers of 1,024.

    Raises:
        ValueError: it is not a size of at least one byte.
    """
    match = _SIZE.fullmatch(text.strip())
    size = int(float(match[1]) * _UNITS[match[2].upper()]) if match else 0
    if size < 1:
        raise ValueError(f"{text!r} is not a size; expected one such as 256MB or 2GB")
    return size
