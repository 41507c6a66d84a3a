"""Records in memory, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from numpy.random import Generator


@dataclass(frozen=True)
class Records:
    """Some records of one file, whose framing and checksums are right.

    Attributes:
        file: the file's path.
        data: uint8 [bytes], the memory that holds them.
        starts: int64 [N], where the bytes of each begin in `data`.
        stops: int64 [N], where they end.
        numbers: int64 [N], their numbers in the file, counted from 0.
        offsets: int64 [N], where the bytes of each begin in the file; in a compressed
            file, in what it inflates to.
        random: returns what makes the random numbers of a record, given its number; None
            where no items are chosen by chance.
    """

    file: str
    data: NDArray[np.uint8]
    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    numbers: NDArray[np.int64]
    offsets: NDArray[np.int64]
    random: Callable[[], Callable[[int], Generator]] | None = None

    def __len__(self) -> int:
        """Return how many records there are."""
        return len(self.starts)

    def only(self, rows: NDArray[np.bool_] | NDArray[np.intp] | slice) -> Records:
        """Return some of the records, by a mask, by their rows, or by a slice."""
        return replace(
            self,
            starts=self.starts[rows],
            stops=self.stops[rows],
            numbers=self.numbers[rows],
            offsets=self.offsets[rows],
        )

    def __getitem__(self, row: int) -> bytes:
        """Return the bytes of one record."""
        return self.data[self.starts[row] : self.stops[row]].tobytes()


def records_of(messages: Sequence[bytes], file: str = "memory") -> Records:
    """Return records that are in memory, as if in a file of their own."""
    sizes = np.array([len(message) for message in messages], np.int64)
    stops = np.cumsum(sizes, dtype=np.int64)
    numbers = np.arange(len(sizes), dtype=np.int64)
    return Records(
        file=file,
        data=np.frombuffer(b"".join(messages), np.uint8),
        starts=stops - sizes,
        stops=stops,
        numbers=numbers,
        offsets=stops - sizes + 16 * numbers + 12,
    )
