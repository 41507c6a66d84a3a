"""Writing a split with Apache Beam: from the rows of a pipeline, or from a source.

    rows | WriteDataset(plan)          # a PCollection of rows, in any order
    pipeline | WriteParts(source, plan)  # a source that workers load rows from

Both claim the split, write its shards and publish it as steps of the pipeline. A step
that the runner repeats does no harm.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from typing import Any

import apache_beam as beam
from apache_beam.metrics import Metrics
from apache_beam.pvalue import AsList, AsSingleton
from apache_beam.transforms.window import GlobalWindows

from ..shared.errors import DatasetError, RecordError, position
from . import steps
from .steps import Block, Plan, Receipt, RowSource

# How many rows a worker encodes at first, until it knows how large they are.
_FIRST_ROWS = 16

# Shards are grouped by number, and Beam has to know its coder.
_BY_SHARD = tuple[int, Block]


class WriteDataset(beam.PTransform):  # type: ignore[misc]
    """Writes the rows of a PCollection as a split, and publishes it.

    The files are those of `write_dataset` with the `shuffle_seed`, `key_field` and
    `shards` of the plan, whatever the order and the bundles of the rows are. Rows are
    dicts of the record's fields, `beam.Row`, named tuples, or instances of the schema's
    class. They are encoded where they are; the engine moves blocks of records, once.

    The result is a PCollection with one element, the number of records. It is there when
    the split is published. Metrics `records` and `refused` of the namespace `schemagen`
    count records and rows that were left out.

    Args:
        plan: from `plan_dataset`, with `key_field` and `shuffle_seed`.
        refused: a local file of the worker that publishes, for the errors of rows that
            were left out, as JSON lines. Their positions count in a part of the rows.

    Raises:
        DatasetError: the plan has no key.
    """

    def __init__(
        self, plan: Plan, *, refused: str | os.PathLike[str] | None = None
    ) -> None:
        super().__init__()
        steps.check_keyed(plan)
        self._plan = plan
        self._refused = refused

    def default_label(self) -> str:
        """Name the split, so that a pipeline can write several."""
        return f"WriteDataset({self._plan.split})"

    def expand(self, rows: Any) -> Any:
        """Add the steps to a pipeline.

        Raises:
            DatasetError: the rows have no end.
        """
        plan = self._plan
        if not rows.is_bounded:
            raise DatasetError(
                f"{plan.where}: the PCollection is unbounded, expected rows that end; "
                "write a split of each period"
            )
        if not rows.windowing.is_default():
            rows |= "Into one window" >> beam.WindowInto(GlobalWindows())
        begun = AsSingleton(_begun(rows.pipeline, plan))
        encoding = beam.ParDo(_Encode(plan), begun)
        blocks = rows | "Encode" >> encoding.with_output_types(_BY_SHARD)
        # Shards without records are written too.
        pairs = [(shard, Block.empty()) for shard in plan.numbers]
        empty = rows.pipeline | "List shards" >> beam.Create(pairs).with_output_types(
            _BY_SHARD
        )
        receipts = (
            (blocks, empty)
            | "Flatten" >> beam.Flatten()
            | "Group by shard" >> beam.GroupByKey()
            | "Write" >> beam.MapTuple(partial(steps.write_shard, plan))
        )
        return _published(receipts, plan, self._refused)


class WriteParts(beam.PTransform):  # type: ignore[misc]
    """Writes the rows of a source as a split, and publishes it; no row moves.

    It is applied to a pipeline. The files are those of `write_dataset` with the same
    source and options.

    The result and the metrics are those of `WriteDataset`.

    Args:
        source: a sequence, or a list of functions, one per shard. Workers get a pickled
            copy.
        plan: from `plan_dataset`, with `rows=len(source)` for a sequence.
        refused: as for `WriteDataset`; positions count in the source.
    """

    def __init__(
        self,
        source: RowSource,
        plan: Plan,
        *,
        refused: str | os.PathLike[str] | None = None,
    ) -> None:
        super().__init__()
        self._source = source
        self._plan = plan
        self._refused = refused

    def default_label(self) -> str:
        """Name the split, so that a pipeline can write several."""
        return f"WriteParts({self._plan.split})"

    def expand(self, begin_of_pipeline: Any) -> Any:
        """Add the steps to a pipeline."""
        plan = self._plan
        begun = AsSingleton(_begun(begin_of_pipeline.pipeline, plan))
        receipts = (
            begin_of_pipeline
            | "List shards" >> beam.Create(plan.numbers)
            | "Write" >> beam.Map(_write_part, self._source, plan, begun)
        )
        return _published(receipts, plan, self._refused)


def _begun(pipeline: Any, plan: Plan) -> Any:
    """Return a PCollection with one element, which is there when the split is claimed."""
    return pipeline | "Start" >> beam.Impulse() | "Begin" >> beam.Map(_begin, plan)


def _begin(_: bytes, plan: Plan) -> bool:
    steps.begin(plan)
    return True


class _Encode(beam.DoFn):  # type: ignore[misc]
    """Encodes the rows of a bundle, and divides the blocks among the shards.

    Args:
        plan: what to write.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._limit = _FIRST_ROWS

    def start_bundle(self) -> None:
        """Forget what is left of a bundle that has failed."""
        self._rows: list[object] = []
        self._blocks: list[Block] = []
        self._bytes = 0

    def process(self, row: object, begun: bool) -> Iterator[tuple[int, Block]]:
        """Take a row."""
        self._rows.append(_fields(row))
        if len(self._rows) >= self._limit:
            self._encode()
        if self._bytes >= steps.CUT_BYTES:
            yield from self._cut()

    def finish_bundle(self) -> Iterator[Any]:
        """Encode and divide what is left."""
        self._encode()
        yield from map(GlobalWindows.windowed_value, self._cut())

    def _encode(self) -> None:
        """Encode the rows that wait, and choose how many make about 1 MiB next."""
        rows, self._rows = self._rows, []
        blocks = list(_encoded(rows, self._plan))
        size = sum(len(block.framed.data) for block in blocks)
        self._blocks += blocks
        self._bytes += size
        fitting = len(rows) * steps.CHUNK_BYTES // (size + 1)
        self._limit = max(1, min(fitting, steps.CHUNK_ROWS))

    def _cut(self) -> Iterator[tuple[int, Block]]:
        blocks, self._blocks, self._bytes = self._blocks, [], 0
        return steps.cut(blocks, len(self._plan.numbers))


