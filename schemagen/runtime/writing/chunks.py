"""From a source to its chunks, in this process or in several.

Encoding is a pure function of rows, and chunks come in the order of rows, so the bytes
of all chunks together do not depend on the number of processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import DatasetError
from ..shared.processes import Advance, in_parallel
from .encoded import encode_rows
from .encoding import Chunk, Encoding
from .keys import in_order, positions_of
from .plan import Plan
from .sources import Indexed, Parts, Source, check_start

# How many rows another process encodes at a time, and sends back: few enough for their
# bytes to fit into memory.
_TASK_ROWS = 64


def encoding_of(serialize: Callable[..., bytes], plan: Plan) -> Encoding:
    """Return how the rows of a plan become records.

    Raises:
        DatasetError: the plan's `key_field` is not a field of the record.
    """
    skips = plan.on_error == "skip"
    return Encoding(serialize, skips, plan.key_field, plan.shuffle_seed or 0)


def check_source(source: Source, workers: int, *, shuffled: bool) -> None:
    """Refuse a source of which only one process can take rows.

    Raises:
        DatasetError: it is one, and there are several processes.
    """
    if workers > 1 and not isinstance(source, Indexed):
        if isinstance(source, Parts) and not shuffled:
            return
        what = "functions with shuffle_seed" if isinstance(source, Parts) else "rows"
        raise DatasetError(
            f"workers={workers}: the source gives {what} one after the other, which one "
            "process reads; pass a sequence, which has an index, or leave workers out"
        )


def positions_by_shard(
    source: Indexed | Parts, plan: Plan, shards: Iterable[int]
) -> dict[int, NDArray[np.int64]]:
    """Return where the rows of some shards are in a source that is shuffled; else {}."""
    if isinstance(source, Parts) or plan.shuffle_seed is None:
        return {}
    return positions_of(source.length, len(plan.numbers), shards, plan.shuffle_seed)


def chunks_of(
    source: Indexed | Parts,
    plan: Plan,
    shard: int,
    encoding: Encoding,
    positions: NDArray[np.int64] | None = None,
) -> Iterator[Chunk]:
    """Encode the rows of one shard of a plan; chunks and errors as `all_chunks`.

    Args:
        source: where the rows come from.
        plan: what to write.
        shard: its number.
        encoding: how rows become records.
        positions: where its rows are, from `positions_by_shard`; None if the split is
            not shuffled.
    """
    if isinstance(source, Parts):
        return encode_rows(source.rows(shard), encoding, part=shard, shard=shard)
    if positions is None:
        block = source.block(shard, len(plan.numbers))
        return encode_rows(source.at(block), encoding, first=block.start)
    order = in_order(positions, plan.shuffle_seed or 0).tolist()
    return encode_rows(source.at(order), encoding, positions=order)


def all_chunks(
    source: Source, encoding: Encoding, *, workers: int = 1, skip: int = 0
) -> Iterator[Chunk]:
    """Encode the rows of a source.

    Args:
        source: where the rows come from.
        encoding: how rows become records.
        workers: how many processes encode; several for an indexed source only.
        skip: begin at the row at this position; not for a list of functions.

    Yields:
        The chunks of one part after the other, each in the order of its rows.

    Raises:
        RecordError, TypeError: as `encode_rows`, for the first wrong row.
        DatasetError: a worker has died, or cannot be given what it needs.
        Exception: whatever the source raises, with the position as note.
    """
    if isinstance(source, Parts):
        for part in range(len(source)):
            rows = source.rows(part)
            yield from encode_rows(rows, encoding, part=part, shard=part)
        return
    if workers > 1 and isinstance(source, Indexed):
        check_start(skip, source.length)
        starts = range(skip, source.length, _TASK_ROWS)
        work = _Rows(source, encoding)
        found = in_parallel(work, starts, workers=workers, method=None, in_order=True)
        yield from chain.from_iterable(each for _, each in found)
        return
    yield from encode_rows(source.rows(0, skip), encoding, first=skip)


@dataclass(frozen=True)
class _Rows:
    """Encodes a few rows, in any process."""

    source: Indexed
    encoding: Encoding

    def __call__(self, start: int, advance: Advance) -> list[Chunk]:
        stop = min(self.source.length, start + _TASK_ROWS)
        rows = self.source.rows(0, start, stop)
        return list(encode_rows(rows, self.encoding, first=start))
