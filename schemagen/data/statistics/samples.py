"""A few whole records, spread over all of them, whatever the order they are seen in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from ...runtime.reading.records import Records

MOST = 24
"""So many records are kept."""

MOST_BYTES = 1 << 25
"""Or fewer, as soon as they have so many bytes together."""


@dataclass(frozen=True, order=True)
class Sample:
    """One record as it is.

    Attributes:
        priority: a number by chance, but always the same for this place; of all records
            those with the least ones are kept.
        file: the file's path.
        number: which record of the file it is, counted from 0.
        offset: where its bytes begin, as in Records.
        data: its bytes.
    """

    priority: int
    file: str
    number: int
    offset: int
    data: bytes


def with_samples(
    found: tuple[Sample, ...], records: Records, priorities: NDArray[np.uint64]
) -> tuple[Sample, ...]:
    """Return the samples that stay of some and of further records.

    Args:
        found: the samples so far.
        records: some records of a file.
        priorities: of these.
    """
    chosen = np.argsort(priorities, kind="stable")[:MOST]
    if len(found) == MOST or sum(len(each.data) for each in found) >= MOST_BYTES:
        chosen = chosen[priorities[chosen] <= np.uint64(found[-1].priority)]
    if not len(chosen):
        return found
    new = tuple(
        Sample(
            int(priorities[row]),
            records.file,
            int(records.numbers[row]),
            int(records.offsets[row]),
            records[row],
        )
        for row in chosen.tolist()
    )
    return merged_samples([found, new])


def merged_samples(parts: Iterable[tuple[Sample, ...]]) -> tuple[Sample, ...]:
    """Return the samples that stay of all parts, in order.

    What stays of all of them stays of any part, so that parts may be chosen from first.
    """
    kept: list[Sample] = []
    size = 0
    for sample in sorted(chain(*parts)):
        if len(kept) == MOST or size >= MOST_BYTES:
            break
        kept.append(sample)
        size += len(sample.data)
    return tuple(kept)


def priorities_of(numbers: NDArray[np.int64], rank: int) -> NDArray[np.uint64]:
    """Mix the place of each record up: splitmix64.

    Args:
        numbers: [N], of records of a file.
        rank: which file of its split it is. Record 0 of file 0 comes first of all.
    """
    with np.errstate(over="ignore"):
        mixed = numbers.astype(np.uint64) + np.uint64(rank) * np.uint64(1 << 40)
        mixed = mixed * np.uint64(0x9E37_79B9_7F4A_7C15)
        mixed = (mixed ^ mixed >> np.uint64(30)) * np.uint64(0xBF58_476D_1CE4_E5B9)
        mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(0x94D0_49BB_1331_11EB)
    found: NDArray[np.uint64] = mixed ^ mixed >> np.uint64(31)
    return found
