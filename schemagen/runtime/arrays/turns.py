"""Which positions of an epoch's order each of several readers takes.

Readers take turns, so that what all of them have read after equally many batches is the
beginning of the order, and any other number of readers can go on with the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..reading.columns import Rows


@dataclass(frozen=True)
class Ranges:
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

    def between(self, start: int, stop: int) -> Ranges:
        """Return the ranges of the positions from one place to another one."""
        sizes = self.bounds[:, 1] - self.bounds[:, 0]
        before = np.cumsum(sizes) - sizes
        first = self.bounds[:, 0] + np.clip(start - before, 0, sizes)
        last = self.bounds[:, 0] + np.clip(stop - before, 0, sizes)
        return Ranges(np.stack([first, last], 1)[first < last])

    def __add__(self, other: Ranges) -> Ranges:
        return Ranges(np.concatenate([self.bounds, other.bounds]))


def ranges(*bounds: tuple[int, int]) -> Ranges:
    """Return ranges by where each begins and ends."""
    return Ranges(np.array(bounds, np.int64).reshape(-1, 2))


@dataclass(frozen=True)
class Turns:
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
    left: Ranges = field(default_factory=Ranges)

    @property
    def _first(self) -> int:
        """How many of the positions that are left each reader takes at first."""
        return len(self.left) // self.readers

    @property
    def _rounds(self) -> int:
        """How many windows each reader takes."""
        return (self.total - self.begin) // (self.readers * self.window)

    @property
    def _last(self) -> Ranges:
        """What comes last: too little for a window, or for a record, of each reader."""
        left, first = self.left, self._first * self.readers
        behind = self.begin + self._rounds * self.readers * self.window
        return left.between(first, len(left)) + ranges((behind, self.total))

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
        turns, within = some // self.window, some % self.window
        return np.concatenate(
            [
                self.left.at(reader + count * places[:early]),
                self.begin + (turns * count + reader) * self.window + within,
                self._last.at(reader + count * (places[middle:] - first - windows)),
            ]
        )

    def room(self, place: int) -> int:
        """Return how many of a reader's positions are near each other from a place on."""
        if self.window == 1:
            return self.total
        return self.window - max(0, place - self._first) % self.window

    def rest(self, each: int, readers: int) -> Turns:
        """Return how other readers divide what is left.

        Args:
            each: how many positions each of these readers has behind it.
            readers: how many others there are.
        """
        count, window, left = self.readers, self.window, self.left
        first, windows = self._first, self._rounds * self.window
        if each >= first + windows:
            done = count * (each - first - windows)
            late = self._last.between(done, len(self._last))
            return Turns(self.total, self.total, window, readers, late)
        if each < first:
            late = left.between(count * each, len(left))
            return Turns(self.begin, self.total, window, readers, late)
        turns, within = divmod(each - first, window)
        begin = self.begin + turns * count * window
        late = left.between(first * count, len(left))
        if within:
            starts = begin + window * np.arange(count)
            begun = np.stack([starts + within, starts + window], 1)
            late = Ranges(begun) + late
            begin += count * window
        return Turns(begin, self.total, window, readers, late)
