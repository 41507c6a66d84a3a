"""The keys by which a dataset is shuffled: 128 bits for each record.

A record's key is a hash of its position in the source, or of the value of its key
field. Records in the order of their keys are in an order that looks random, and that
is the same wherever and by whomever it is computed.
"""

from __future__ import annotations

import struct
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import Problem
from ..shared.values import shortened

# The steps and factors of splitmix64, which takes every 64-bit number to another.
_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)

_TWO_WORDS = struct.Struct("<QQ")


def order_of(seed: int, part: int, rows: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the keys of positions.

    Args:
        seed: any integer; each gives an order of its own.
        part: the part of the source, 0 where there is one.
        rows: int64 [n], positions in that part, from 0.

    Returns:
        uint64 [n, 2], different for different rows of a part.
    """
    starts = _TWO_WORDS.unpack(_digest("position", f"{seed} {part}".encode(), seed))
    steps = (rows.astype(np.uint64) + np.uint64(1)) * _GAMMA
    keys = np.empty((len(rows), 2), np.uint64)
    for word, start in enumerate(starts):
        keys[:, word] = _mixed(steps + np.uint64(start))
    return keys


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the last step of splitmix64: one number for each, far from it."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * _FIRST
    numbers = (numbers ^ (numbers >> np.uint64(27))) * _SECOND
    return numbers ^ (numbers >> np.uint64(31))


def digest_of(value: object, seed: int) -> tuple[int, int]:
    """Return the key of a key field's value: two numbers of 64 bits.

    Equal values have equal keys: integers of Python and of numpy, bytes of any kind.
    An integer, a text and bytes are never equal, whatever they look like.

    Args:
        value: an integer, a str or bytes; also as an array without axes.
        seed: any integer; each gives an order of its own.

    Raises:
        Problem: a value of another type.
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        digest = _digest("integer", str(int(value)).encode(), seed)
    elif isinstance(value, str):
        digest = _digest("text", value.encode("utf-8", "surrogatepass"), seed)
    elif isinstance(value, (bytes, bytearray, memoryview)):
        digest = _digest("bytes", bytes(value), seed)
    else:
        raise Problem(
            f"{type(value).__name__} {shortened(value)}",
            "an integer, a str or bytes, since the field is the key field",
            "take a field that tells records apart, such as an id or a file's name",
        )
    high, low = _TWO_WORDS.unpack(digest)
    return high, low


def _digest(kind: str, data: bytes, seed: int) -> bytes:
    """Return 16 bytes that depend on all of it."""
    prefix = f"{kind} {seed}\n".encode()
    return blake2b(prefix + data, digest_size=16, person=b"schemagen order").digest()
