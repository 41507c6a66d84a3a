"""The order of an epoch: a permutation that is computed, not stored."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np

from ..reading.columns import Rows

_ROUNDS = 6

_WINDOW = 16
"""How many blocks are mixed with each other."""


@dataclass(frozen=True)
class Epoch:
    """An epoch, whose order and random numbers are its own.

    Attributes:
        seed: None for the order in which records are stored.
        number: gives each epoch another order.
        block: shuffle blocks of so many consecutive records; see `Order`.
    """

    seed: int | None = None
    number: int = 0
    block: int | None = None

    def order(self, records: int) -> Order:
        """Return the order of so many records."""
        # A block that is larger than all of them is all of them.
        block = self.block and min(self.block, records + 1)
        return Order(records, self.seed, self.number, block)


STORED = Epoch()
"""The order in which records are stored."""


@dataclass(frozen=True)
class Order:
    """The order in which an epoch reads the records of a split.

    Equal arguments give the same order on every machine and with every version.

    Attributes:
        records: how many there are.
        seed: None for the order in which they are stored.
        epoch: gives each epoch another order.
        block: shuffle blocks of so many consecutive records, and the records of
            sixteen such blocks with each other; None to shuffle single records.
    """

    records: int
    seed: int | None = None
    epoch: int = 0
    block: int | None = None

    def at(self, positions: Rows) -> Rows:
        """Return the numbers of the records at some positions: int64 [N]."""
        if self.seed is None or not self.records:
            return positions
        if self.block is None:
            return self._all.of(positions)
        found = np.empty_like(positions)
        full = self._blocks.size * self.block
        rest = positions >= full
        found[rest] = full + self._rest.of(positions[rest] - full)
        windows = positions // self.window
        for window in np.unique(windows[~rest]).tolist():
            chosen = ~rest & (windows == window)
            found[chosen] = self._in_window(window, positions[chosen])
        # The records after the last full block are others in each epoch.
        return (found + self._shift) % self.records

    @property
    def window(self) -> int:
        """The number of positions whose records are near each other in files."""
        return 1 if self.seed is None or self.block is None else _WINDOW * self.block

    def _in_window(self, window: int, positions: Rows) -> Rows:
        block = self.block or 1
        start = window * self.window
        size = min(self.window, self._blocks.size * block - start)
        mixed = self._permutation(size, f"window {window}").of(positions - start)
        blocks = self._blocks.of(window * _WINDOW + mixed // block)
        return blocks * block + mixed % block

    @cached_property
    def _all(self) -> Permutation:
        return self._permutation(self.records, "records")

    @cached_property
    def _blocks(self) -> Permutation:
        return self._permutation(self.records // (self.block or 1), "blocks")

    @cached_property
    def _rest(self) -> Permutation:
        return self._permutation(self.records % (self.block or 1), "rest")

    @cached_property
    def _shift(self) -> int:
        return int(self._key("shift")[0]) % self.records

    def _permutation(self, size: int, what: str) -> Permutation:
        return Permutation(size, self._key(what))

    def _key(self, what: str) -> Any:
        """Return numbers that depend on the seed and the epoch: uint64 [2 * rounds]."""
        text = f"{self.seed} {self.epoch} {what}".encode()
        halves = [blake2b(text, person=bytes([half])).digest() for half in (1, 2)]
        return np.frombuffer(b"".join(halves), "<u8")[: 2 * _ROUNDS]


@dataclass(frozen=True)
class Permutation:
    """A permutation of the numbers below a size, chosen by a key.

    Each round multiplies by an odd number, adds another one, and mixes the upper bits
    into the lower ones, which maps the numbers of some bits to each other one to one.
    What is mapped beyond the size is mapped again, until it is below.

    Attributes:
        size: how many numbers.
        key: uint64 [2 * rounds].
    """

    size: int
    key: Any

    def of(self, numbers: Rows) -> Rows:
        """Return what numbers are mapped to: int64 [N]."""
        if self.size < 2:
            return numbers
        found = self._mixed(numbers.astype(np.uint64))
        beyond = np.flatnonzero(found >= self.size)
        while len(beyond):
            found[beyond] = self._mixed(found[beyond])
            beyond = beyond[found[beyond] >= self.size]
        mapped: Rows = found.astype(np.int64)
        return mapped

    def _mixed(self, numbers: Any) -> Any:
        bits = (self.size - 1).bit_length()
        mask = np.uint64((1 << bits) - 1)
        shift = np.uint64((bits + 1) // 2)
        for factor, addend in self.key.reshape(-1, 2):
            numbers = (numbers * (factor | np.uint64(1)) + addend) & mask
            numbers ^= numbers >> shift
        return numbers
