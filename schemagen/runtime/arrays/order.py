"""The order of an epoch, a permutation that is computed, and the share of each reader.

Readers take rounds, so that what all of them have read after equally many batches is the
beginning of the order, and any other number of readers can go on with the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.random import Generator, Philox

from ..cells.columns import Rows

_ROUNDS = 6

_KEYS = (1 << 128) - 1

_WINDOW = 16
"""How many blocks are mixed with each other."""


@dataclass(frozen=True)
class Epoch:
    """An epoch, whose order and random numbers are its own.

    Attributes:
        seed: None for the order in which records are stored.
        number: gives each epoch another order.
        block: shuffle blocks of so many consecutive records; see `Order`.
        repeat: how often the records were read before in the epoch, in a mixture.
    """

    seed: int | None = None
    number: int = 0
    block: int | None = None
    repeat: int = 0

    def order(self, records: int) -> Order:
        """Return the order of so many records."""
        # A block that is larger than all of them is all of them.
        block = self.block and min(self.block, records + 1)
        return Order(records, self.seed, self.number, block, self.repeat)

    def generator(self, depth: int, number: int) -> Generator:
        """Return random numbers of one record, the same wherever it is read.

        Args:
            depth: gives each use of a record's random numbers others, below 1 << 16.
            number: of the record.
        """
        key = ((self.seed or 0) << 64 | self.number << 16 | depth) & _KEYS
        return Generator(Philox(key=key, counter=self.repeat << 192 | number << 128))

    def generators(self, depth: int) -> Callable[[int], Generator]:
        """Return what makes one generator that of each record: making one takes longer."""
        found = self.generator(depth, 0)
        bits = found.bit_generator
        state: Any = bits.state

        def generator(number: int) -> Generator:
            state["state"]["counter"][2] = number
            bits.state = state
            return found

        return generator


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
        repeat: gives each time that an epoch reads the records another order.
    """

    records: int
    seed: int | None = None
    epoch: int = 0
    block: int | None = None
    repeat: int = 0

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
        text = f"{self.seed} {self.epoch} {what}"
        if self.repeat:
            text += f" repeat {self.repeat}"
        halves = [
            blake2b(text.encode(), person=bytes([half])).digest() for half in (1, 2)
        ]
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


@dataclass(frozen=True)
class PositionRanges:
    """Ranges of positions, one behind the other.

    Attributes:
        bounds: int64 [N, 2], where each begins and ends.
    """

    bounds: Rows = field(default_factory=lambda: np.empty((0, 2), np.int64))

    def __len__(self) -> int:
        """Return how many positions there are."""
        return int((self.bounds[:, 1] - self.bounds[:, 0]).sum())

    def at(self, places: Rows) -> Rows:
        """Return the positions at some places: int64 [M]."""
        ends = np.cumsum(self.bounds[:, 1] - self.bounds[:, 0])
        which = np.searchsorted(ends, places, "right")
        found: Rows = self.bounds[which, 1] - (ends[which] - places)
        return found

    def slice(self, start: int, stop: int) -> PositionRanges:
        """Return the ranges of the positions from one place to another one."""
        sizes = self.bounds[:, 1] - self.bounds[:, 0]
        before = np.cumsum(sizes) - sizes
        first = self.bounds[:, 0] + np.clip(start - before, 0, sizes)
        last = self.bounds[:, 0] + np.clip(stop - before, 0, sizes)
        return PositionRanges(np.stack([first, last], 1)[first < last])

    def __add__(self, other: PositionRanges) -> PositionRanges:
        return PositionRanges(np.concatenate([self.bounds, other.bounds]))


def ranges(*bounds: tuple[int, int]) -> PositionRanges:
    """Return ranges by where each begins and ends."""
    return PositionRanges(np.array(bounds, np.int64).reshape(-1, 2))


@dataclass(frozen=True)
class RoundRobin:
    """How some readers divide the positions that are left of an order.

    Each takes every n-th position. Of an order of windows, whose records are near each
    other in files, each takes every n-th window, as far as there are enough for all.

    Attributes:
        begin: where windows begin that no one has read from.
        total: where the order ends.
        window: how many positions a window has; 1 for single records.
        readers: how many readers there are.
        left: positions before `begin` that are left, which come first.
    """

    begin: int
    total: int
    window: int
    readers: int
    left: PositionRanges = field(default_factory=PositionRanges)

    @property
    def _first(self) -> int:
        """How many of the positions that are left each reader takes at first."""
        return len(self.left) // self.readers

    @property
    def _rounds(self) -> int:
        """How many windows each reader takes."""
        return (self.total - self.begin) // (self.readers * self.window)

    @property
    def _last(self) -> PositionRanges:
        """What comes last: too little for a window, or for a record, of each reader."""
        left, first = self.left, self._first * self.readers
        behind = self.begin + self._rounds * self.readers * self.window
        return left.slice(first, len(left)) + ranges((behind, self.total))

    def share(self, reader: int) -> int:
        """Return how many positions a reader takes."""
        windows = self._rounds * self.window
        last = -(-(len(self._last) - reader) // self.readers)
        return self._first + windows + last

    @property
    def fewest(self) -> int:
        """How many positions the reader with the fewest takes."""
        return self.share(self.readers - 1)

    def at(self, reader: int, places: Rows) -> Rows:
        """Return the positions that a reader takes.

        Args:
            reader: its number.
            places: int64 [N], ascending; 0 is the first position that it takes.
        """
        count, first, windows = self.readers, self._first, self._rounds * self.window
        early, middle = np.searchsorted(places, (first, first + windows))
        some = places[early:middle] - first
        rounds, within = some // self.window, some % self.window
        return np.concatenate(
            [
                self.left.at(reader + count * places[:early]),
                self.begin + (rounds * count + reader) * self.window + within,
                self._last.at(reader + count * (places[middle:] - first - windows)),
            ]
        )

    def room(self, place: int) -> int:
        """Return how many of a reader's positions are near each other from a place on."""
        if self.window == 1:
            return self.total
        return self.window - max(0, place - self._first) % self.window

    def rest(self, each: int, readers: int) -> RoundRobin:
        """Return how other readers divide what is left.

        Args:
            each: how many positions each of these readers has behind it.
            readers: how many others there are.
        """
        count, window, left = self.readers, self.window, self.left
        first, windows = self._first, self._rounds * self.window
        if each >= first + windows:
            done = count * (each - first - windows)
            late = self._last.slice(done, len(self._last))
            return RoundRobin(self.total, self.total, window, readers, late)
        if each < first:
            late = left.slice(count * each, len(left))
            return RoundRobin(self.begin, self.total, window, readers, late)
        rounds, within = divmod(each - first, window)
        begin = self.begin + rounds * count * window
        late = left.slice(first * count, len(left))
        if within:
            starts = begin + window * np.arange(count)
            begun = np.stack([starts + within, starts + window], 1)
            late = PositionRanges(begun) + late
            begin += count * window
        return RoundRobin(begin, self.total, window, readers, late)
