"""Writing a split with Apache Spark: one task a shard, or one shuffle of blocks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from pyspark import RDD
from pyspark.sql import DataFrame, Row, SparkSession

from . import steps
from .steps import Block, Plan, Receipt, RowSource


def write_parts(
    source: RowSource,
    plan: Plan,
    *,
    spark: SparkSession,
    refused: str | os.PathLike[str] | None = None,
) -> int:
    """Write a split from a source that every task can open, and publish it.

    Each shard is one task. No rows move, only the source's description to the tasks and
    receipts back. Shards that an earlier call with this plan has written are kept.

    Args:
        source: a sequence, or a list of functions, one per shard. Workers get a pickled
            copy.
        plan: from `plan_dataset`, with `rows=len(source)` for a sequence.
        spark: the session that runs the tasks; not one of Spark Connect.
        refused: a file for the positions and errors of rows that were left out, as JSON
            lines.

    Returns:
        The number of records.

    Raises:
        DatasetError: the split exists, another run or writer is writing it, or the
            directory holds other records.
        Exception: a task has failed, as often as `spark.task.maxFailures` says. Nothing
            is published; the same call again continues.
    """
    context = spark.sparkContext
    plan = steps.begin(plan)
    shards = context.parallelize(plan.numbers, len(plan.numbers))
    receipts = shards.map(partial(steps.write_part, source, plan)).collect()
    return steps.publish(plan, receipts, refused)


def write_dataset(
    rows: DataFrame | RDD[Any],
    plan: Plan,
    *,
    refused: str | os.PathLike[str] | None = None,
) -> int:
    """Write a split from rows in the random order of their keys, and publish it.

    The files are those of the generated `write_dataset` with the same `shuffle_seed`,
    `key_field` and `shards`, whatever the partitions are. Rows are encoded where they
    are, and blocks of records move, in one shuffle.

    Args:
        rows: a DataFrame with a column for each field, or an RDD of dicts, of `Row` or of
            instances of the schema's class.
        plan: from `plan_dataset`, with `key_field` and `shuffle_seed`.
        refused: a file for the positions, counted in each partition, and errors of rows
            that were left out, as JSON lines.

    Returns:
        The number of records.

    Raises:
        DatasetError: the plan has no key, the split exists, another run or writer is
            writing it, or the directory holds other records.
        Exception: a task has failed, as often as `spark.task.maxFailures` says. Nothing
            is published; the same call again writes all shards again and compares them
            with those that are written.
    """
    steps.check_keyed(plan)
    given = rows.rdd if isinstance(rows, DataFrame) else rows
    plan = steps.begin(plan)
    recursive = not isinstance(rows, DataFrame) or _has_structs(rows)
    receipts = (
        given.mapPartitionsWithIndex(partial(_encode, plan, recursive))
        .partitionBy(len(plan.numbers), int)
        .mapPartitionsWithIndex(partial(_write_shard, plan))
        .collect()
    )
    return steps.publish(plan, receipts, refused)


def _has_structs(frame: DataFrame) -> bool:
    """Whether values hold rows; looking for them in nested lists takes long."""
    types = [field.dataType.simpleString() for field in frame.schema.fields]
    return any("struct<" in each for each in types)


def _encode(
    plan: Plan, recursive: bool, partition: int, rows: Iterable[Any]
) -> Iterator[tuple[int, Block]]:
    fields = (row.asDict(recursive) if isinstance(row, Row) else row for row in rows)
    return steps.cut(steps.encode(fields, plan, partition), len(plan.numbers))


def _write_shard(
    plan: Plan, shard: int, blocks: Iterable[tuple[int, Block]]
) -> Iterator[Receipt]:
    mine = (block for _, block in blocks)
    yield steps.write_shard(plan, shard, mine, _scratch(shard))


def _scratch(shard: int) -> str | None:
    """Return one of the directories of the executor, which Spark removes in the end."""
    folders = os.environ.get("SPARK_LOCAL_DIRS")
    if not folders:
        return None
    each = folders.split(",")
    return each[shard % len(each)]
