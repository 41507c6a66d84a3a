"""Writing a split with Apache Beam: from the rows of a pipeline, or from a source.

    rows | WriteDataset(plan)          # a PCollection of rows, in any order
    pipeline | WriteParts(source, plan)  # a source that workers load rows from

Both claim the split, write its shards and publish it as steps of the pipeline. A step
that the runner repeats does no harm.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

import apache_beam as beam  # type: ignore[import-not-found, import-untyped, unused-ignore]
import numpy as np
from apache_beam.metrics import (  # type: ignore[import-not-found, import-untyped, unused-ignore]
    Metrics,
)
from apache_beam.pvalue import (  # type: ignore[import-not-found, import-untyped, unused-ignore]
    AsList,
    AsSingleton,
)
from apache_beam.transforms.window import (  # type: ignore[import-not-found, import-untyped, unused-ignore]
    GlobalWindows,
)

from ..distributed import key_ranges
from ..distributed.key_ranges import Block
from ..shared.errors import DatasetError, RecordError, position
from ..writing.begin import join
from ..writing.encoding import CHUNK_BYTES, CHUNK_ROWS
from ..writing.plan import Plan
from ..writing.publish import publish
from ..writing.serializer import serializer_of
from ..writing.shards import Receipt
from ..writing.sources import RowSource

# How many rows a worker encodes at first, until it knows how large they are.
_FIRST_ROWS = 16

# How many bytes a worker divides among the shards at once. With many shards, the parts of
# a smaller block would be single records.
_CUT_BYTES = 16 << 20

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
        plan: what to write, with `key_field` and `shuffle_seed`.
        refused: a local file of the worker that publishes, for the errors of rows that
            were left out, as JSON lines. Their positions count in a part of the rows.

    Raises:
        DatasetError: the plan has no key.
    """

    def __init__(
        self, plan: Plan, *, refused: str | os.PathLike[str] | None = None
    ) -> None:
        super().__init__()
        key_ranges.check_plan(plan)
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
        begun = _begun(rows.pipeline, plan)
        blocks = rows | "Encode" >> beam.ParDo(_Encode(plan), AsSingleton(begun))
        cut = blocks | "Cut" >> beam.ParDo(_Cut(len(plan.numbers))).with_output_types(
            _BY_SHARD
        )
        shards = rows.pipeline | "List shards" >> _shards(plan)
        # Shards without records are written too.
        empty = shards | "Add to each shard" >> beam.Map(_nothing).with_output_types(
            _BY_SHARD
        )
        receipts = (
            (cut, empty)
            | "Flatten" >> beam.Flatten()
            | "Group by shard" >> beam.GroupByKey()
            | "Write" >> beam.Map(_write_shard, plan)
        )
        return receipts | "Publish" >> _Publish(plan, self._refused)


class WriteParts(beam.PTransform):  # type: ignore[misc]
    """Writes the rows of a source as a split, and publishes it; no row moves.

    It is applied to a pipeline. The files are those of `write_dataset` with the same
    source and options.

    The result and the metrics are those of `WriteDataset`.

    Args:
        source: the rows: an object with a length and rows by index, or a list of
            functions, one per shard. Workers get a pickled copy.
        plan: what to write.
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
        begun = _begun(begin_of_pipeline.pipeline, self._plan)
        return (
            begin_of_pipeline
            | "List shards" >> _shards(self._plan)
            | "Write"
            >> beam.ParDo(_WritePart(self._source, self._plan), AsSingleton(begun))
            | "Publish" >> _Publish(self._plan, self._refused)
        )


def _begun(pipeline: Any, plan: Plan) -> Any:
    """Return a PCollection with one element, which is there when the split is claimed."""
    return pipeline | "Start" >> beam.Impulse() | "Begin" >> beam.Map(_begin, plan)


def _begin(_: bytes, plan: Plan) -> bool:
    join(plan, serializer_of(plan).schema)
    return True


def _shards(plan: Plan) -> Any:
    return beam.Create(plan.numbers)


class _Encode(beam.DoFn):  # type: ignore[misc]
    """Encodes the rows of a bundle, as many at once as make about 1 MiB."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._rows: list[object] = []
        self._limit = _FIRST_ROWS

    def start_bundle(self) -> None:
        """Forget the rows of a bundle that has failed."""
        self._rows = []

    def process(self, row: object, begun: bool) -> Iterator[Block]:
        """Take a row."""
        self._rows.append(_fields(row))
        if len(self._rows) >= self._limit:
            yield from self._encode()

    def finish_bundle(self) -> Iterator[Any]:
        """Encode the rows that are left."""
        for block in self._encode():
            yield GlobalWindows.windowed_value(block)

    def _encode(self) -> Iterator[Block]:
        rows, self._rows = self._rows, []
        size = 1
        for block in _encoded(rows, self._plan):
            size += len(block.data)
            yield block
        fitting = len(rows) * CHUNK_BYTES // size
        self._limit = max(1, min(fitting, CHUNK_ROWS))