def _fields(row: object) -> object:
    """Return a row of Beam as a dict, and any other one as it is."""
    if isinstance(row, beam.Row):
        fields = row.as_dict()
    elif isinstance(row, tuple) and hasattr(row, "_asdict"):
        fields = row._asdict()
    else:
        return row
    return {name: _fields(value) for name, value in fields.items()}


def _encoded(rows: list[object], plan: Plan) -> list[Block]:
    """Encode rows.

    Raises:
        DatasetError: a row is wrong. Positions in a bundle say nothing to users, so the
            error has the row's key.
    """
    try:
        return list(steps.encode(rows, plan))
    except (RecordError, TypeError):
        for row in rows:
            _check(row, plan)
        raise


def _check(row: object, plan: Plan) -> None:
    try:
        list(steps.encode([row], plan))
    except (RecordError, TypeError) as error:
        reason = str(error).removeprefix(f"{position(0)}: ")
        raise DatasetError(f"{plan.where}: {_named(row, plan)}: {reason}") from error


def _named(row: object, plan: Plan) -> str:
    """Name a row by its key."""
    fields = row if isinstance(row, dict) else getattr(row, "__dict__", {})
    if plan.key_field in fields:
        return f"the row with {plan.key_field} {fields[plan.key_field]!r}"
    return f"a row without {plan.key_field}"


def _write_part(shard: int, source: RowSource, plan: Plan, begun: bool) -> Receipt:
    try:
        return steps.write_part(source, plan, shard)
    except RecordError as error:
        # Runners add the name of the step to the first argument of an error.
        raise DatasetError(f"{plan.where}: {error}") from error


def _published(
    receipts: Any, plan: Plan, refused: str | os.PathLike[str] | None
) -> Any:
    """Return a PCollection with the number of records, once the split is published."""
    publish = beam.Map(_publish, AsList(receipts), plan, refused)
    return (
        receipts.pipeline
        | "Await shards" >> beam.Impulse()
        | "Publish" >> publish.with_output_types(int)
    )


def _publish(
    _: bytes,
    receipts: list[Receipt],
    plan: Plan,
    refused: str | os.PathLike[str] | None,
) -> int:
    records = steps.publish(plan, receipts, refused)
    left_out = sum(len(receipt.refused) for receipt in receipts)
    Metrics.counter("schemagen", "records").inc(records)
    Metrics.counter("schemagen", "refused").inc(left_out)
    return records
