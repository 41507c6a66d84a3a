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
equal rows give equal bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

Buffer = bytes | bytearray | memoryview
Pieces = tuple[Buffer, ...]

BYTES_LIST = b"\x0a"
FLOAT_LIST = b"\x12"
INT64_LIST = b"\x1a"


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


class Head:
    """What comes before the contents of a list.

    Args:
        list_head: everything before a list whose serialized size is given.
    """

    __slots__ = ("empty", "list_head", "packed_head")

    def __init__(self, list_head: Callable[[int], bytes]) -> None:
        list_head = lru_cache(maxsize=4096)(list_head)

        @lru_cache(maxsize=4096)
        def packed_head(size: int) -> bytes:
            """Everything before `size` bytes of packed numbers or of one value."""
            run = b"\x0a" + varint(size)
            return list_head(len(run) + size) + run

        self.list_head = list_head
        self.packed_head = packed_head
        self.empty = list_head(0)


class Entry(Head):
    """A map entry: key, feature, and the list in it."""

    __slots__ = ()

    def __init__(self, key: str, list_tag: bytes) -> None:
        key_part = sized(key.encode())

        def list_head(size: int) -> bytes:
            feature = list_tag + varint(size)
            value = b"\x12" + varint(len(feature) + size) + feature
            entry = key_part + value
            return b"\x0a" + varint(len(entry) + size) + entry

        super().__init__(list_head)


class StepEntry(Head):
    """One step of a feature list: a feature without a key."""

    __slots__ = ()

    def __init__(self, list_tag: bytes) -> None:
        def list_head(size: int) -> bytes:
            feature = list_tag + varint(size)
            return b"\x0a" + varint(len(feature) + size) + feature

        super().__init__(list_head)


class ListEntry:
    """A map entry: key and feature list."""

    __slots__ = ("head",)

    def __init__(self, key: str) -> None:
        key_part = sized(key.encode())

        @lru_cache(maxsize=4096)
        def head(size: int) -> bytes:
            """Everything before `size` bytes of steps."""
            value = b"\x12" + varint(size)
            return (
                b"\x0a" + varint(len(key_part) + len(value) + size) + key_part + value
            )

        self.head = head


def bytes_list(values: Iterable[bytes]) -> bytes:
    """Return the contents of a BytesList."""
    return b"".join(map(sized, values))


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