def _fields(row: object) -> object:
    """Return a row of Beam as a dict, and any other one as it is."""
    if isinstance(row, beam.Row):
        fields = row.as_dict()
    elif isinstance(row, tuple) and hasattr(row, "_asdict"):
        fields = row._asdict()
    else:
        return row
    return {name: _fields(value) for name, value in fields.items()}


def _encoded(rows: list[object], plan: Plan) -> Iterator[Block]:
    """Encode rows.

    Raises:
        DatasetError: a row is wrong. Positions in a bundle say nothing to users, so the
            error has the row's key.
    """
    taken = 0

    def noting() -> Iterator[object]:
        nonlocal taken
        for taken, row in enumerate(rows):  # noqa: B007
            yield row

    try:
        for block in key_ranges.encode_blocks(noting(), plan):
            if len(block) or block.refused:
                yield block
    except (RecordError, TypeError) as error:
        at = taken
        if isinstance(error, RecordError) and error.row is not None:
            at = error.row  # further rows may have been taken to be encoded with it
        raise DatasetError(
            f"{plan.where}: {_named(rows[at], plan)}: "
            f"{str(error).removeprefix(f'{position(at)}: ')}"
        ) from error


def _named(row: object, plan: Plan) -> str:
    """Name a row by its key."""
    fields = row if isinstance(row, dict) else getattr(row, "__dict__", {})
    if plan.key_field in fields:
        return f"the row with {plan.key_field} {fields[plan.key_field]!r}"
    return f"a row without {plan.key_field}"


class _Cut(beam.DoFn):  # type: ignore[misc]
    """Divides the blocks of a bundle among the shards."""

    def __init__(self, shards: int) -> None:
        self._shards = shards

    def start_bundle(self) -> None:
        """Begin without blocks."""
        self._blocks: list[Block] = []
        self._bytes = 0

    def process(self, block: Block) -> Iterator[tuple[int, Block]]:
        """Take a block."""
        self._blocks.append(block)
        self._bytes += len(block.data)
        if self._bytes >= _CUT_BYTES:
            yield from self._cut()

    def finish_bundle(self) -> Iterator[Any]:
        """Divide the blocks that are left."""
        if self._blocks:
            for pair in self._cut():
                yield GlobalWindows.windowed_value(pair)

    def _cut(self) -> Iterator[tuple[int, Block]]:
        block = key_ranges.joined(self._blocks)
        self._blocks, self._bytes = [], 0
        return key_ranges.cut(block, self._shards)


def _nothing(shard: int) -> tuple[int, Block]:
    """Pair a shard with a block without records."""
    return shard, Block(np.empty((0, 2), np.uint64), np.empty(0, np.int64), b"", "")


def _write_shard(grouped: tuple[int, Iterable[Block]], plan: Plan) -> Receipt:
    shard, blocks = grouped
    return key_ranges.write_shard(plan, shard, blocks)


class _WritePart(beam.DoFn):  # type: ignore[misc]
    """Writes the shard of a number from a source."""

    def __init__(self, source: RowSource, plan: Plan) -> None:
        self._source = source
        self._plan = plan

    def process(self, shard: int, begun: bool) -> Iterator[Receipt]:
        """Write a shard."""
        plan = self._plan
        try:
            yield serializer_of(plan).write_part(self._source, plan, shard)
        except RecordError as error:
            # Runners add the name of the step to the first argument of an error.
            raise DatasetError(f"{plan.where}: {error}") from error


class _Publish(beam.PTransform):  # type: ignore[misc]
    """Publishes a split when it has the receipts of all shards."""

    def __init__(self, plan: Plan, refused: str | os.PathLike[str] | None) -> None:
        super().__init__()
        self._plan = plan
        self._refused = refused

    def expand(self, receipts: Any) -> Any:
        """Add the steps to a pipeline."""
        return (
            receipts.pipeline
            | beam.Impulse()
            | beam.Map(
                _publish, AsList(receipts), self._plan, self._refused
            ).with_output_types(int)
        )


def _publish(
    _: bytes,
    receipts: list[Receipt],
    plan: Plan,
    refused: str | os.PathLike[str] | None,
) -> int:
    records = publish(plan, receipts, serializer_of(plan).schema, refused)
    Metrics.counter("schemagen", "records").inc(records)
    left_out = sum(len(receipt.refused) for receipt in receipts)
    Metrics.counter("schemagen", "refused").inc(left_out)
    return records
