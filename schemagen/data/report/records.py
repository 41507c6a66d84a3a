"""Records that are read again by their places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import groupby, islice
from typing import TYPE_CHECKING

import numpy as np

from ...runtime.native import follow_lengths
from ...runtime.shared.tfrecord import FOOTER_SIZE, HEADER_SIZE
from ...runtime.storage.directory import is_remote
from ..files import compression_of
from ..profile.duplicates import Duplicates, Position
from ..statistics.samples import Sample

if TYPE_CHECKING:
    from ..profile.diff import Diff


_MOST = 24
"""So many places of duplicates, or of changed records, are read."""

# Longer records are not shown, in bytes.
_LONGEST = 1 << 24


def places_of(found: Duplicates) -> list[Position]:
    """Return the places of duplicates, those of marked ones first."""
    every = [each.places for each in found.marked]
    every += [each.places[:1] for each in found.found]
    places = (place for pairs in every for pair in pairs for place in pair)
    return list(islice(dict.fromkeys(places), _MOST))


def changed_places(found: Diff) -> list[Position]:
    """Return the places of the first records that changed between two datasets."""
    examples = (each for split in found.splits for each in split.changes.examples)
    places = (place for each in examples for place in (each.before, each.after))
    return list(islice(places, _MOST))


def records_at(places: Iterable[Position]) -> Iterator[Sample]:
    """Yield the records at some places, in order.

    Records of compressed and remote files are left out: their files would have to be read
    in full.
    """
    known = sorted(place for place in places if place.record >= 0)
    for path, some in groupby(known, key=lambda place: place.file):
        if not is_remote(path):
            with suppress(OSError, ValueError):  # the file is gone, or empty
                # All at once: who cuts a file that is mapped ends this process.
                yield from [*_records(path, [place.record for place in some])]


def _records(path: str, numbers: Iterable[int]) -> Iterator[Sample]:
    data = np.memmap(path, np.uint8, "r")
    if compression_of(data[:HEADER_SIZE].tobytes()) != "":
        return
    start = first = 0
    for number in numbers:
        _, start = follow_lengths(data, start, data.size, number - first)
        found, stop = follow_lengths(data, start, data.size, 1)
        if found and stop - start <= _LONGEST:
            begin = start + HEADER_SIZE
            record = data[begin : stop - FOOTER_SIZE].tobytes()
            yield Sample(0, path, number, begin, record)
        start, first = stop, number + 1
