"""Varints of many records at once: sizes and packed numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .columns import Rows

# Sizes take up to five bytes; no file holds a record of more than 2 ** 35 bytes.
_LONGEST_SIZE = 5
_TOO_LARGE = 1 << 62
_LONGEST_VARINT = 10

_SHORT = 4

# How many are read at once: what they take on the way fits into the processor's cache.
_BLOCK = 1 << 14


def read_sizes(data: NDArray[np.uint8], at: Rows) -> tuple[Rows, Rows]:
    """Read a varint at each place, and return the values and where each ends.

    One that is longer than any size is read as a size that fits nowhere.
    """
    first = data.take(at, mode="clip")
    sizes = first.astype(np.int64)
    begin = at + 1
    more = np.flatnonzero(first >= 0x80)
    if not len(more):
        return sizes, begin
    sizes[more] &= 0x7F
    for group in range(1, _LONGEST_SIZE):
        byte = data.take(begin[more], mode="clip")
        sizes[more] |= (byte & np.uint8(0x7F)).astype(np.int64) << 7 * group
        begin[more] += 1
        more = more[byte >= 0x80]
        if not len(more):
            return sizes, begin
    sizes[more] = _TOO_LARGE
    return sizes, begin


def read_varints(
    packed: NDArray[np.uint8], sizes: Rows
) -> tuple[Rows, Rows] | NDArray[np.intp]:
    """Read rows of packed int64 values.

    Args:
        packed: the bytes of all rows.
        sizes: int64 [rows], how many bytes each has.

    Returns:
        int64 [rows], how many values each has, and the values; or which rows do not
        end where a value does, or have one of more than ten bytes.
    """
    is_last = packed < 0x80
    ends = np.flatnonzero(is_last)
    row_ends = np.cumsum(sizes)
    filled = sizes > 0
    torn = np.zeros(len(sizes), np.bool_)
    torn[filled] = ~is_last[row_ends[filled] - 1]
    if torn.any():
        return np.flatnonzero(torn)
    cuts = np.searchsorted(ends, row_ends)
    lengths = np.diff(cuts, prepend=0)
    last = packed[ends]
    if len(ends) == len(packed):
        return lengths, last.astype(np.int64)
    widths = np.diff(ends, prepend=-1)
    widest = int(widths.max())
    if widest > _LONGEST_VARINT:
        rows = np.searchsorted(cuts, np.flatnonzero(widths > _LONGEST_VARINT), "right")
        return np.unique(rows)
    if widest <= _SHORT:
        return lengths, _short_numbers(packed, ends, last, widest)
    return lengths, _numbers(packed, ends, widths, last.astype(np.int64), widest)


def _short_numbers(
    packed: NDArray[np.uint8], ends: NDArray[Any], last: NDArray[np.uint8], widest: int
) -> Rows:
    """Read most lists of tokens: a pass over all values for each byte before the last.

    That is quicker than a list of those that have it.
    """
    found = np.empty(len(ends), np.int64)
    for start in range(0, len(ends), _BLOCK):
        block = slice(start, start + _BLOCK)
        at, values = ends[block], last[block].astype(np.uint32)
        more = np.ones(len(at), np.bool_)
        for behind in range(1, widest):
            before = packed.take(at - behind, mode="clip")
            more &= before >= 0x80
            more[:behind] &= at[:behind] >= behind  # nothing stands before the first
            groups = values << np.uint32(7) | (before & np.uint8(0x7F))
            # Bits are chosen by a mask of ones: which rows have them is hard to foresee
            # for a processor, so that `np.where` would take much longer.
            ones = np.negative(more.astype(np.int32)).view(np.uint32)
            values ^= (values ^ groups) & ones
        found[block] = values
    return found


def _numbers(
    packed: NDArray[np.uint8],
    ends: NDArray[Any],
    widths: NDArray[Any],
    values: Rows,
    widest: int,
) -> Rows:
    """Put groups of seven bits before the last one, which `values` has already."""
    longer = np.flatnonzero(widths > 1)
    for behind in range(1, widest):
        before = packed[ends[longer] - behind].astype(np.int64) & 0x7F
        # Of ten groups the first shift lets the bits above 64 fall, as protobuf does.
        values[longer] = values[longer] << 7 | before
        longer = longer[widths[longer] > behind + 1]
        if not len(longer):
            break
    return values
