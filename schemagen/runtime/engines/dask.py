"""Writing a split with Dask, by the workers of a client or the threads of one process."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import dask
from dask import bag
from distributed import get_worker

from . import steps
from .steps import Block, Plan, Receipt, RowSource

if TYPE_CHECKING:
    from dask.dataframe import DataFrame


def write_parts(
    source: RowSource, plan: Plan, *, refused: str | os.PathLike[str] | None = None
) -> int:
    """Write a split from a source that every task can open, and publish it.

    Each shard is one task. No rows move. Shards that an earlier call with this plan has
    written are kept.

    Args:
        source: a sequence, or a list of functions, one per shard. Workers get a pickled
            copy.
        plan: from `plan_dataset`, with `rows=len(source)` for a sequence.
        refused: a file for the positions and errors of rows that were left out, as JSON
            lines.

    Returns:
        The number of records.

    Raises:
        DatasetError: the split exists, another run or writer is writing it, or the
            directory holds other records.
        Exception: a task has failed. Nothing is published; the same call again continues.
    """
    plan = steps.begin(plan)
    everywhere = dask.delayed(source, traverse=False)
    write = dask.delayed(steps.write_part)
    receipts = dask.compute(*[write(everywhere, plan, shard) for shard in plan.numbers])
    return steps.publish(plan, receipts, refused)


def write_dataset(
    rows: bag.Bag | DataFrame,
    plan: Plan,
    *,
    refused: str | os.PathLike[str] | None = None,
) -> int:
    """Write a split from rows in the random order of their keys, and publish it.

    The files are those of the generated `write_dataset` with the same `shuffle_seed`,
    `key_field` and `shards`, whatever the partitions are. Rows are encoded where they
    are, and blocks of records move, once. A worker holds the records of each shard that
    it writes in memory.

    Args:
        rows: a bag of dicts or of instances of the schema's class, or a DataFrame with a
            column for each field.
        plan: from `plan_dataset`, with `key_field` and `shuffle_seed`.
        refused: a file for the positions, counted in each partition, and errors of rows
            that were left out, as JSON lines.

    Returns:
        The number of records.

    Raises:
        DatasetError: the plan has no key, the split exists, another run or writer is
            writing it, or the directory holds other records.
        Exception: a task has failed. Nothing is published; the same call again writes all
            shards again and compares them with those that are written.
    """
    steps.check_keyed(plan)
    plan = steps.begin(plan)
    given = rows if isinstance(rows, bag.Bag) else bag.from_delayed(rows.to_delayed())
    numbers = bag.range(given.npartitions, given.npartitions)
    encoded = given.map_partitions(_encode, numbers, plan).to_delayed()
    write = dask.delayed(_write_shard)
    receipts = dask.compute(
        *[write(plan, shard, [cut[shard] for cut in encoded]) for shard in plan.numbers]
    )
    return steps.publish(plan, receipts, refused)


def _encode(rows: Any, numbers: Iterable[int], plan: Plan) -> list[list[Block]]:
    """Return for each shard the blocks of a partition that are its own."""
    (partition,) = numbers
    return steps.cut_up(steps.encode(rows, plan, partition), len(plan.numbers))


def _write_shard(plan: Plan, shard: int, pieces: list[list[Block]]) -> Receipt:
    blocks = (block for piece in pieces for block in piece)
    return steps.write_shard(plan, shard, blocks, _scratch())


def _scratch() -> str | None:
    """Return the directory of this worker, which Dask removes in the end."""
    try:
        return str(get_worker().local_directory)
    except ValueError:  # in a thread, without a client
        return None
