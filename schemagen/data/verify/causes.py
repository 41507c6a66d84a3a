"""Guesses how wrong bytes came to be, in words."""

from __future__ import annotations

from ...runtime.shared.values import item_size
from ..formats import other_format

_NAMES = {
    1: "uint8",
    2: "float16 or int16",
    4: "float32 or int32",
    8: "float64 or int64",
}


def what_it_is(data: bytes) -> str:
    """Say what bytes are by how they begin, or return ""."""
    if data.startswith(b"\x08") and data[2:3] == b"\x12" and len(data) > 4:
        return "a tensor of tf.io.serialize_tensor"
    return other_format(data)


def cause_of_size(data: bytes, dtype: str, size: int | None) -> str:
    """Guess why raw bytes have another size than `size`, or return ""."""
    start = what_it_is(data)
    if start:
        return f"they begin like {start}: declare that encoding in the schema"
    if not data:
        return "nothing was written"
    item = item_size(dtype)
    if not size:
        return ""
    for other, names in _NAMES.items():
        if other != item and len(data) * item == size * other:
            return (
                f"that is the size of as many {names} numbers: stored as such, read "
                f"as {dtype}?"
            )
    return ""
