"""CRC-32C of a whole out of those of its parts."""

from __future__ import annotations

from functools import lru_cache

_POLYNOMIAL = 0x82F6_3B78

Matrix = tuple[int, ...]


def combined(first: int, second: int, size: int) -> int:
    """Return the checksum of bytes whose first and second part have these.

    A checksum is linear: what the first part adds to that of the whole is its own
    checksum, moved on by as many zeros as the second part has bytes.

    Args:
        first: the CRC-32C of the first part.
        second: that of the second part.
        size: how many bytes the second part has.
    """
    moved, power = first, 0
    while size:
        if size & 1:
            moved = _times(_zeros(power), moved)
        size >>= 1
        power += 1
    return moved ^ second


@lru_cache(maxsize=64)
def _zeros(power: int) -> Matrix:
    """Return what 2 ** power zero bytes make of each bit."""
    if power:
        return _squared(_zeros(power - 1))
    matrix: Matrix = (_POLYNOMIAL, *(1 << bit for bit in range(31)))
    for _ in range(3):  # one bit to eight
        matrix = _squared(matrix)
    return matrix


def _squared(matrix: Matrix) -> Matrix:
    return tuple(_times(matrix, row) for row in matrix)


def _times(matrix: Matrix, vector: int) -> int:
    found = 0
    for row in matrix:
        if not vector:
            break
        if vector & 1:
            found ^= row
        vector >>= 1
    return found
