"""The bytes of a tf.train.Example, without protobuf.

An Example is a map from key to Feature, and a Feature holds one list: of bytes,
floats or int64s. Written out, with `0A` the tag of field 1 and `12` of field 2:

    Example  = 0A <size> entry*
    entry    = 0A <size> 0A <size> key 12 <size> feature
    feature  = <list tag> <size> list
    list     = 0A <size> packed numbers, or (0A <size> value)* for bytes

Entries are written sorted by key, and every size as the shortest varint, so that
equal rows give equal bytes. A varint is a number in groups of seven bits, the lowest
first, a byte each; all but the last have their highest bit set.

Rows are encoded here; batches and SequenceExamples are encoded by the core in C.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..native import packed

Buffer = bytes | bytearray | memoryview
Pieces = tuple[Buffer, ...]

BYTES_LIST = b"\x0a"
FLOAT_LIST = b"\x12"
INT64_LIST = b"\x1a"

_FLOAT = struct.Struct("<f")

# Where a call of the core costs more than it saves.
_FEW = 8

# Up to here it takes less time to copy an array's bytes than to refer to them.
_SHORT = 1 << 13


def varint(value: int) -> bytes:
    """Encode an unsigned integer in base 128, lowest group first."""
    if value < 0x80:
        return bytes((value,))
    if value < 0x4000:
        return bytes((value & 0x7F | 0x80, value >> 7))
    if value < 0x20_0000:
        return bytes((value & 0x7F | 0x80, value >> 7 & 0x7F | 0x80, value >> 14))
    groups = bytearray()
    while value >= 0x80:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)


def sized(value: Buffer) -> bytes:
    """Return `value` as field 1 of a message: tag, size, bytes."""
    return b"".join((b"\x0a", varint(len(value)), value))


class Entry:
    """The map entry of a feature.

    Args:
        key: of the entry.
        list_tag: of the list in the feature.

    Attributes:
        pieces: returns the bytes of the entry, given its values: numbers, an array [N]
            of them, or bytes values.
    """

    __slots__ = ("_empty", "_list_head", "_value_head", "pieces")

    def __init__(self, key: str, list_tag: bytes) -> None:
        key_part = sized(key.encode())

        @lru_cache(maxsize=4096)
        def list_head(size: int) -> bytes:
            """Everything before a list of a serialized size."""
            feature = list_tag + varint(size)
            value = b"\x12" + varint(len(feature) + size) + feature
            return (
                b"\x0a" + varint(len(key_part) + len(value) + size) + key_part + value
            )

        @lru_cache(maxsize=4096)
        def value_head(size: int) -> bytes:
            """Everything before `size` bytes of packed numbers or of one value."""
            run = b"\x0a" + varint(size)
            return list_head(len(run) + size) + run

        self._list_head = list_head
        self._value_head = value_head
        self._empty = (list_head(0),)
        float_head = value_head(4)
        pack = _FLOAT.pack

        def of_floats(values: Sequence[float] | NDArray[np.float32]) -> Pieces:
            if type(values) is tuple and len(values) == 1:
                return (float_head + pack(values[0]),)
            return self._of_floats(values)

        def of_integers(values: Sequence[int] | NDArray[Any]) -> Pieces:
            if type(values) is tuple and len(values) == 1:
                run = _signed_varint(values[0])
                return (value_head(len(run)) + run,)
            return self._of_integers(values)

        of_numbers = {FLOAT_LIST: of_floats, INT64_LIST: of_integers}
        self.pieces: Callable[[Any], Pieces] = of_numbers.get(list_tag, self._of_bytes)

    def _of_bytes(self, values: Sequence[Buffer]) -> Pieces:
        if len(values) == 1:
            return self._value_head(len(values[0])), values[0]
        contents = b"".join(map(sized, values))
        return self._list_head(len(contents)), contents

    def _of_floats(self, values: Sequence[float] | NDArray[np.float32]) -> Pieces:
        run: Buffer
        if not isinstance(values, np.ndarray):
            run = struct.pack(f"<{len(values)}f", *values)
        elif values.nbytes <= _SHORT:
            run = values.tobytes()
        else:
            run = buffer_of(values)
        return (self._value_head(len(run)), run) if run else self._empty

    def _of_integers(self, values: Sequence[int] | NDArray[Any]) -> Pieces:
        if isinstance(values, np.ndarray):
            run = pack_row(values.astype(np.int64, copy=False))
        else:
            run = b"".join(map(_signed_varint, values))
        return (self._value_head(len(run)), run) if run else self._empty


@lru_cache(maxsize=4096)
def example_head(size: int) -> bytes:
    """Return everything before `size` bytes of an Example's entries.

    They are in the order of their keys.
    """
    return b"\x0a" + varint(size)


def pack_row(values: NDArray[np.int64]) -> bytes:
    """Encode the int64 values [N] of one row as varints."""
    if values.size <= _FEW:
        return b"".join(map(_signed_varint, values.tolist()))
    return packed(values)


@lru_cache(maxsize=1 << 15)
def _signed_varint(value: int) -> bytes:
    return varint(value & 0xFFFF_FFFF_FFFF_FFFF)


def buffer_of(array: NDArray[Any]) -> Buffer:
    """Return an array's memory as bytes: a copy of little, and a view of much."""
    if array.nbytes <= _SHORT:
        return array.tobytes()
    return np.ascontiguousarray(array).reshape(-1).data.cast("B")
