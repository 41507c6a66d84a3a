"""The bytes of a tf.train.Example or SequenceExample, without protobuf.

An Example is a map from key to Feature, and a Feature holds one list: of bytes,
floats or int64s. Written out, with `0A` the tag of field 1 and `12` of field 2:

    Example  = 0A <size> entry*
    entry    = 0A <size> 0A <size> key 12 <size> feature
    feature  = <list tag> <size> list
    list     = 0A <size> packed numbers, or (0A <size> value)* for bytes

A SequenceExample is an Example, called its context, and a map from key to feature
list: a feature for each step.

    SequenceExample = Example 12 <size> list-entry*
    list-entry      = 0A <size> 0A <size> key 12 <size> (0A <size> feature)*

Entries are written sorted by key, and every size as the shortest varint, so that
equal rows give equal bytes. A varint is a number in groups of seven bits, the lowest
first, a byte each; all but the last have their highest bit set.

Rows are encoded here; batches are encoded by the core in C.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
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

# Where a call of the core costs more than it saves.
_FEW = 8


def list_tag(dtype: str, *, raw: bool) -> bytes:
    """Return the tag of the list that holds numbers of a dtype."""
    if raw:
        return BYTES_LIST
    return FLOAT_LIST if dtype == "float32" else INT64_LIST


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


def sized(value: bytes) -> bytes:
    """Return `value` as field 1 of a message: tag, size, bytes."""
    return b"\x0a" + varint(len(value)) + value


class Entry:
    """What comes before the contents of a list.

    Args:
        key: of the map entry that holds the feature; "" for one step of a feature list,
            which is a feature without a key.
        list_tag: of the list in the feature.

    Attributes:
        key: of the map entry, as bytes; None for a step.
        form: the field of the list in the feature.
    """

    __slots__ = ("empty", "form", "key", "list_head", "packed_head")

    def __init__(self, key: str, list_tag: bytes) -> None:
        self.key = key.encode() if key else None
        self.form = list_tag[0] >> 3
        key_part = sized(key.encode()) if key else b""

        @lru_cache(maxsize=4096)
        def list_head(size: int) -> bytes:
            """Everything before a list of a serialized size."""
            entry = list_tag + varint(size)
            if key:
                entry = key_part + b"\x12" + varint(len(entry) + size) + entry
            return b"\x0a" + varint(len(entry) + size) + entry

        @lru_cache(maxsize=4096)
        def packed_head(size: int) -> bytes:
            """Everything before `size` bytes of packed numbers or of one value."""
            run = b"\x0a" + varint(size)
            return list_head(len(run) + size) + run

        self.list_head = list_head
        self.packed_head = packed_head
        self.empty = list_head(0)

    def listing(self, values: Iterable[bytes]) -> Pieces:
        """Return the entry of a list of values."""
        contents = b"".join(map(sized, values))
        return self.list_head(len(contents)), contents


def list_entry_head(key: str) -> Callable[[int], bytes]:
    """Return what makes the head of a map entry of feature lists from its steps' size."""
    key_part = sized(key.encode())

    @lru_cache(maxsize=4096)
    def head(size: int) -> bytes:
        value = b"\x12" + varint(size)
        return b"\x0a" + varint(len(key_part) + len(value) + size) + key_part + value

    return head


@lru_cache(maxsize=4096)
def example_head(size: int) -> bytes:
    """Return everything before `size` bytes of an Example's entries.

    They are in the order of their keys.
    """
    return b"\x0a" + varint(size)


def context_head(size: int) -> bytes:
    """Return the same for a SequenceExample, which may be without a context."""
    return example_head(size) if size else b""


@lru_cache(maxsize=4096)
def lists_head(size: int) -> bytes:
    """Return everything before `size` bytes of a SequenceExample's feature lists.

    They are written even if there are none: without them it would be an Example, and
    readers could not tell the two apart.
    """
    return b"\x12" + varint(size)


def pack_row(values: NDArray[np.int64]) -> bytes:
    """Encode the int64 values [N] of one row as varints."""
    if values.size <= _FEW:
        return b"".join(map(_signed_varint, values.tolist()))
    return packed(values)


@lru_cache(maxsize=1 << 15)
def _signed_varint(value: int) -> bytes:
    return varint(value & 0xFFFF_FFFF_FFFF_FFFF)


def buffer_of(array: NDArray[Any]) -> Buffer:
    """Return a contiguous array's memory as bytes, without copying it."""
    return array.reshape(-1).data.cast("B") if array.size else b""
