"""Ranges of bytes in files, each with its place in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..cells.columns import Rows


@dataclass(frozen=True)
class FileRanges:
    """Ranges of files which do not overlap, in the order of files and bytes.

    Attributes:
        files: int64 [R], the number of the file of each range.
        starts: int64 [R], where it begins there.
        sizes: int64 [R], how many bytes it has.
        places: int64 [R], where it begins in memory.
    """

    files: Rows
    starts: Rows
    sizes: Rows
    places: Rows

    @property
    def stops(self) -> Rows:
        """Where each ends in its file: int64 [R]."""
        return self.starts + self.sizes

    def at(self, some: slice | NDArray[np.bool_]) -> FileRanges:
        """Return some of them."""
        return FileRanges(
            self.files[some], self.starts[some], self.sizes[some], self.places[some]
        )

    def parts(self, begins: NDArray[np.bool_]) -> Iterator[FileRanges]:
        """Yield runs of them.

        Args:
            begins: bool [R - 1], whether a run begins with each but the first.
        """
        if len(self.files):
            part_starts = (np.flatnonzero(begins) + 1).tolist()
            for first, last in pairwise([0, *part_starts, len(self.files)]):
                yield self.at(slice(first, last))

    def by_piece(self, size: int) -> Iterator[FileRanges]:
        """Yield those of each piece of a file, cut where a piece ends.

        Args:
            size: how many bytes a piece has.
        """
        cut = self._cut(size)
        pieces = cut.starts // size
        other = (cut.files[1:] != cut.files[:-1]) | (pieces[1:] != pieces[:-1])
        return cut.parts(other)

    def by_gap(self, size: int) -> Iterator[FileRanges]:
        """Yield those of a file between which there are at most so many bytes."""
        far = self.starts[1:] - self.stops[:-1] > size
        return self.parts((self.files[1:] != self.files[:-1]) | far)

    def _cut(self, size: int) -> FileRanges:
        first_pieces, last_pieces = self.starts // size, (self.stops - 1) // size
        counts = last_pieces - first_pieces + 1
        if (counts == 1).all():
            return self
        rows = np.repeat(np.arange(len(counts)), counts)
        pieces = (
            first_pieces[rows]
            + np.arange(len(rows))
            - (np.cumsum(counts) - counts)[rows]
        )
        starts = np.maximum(self.starts[rows], pieces * size)
        stops = np.minimum(self.stops[rows], (pieces + 1) * size)
        places = self.places[rows] + starts - self.starts[rows]
        return FileRanges(self.files[rows], starts, stops - starts, places)


def together(parts: Sequence[FileRanges]) -> FileRanges:
    """Return ranges one behind the other."""
    if not parts:
        none = np.empty(0, np.int64)
        return FileRanges(none, none, none, none)
    columns = [(each.files, each.starts, each.sizes, each.places) for each in parts]
    return FileRanges(*map(np.concatenate, zip(*columns, strict=True)))
