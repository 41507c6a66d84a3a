"""Keys, which put records in a random order: of positions, or of a field's values."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

# The steps and factors of splitmix64, which takes every 64-bit number to another.
_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)

_TWO_WORDS = struct.Struct("<QQ")

# The keys of so many rows are computed at a time.
_ROWS = 1 << 20


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


def shard_of(keys: NDArray[np.uint64], shards: int) -> NDArray[np.int64]:
    """Return the shards that records with some keys are in.

    Each shard has an equal range of all possible keys, so the numbers of records differ
    by about their square root.

    Args:
        keys: uint64 [n, 2], as `order_of` and `digest_of` give them.
        shards: how many shards there are.

    Returns:
        int64 [n], from 0; it grows with the keys.
    """
    half = np.uint64(32)
    return ((keys[:, 0] >> half) * np.uint64(shards) >> half).astype(np.int64)


def groups_of(numbers: NDArray[np.int64]) -> Iterator[tuple[int, int, int]]:
    """Yield each number of a sorted array, and where its group begins and ends."""
    starts = np.flatnonzero(np.diff(numbers, prepend=-1)).tolist()
    for first, stop in pairwise([*starts, len(numbers)]):
        yield int(numbers[first]), first, stop


def positions_of(
    rows: int, shards: int, wanted: Iterable[int], seed: int
) -> dict[int, NDArray[np.int64]]:
    """Return the positions of the rows of some shards, in the order of the source.

    It takes time in proportion to `rows`, however many shards are wanted, and 8 bytes of
    memory for each of their rows.

    Args:
        rows: how many rows the source has.
        shards: how many shards there are.
        wanted: the numbers of shards.
        seed: of the order.

    Returns:
        int64 [n] by the number of the shard.
    """
    found = {shard: bytearray() for shard in wanted}
    is_wanted = np.zeros(shards, np.bool_)
    is_wanted[list(found)] = True
    for start in range(0, rows, _ROWS):
        positions = np.arange(start, min(start + _ROWS, rows), dtype=np.int64)
        numbers = shard_of(order_of(seed, 0, positions), shards)
        mine = np.flatnonzero(is_wanted[numbers])
        mine = mine[np.argsort(numbers[mine], kind="stable")]
        for shard, first, stop in groups_of(numbers[mine]):
            found[shard] += positions[mine[first:stop]].tobytes()
    return {shard: np.frombuffer(data, np.int64) for shard, data in found.items()}


def in_order(positions: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """Return positions in the order in which their rows are written."""
    keys = order_of(seed, 0, positions)
    return positions[np.lexsort([positions, keys[:, 1], keys[:, 0]])]


def digest_of(value: int | str | bytes, seed: int) -> tuple[int, int]:
    """Return the key of a key field's value: two numbers of 64 bits.

    An integer, a text and bytes are never equal, whatever they look like.

    Args:
        value: the value.
        seed: any integer; each gives an order of its own.
    """
    if isinstance(value, int):
        digest = _digest("integer", str(int(value)).encode(), seed)
    elif isinstance(value, str):
        digest = _digest("text", str.encode(value, "utf-8", "surrogatepass"), seed)
    else:
        digest = _digest("bytes", value, seed)
    high, low = _TWO_WORDS.unpack(digest)
    return high, low


def _digest(kind: str, data: bytes, seed: int) -> bytes:
    """Return 16 bytes that depend on all of it."""
    prefix = f"{kind} {seed}\n".encode()
    return blake2b(prefix + data, digest_size=16, person=b"schemagen order").digest()
