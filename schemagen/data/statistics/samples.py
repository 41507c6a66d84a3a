"""A few whole records, spread over all of them, whatever the order they are seen in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...runtime.reading.records import Records

MOST = 24
"""So many records are kept."""

MOST_BYTES = 1 << 25
"""As long as they have no more bytes than these together; one is kept in any case."""


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


@dataclass(frozen=True)
class Samples:
    """The samples of some records.

    Attributes:
        kept: in order, as many as `MOST` and `MOST_BYTES` allow.
        end: the place of the first sample that no longer fits into `MOST_BYTES`,
            without its bytes; None if all fit. No sample from there on is kept, also
            if a smaller one would fit, so that parts merge in any way to the same.
    """

    kept: tuple[Sample, ...] = ()
    end: Sample | None = None


def with_samples(found: Samples, records: Records, rank: int) -> Samples:
    """Return the samples that stay of some and of further records.

    Args:
        found: the samples so far.
        records: some records of a file.
        rank: which file of its split it is. Record 0 of file 0 comes first of all.
    """
    priorities = _priorities(records.numbers, rank)
    chosen = np.argsort(priorities, kind="stable")[:MOST]
    last = found.kept[-1] if len(found.kept) == MOST else found.end
    if last is not None:
        chosen = chosen[priorities[chosen] <= np.uint64(last.priority)]
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
    return merged_samples([found, Samples(new)])


def merged_samples(parts: Sequence[Samples]) -> Samples:
    """Return the samples that stay of all parts.

    What stays of all of them stays of any part, so that parts may be chosen from first.
    """
    end = min((part.end for part in parts if part.end is not None), default=None)
    kept: list[Sample] = []
    size = 0
    for sample in sorted(sample for part in parts for sample in part.kept):
        if len(kept) == MOST or (end is not None and sample >= end):
            break
        size += len(sample.data)
        if kept and size > MOST_BYTES:
            end = replace(sample, data=b"")
            break
        kept.append(sample)
    return Samples(tuple(kept), None if len(kept) == MOST else end)


def _priorities(numbers: NDArray[np.int64], rank: int) -> NDArray[np.uint64]:
    """Mix the place of each record up: splitmix64."""
    with np.errstate(over="ignore"):
        mixed = numbers.astype(np.uint64) + np.uint64(rank) * np.uint64(1 << 40)
        mixed = mixed * np.uint64(0x9E37_79B9_7F4A_7C15)
        mixed = (mixed ^ mixed >> np.uint64(30)) * np.uint64(0xBF58_476D_1CE4_E5B9)
        mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(0x94D0_49BB_1331_11EB)
    found: NDArray[np.uint64] = mixed ^ mixed >> np.uint64(31)
    return found
