"""CRC-32C of a whole out of those of its parts."""

from __future__ import annotations

# Bits are coefficients of polynomials, the highest bit that of x ** 0.
_POLYNOMIAL, _BYTE = 0x82F6_3B78, 1 << 23  # the second one is x ** 8


def combined(first: int, second: int, size: int) -> int:
    """Return the checksum of bytes whose first and second part have these.

    A checksum is linear: what the first part adds to that of the whole is its own
    checksum, moved on by as many zeros as the second part has bytes.

    Args:
        first: the CRC-32C of the first part.
        second: that of the second part.
        size: how many bytes the second part has.
    """
    moved, factor = first, _BYTE
    while size:
        if size & 1:
            moved = _product(moved, factor)
        factor = _product(factor, factor)
        size >>= 1
    return moved ^ second


def _product(one: int, other: int) -> int:
    """Multiply two polynomials, modulo that of the checksum."""
    found = 0
    for bit in range(31, -1, -1):
        if other >> bit & 1:
            found ^= one
        one = one >> 1 ^ (_POLYNOMIAL if one & 1 else 0)
    return found
