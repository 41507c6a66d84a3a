"""Writing splits with Ray.

Ray starts the tasks, starts them again where a worker dies, and moves blocks of records.
What a task does is in `steps`, so the files are those of `write_dataset`.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import ray
from ray.data import Dataset
from ray.data.block import BlockAccessor
from ray.exceptions import RayError, RayTaskError

from ..shared.errors import DatasetError
from . import steps
from .steps import Block, Plan, Receipt, RowSource

_COLUMN = "block"


def write_dataset(
    dataset: Dataset, plan: Plan, *, refused: str | os.PathLike[str] | None = None
) -> int:
    """Write the rows of a Ray dataset as a split, in the order of their keys.

    The files are those of `write_dataset(rows, shards=..., shuffle_seed=...,
    key_field=...)`, whatever the blocks of the dataset are and their order.

    Args:
        dataset: its rows, as `Dataset.iter_rows` gives them, are rows of the record.
        plan: from `plan_dataset`, with `key_field` and `shuffle_seed`.
        refused: a file for the errors of rows that were left out, as JSON lines.

    Returns:
        The number of records.

    Raises:
        RecordError: a value that the field cannot hold; names the row in its block.
        TypeError: a row with a missing or an unknown field.
        ChangedSourceError: an earlier attempt at this plan has written other rows.
        DatasetError: two rows have the same key, or the split cannot be written.
        OSError: the file system reports an error.
        RayError: an earlier step of the dataset fails, or Ray itself.
    """
    steps.check_keyed(plan)
    if dataset.context.max_errored_blocks:
        raise DatasetError(
            f"{plan.where}: max_errored_blocks={dataset.context.max_errored_blocks}: "
            "Ray would drop all rows of a block with a wrong one; set it to 0, and to "
            "leave out wrong rows alone, plan with on_error='skip'"
        )
    plan = steps.begin(plan)
    with _errors_of_tasks():
        receipts = _write_blocks(_encoded(dataset, plan), plan)
    return steps.publish(plan, receipts, refused)


def write_parts(
    source: RowSource, plan: Plan, *, refused: str | os.PathLike[str] | None = None
) -> int:
    """Write a split from a source, in one task for each shard.

    The files are those of `write_dataset(source, shards=...)`. Shards that an earlier
    attempt at the same plan has written are not written again.

    Args:
        source: a sequence, or a list of functions, one per shard. Workers get a pickled
            copy.
        plan: from `plan_dataset`, with `rows=len(source)` for a sequence.
        refused: a file for the positions and errors of rows that were left out, as JSON
            lines.

    Returns:
        The number of records.

    Raises:
        RecordError: a value that the field cannot hold; names the row.
        TypeError: a row with a missing or an unknown field.
        ChangedSourceError: a shard was written twice, with different rows.
        DatasetError: the source is not the one of the plan, or the split cannot be
            written.
        OSError: the file system reports an error.
        Exception: what the source raises.
    """
    plan = steps.begin(plan)
    with _errors_of_tasks():
        everywhere = ray.put(source)
        write = ray.remote(steps.write_part)
        tasks = [write.remote(everywhere, plan, shard) for shard in plan.numbers]
        receipts = list(_results(tasks))
    return steps.publish(plan, receipts, refused)


def _encoded(dataset: Dataset, plan: Plan) -> list[Any]:
    """Return references to tables of encoded blocks in Ray's object store."""
    encoded = dataset.map_batches(
        _encode, fn_args=[plan], batch_size=None, batch_format=None
    )
    tables: list[Any] = encoded.materialize().to_arrow_refs()
    return tables


def _write_blocks(encoded: list[Any], plan: Plan) -> list[Receipt]:
    """Write all shards from tables of blocks, and drop these on the way."""
    cut, write = map(ray.remote, (_cut, _write_shard))
    cut = cut.options(num_returns=len(plan.numbers) + 1)
    cuts = [cut.remote(table, len(plan.numbers)) for table in encoded]
    # Wait for all of them: a task that waits for others keeps its worker.
    for _ in _results([done for done, *_ in cuts]):
        pass
    encoded.clear()
    return list(
        _results(
            [
                # In a list, Ray fetches none of them before the task asks for it.
                write.remote(plan, shard, [of[shard + 1] for of in cuts])
                for shard in plan.numbers
            ]
        )
    )


def _encode(table: Any, plan: Plan) -> Iterator[dict[str, list[bytes]]]:
    rows = BlockAccessor.for_block(table).iter_rows(public_row_format=True)
    try:
        for block in steps.encode(map(dict, rows), plan):
            yield {_COLUMN: [pickle.dumps(block)]}
    except Exception as error:
        raise _EncodingError(error) from error


class _EncodingError(Exception):
    """Carries an error out of a step of a dataset, where Ray adds to its message."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        super().__init__(error)

    def __reduce__(self) -> tuple[type[_EncodingError], tuple[Exception]]:
        return _EncodingError, (self.error,)


def _blocks(table: Any) -> Iterator[Block]:
    if _COLUMN in table.column_names:  # not in a table without rows
        for value in table[_COLUMN]:
            yield pickle.loads(value.as_buffer())


def _cut(table: Any, shards: int) -> list[Any]:
    """Return None, and for each shard a list of the blocks that are its own."""
    return [None, *steps.cut_up(_blocks(table), shards)]


def _write_shard(plan: Plan, shard: int, pieces: list[Any]) -> Receipt:
    blocks = (block for piece in pieces for block in ray.get(piece))
    return steps.write_shard(plan, shard, blocks)


def _results(tasks: list[Any]) -> Iterator[Any]:
    """Yield the results of tasks as they end; the first error cancels the others."""
    waiting = tasks
    try:
        while waiting:
            (ended, *_), waiting = ray.wait(waiting)
            yield ray.get(ended)
    finally:
        for task in waiting:
            ray.cancel(task)


@contextmanager
def _errors_of_tasks() -> Iterator[None]:
    """Raise the error of a task itself, not Ray's report."""
    try:
        yield
    except RayTaskError as error:
        cause: Any = error
        while isinstance(cause, RayTaskError):
            cause = cause.cause
        if isinstance(cause, _EncodingError):
            raise cause.error from error
        if cause is None or isinstance(cause, RayError):
            raise  # an error in another step, which Ray describes
        raise cause from error
