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
first, a byte each; all but the last have their highest bit set. Arrays are encoded into
a table with a row for each number, as wide as the largest needs, and a second table says
which of its bytes are written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Buffer = bytes | bytearray | memoryview
Pieces = tuple[Buffer, ...]

BYTES_LIST = b"\x0a"
FLOAT_LIST = b"\x12"
INT64_LIST = b"\x1a"

# How many numbers are encoded at once: what they take on the way fits into the
# processor's cache, and memory is not asked for again.
_BLOCK = 1 << 14

# Below this, a table holds the varint of every number.
_KNOWN = 1 << 16

# Where numpy's calls cost more than they save.
_FEW = 16


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
    """

    __slots__ = ("empty", "list_head", "packed_head")

    def __init__(self, key: str, list_tag: bytes) -> None:
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


def largest_varint(values: NDArray[np.int64]) -> int:
    """Return how many bytes the longest of the varints takes; 1 if there are none."""
    if not values.size:
        return 1
    bits = int(np.bitwise_or.reduce(values, axis=None))
    return 10 if bits < 0 else max(1, (bits.bit_length() + 6) // 7)


def varint_table(
    values: NDArray[np.int64],
) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Encode numbers as varints, a row for each.

    Args:
        values: int64 [N]; negative values take ten bytes, as in protobuf.

    Returns:
        The bytes, uint8 [N, W], and a mask of those that are written, bool [N, W]: the first
        of each row, and as many more as it needs. W is 1, 4, 8 or 10.
    """
    width = largest_varint(values)
    if width == 1:
        return values.astype(np.uint8)[:, np.newaxis], np.ones((len(values), 1), bool)
    if width > 8:
        return _long_varints(values)
    if width < 3 or (width == 3 and int(values.max()) < _KNOWN):
        table = _known().take(values).view(np.uint8).reshape(-1, 4)
    else:
        table = _grouped(values.astype("<u4" if width <= 4 else "<u8"), width)
    # Only the first byte of a number may be zero: the last group of a longer one is
    # what made it longer, and those before have their highest bit set.
    written = table != 0
    written[:, 0] = True
    return table, written


def _grouped(numbers: NDArray[Any], width: int) -> NDArray[np.uint8]:
    """Spread unsigned little-endian numbers out to seven bits a byte.

    Each step moves what is above the groups that are done up by one bit.
    """
    kind = numbers.dtype.type
    everything = int(np.iinfo(numbers.dtype).max)
    for group in range(width - 1):
        numbers = numbers + (numbers & kind(everything << (8 * group + 7) & everything))
    for group in range(width - 1):
        more = numbers >= kind(1 << 8 * (group + 1))
        numbers |= more.astype(numbers.dtype) << kind(8 * group + 7)
    return numbers.view(np.uint8).reshape(len(numbers), -1)


def _long_varints(
    values: NDArray[np.int64],
) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Encode numbers some of which take nine or ten bytes."""
    unsigned = values.view(np.uint64)[:, np.newaxis]
    shifts = (np.arange(10) * 7).astype(np.uint64)
    groups = ((unsigned >> shifts) & np.uint64(0x7F)).astype(np.uint8)
    more = (unsigned >> shifts[1:]) != 0
    groups[:, :-1] |= more.view(np.uint8) << np.uint8(7)
    written = np.ones(groups.shape, np.bool_)
    written[:, 1:] = more
    return groups, written


@lru_cache(maxsize=1)
def _known() -> NDArray[Any]:
    """Return the varints of the numbers below _KNOWN, padded with zeros to 4 bytes."""
    return _grouped(np.arange(_KNOWN, dtype="<u4"), 3).view("<u4").reshape(-1)


@lru_cache(maxsize=1 << 15)
def _signed_varint(value: int) -> bytes:
    return varint(value & 0xFFFF_FFFF_FFFF_FFFF)


def pack_row(values: NDArray[np.int64]) -> bytes:
    """Encode the int64 values [N] of one row as varints."""
    if values.size <= _FEW:
        return b"".join(map(_signed_varint, values.tolist()))
    if np.minimum.reduce(values) > 0:
        try:
            padded = _known().take(values).tobytes()
        except IndexError:
            pass  # some are larger than those that are known
        else:
            # All zeros that are found in such varints are those that pad them.
            return padded.translate(None, b"\0")
    table, written = varint_table(values)
    return table[written].tobytes()


def pack_rows(values: NDArray[np.int64], lengths: NDArray[np.int64]) -> list[bytes]:
    """Encode a column of integers as varints: the bytes of each row.

    Args:
        values: int64 [N], the rows' values one after the other.
        lengths: int64 [rows], how many of them each row has.
    """
    packed: list[bytes] = []
    ends = np.cumsum(lengths)
    for first, last in _blocks(ends):
        start = int(ends[first - 1]) if first else 0
        table, written = varint_table(values[start : int(ends[last - 1])])
        packed += written_rows(
            table, written, (ends[first:last] - start) * table.shape[1]
        )
    return packed


def _blocks(ends: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Cut rows into runs of about _BLOCK values, of one row at least."""
    first = 0
    while first < len(ends):
        start = int(ends[first - 1]) if first else 0
        last = int(np.searchsorted(ends, start + _BLOCK, "right"))
        last = max(last, first + 1)
        yield first, last
        first = last


def written_rows(
    table: NDArray[np.uint8], written: NDArray[np.bool_], ends: NDArray[np.int64]
) -> list[bytes]:
    """Return the written bytes of a table, cut into rows.

    Args:
        table: uint8, of any shape.
        written: bool, of the same shape.
        ends: int64 [rows], where each row ends in the flattened table.
    """
    positions = np.flatnonzero(written)
    memory = table.reshape(-1).take(positions).tobytes()
    cuts = np.searchsorted(positions, ends).tolist()
    return [memory[a:b] for a, b in zip([0, *cuts], cuts, strict=False)]
