"""Writing a source of rows: to the shards of a run, in one process or in several.

Encoding is a pure function of rows, and chunks come in the order of rows, so the bytes of
shards do not depend on the number of processes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..records.codec import RecordCodec
from ..shared.errors import ChangedSourceError, DatasetError
from ..shared.options import check_flags
from ..shared.processes import Advance, in_parallel
from ..shared.tfrecord import Framed
from ..storage.directory import open_directory
from ..storage.schema import Schema
from .encoding import Chunk, Encoding, Refused, encode_rows, encoding_of
from .frames import rows_of_frame
from .keys import in_order, order_of, positions_of, shard_of
from .layout import BySize, Layout, RoundRobinLayout, by_number
from .plan import DEFAULT_SHARD_BYTES, Plan, check_destination, check_workers, plan_of
from .progress import Progress, Reporter, reporter
from .refused import check_report
from .run import Run, add_all, write_shard
from .shards import Receipt, written
from .shuffle import Buckets
from .sources import Indexed, Parts, RowSource, Source, Stream, check_start, source_of
from .writer import kept_shards

# How many rows another process encodes at a time, and sends back: few enough for their
# bytes to fit into memory.
_TASK_ROWS = 64


def write_dataset(
    source: RowSource,
    record: RecordCodec,
    schema: Schema,
    module: str,
    directory: str | os.PathLike[str],
    split: str,
    *,
    workers: int,
    refused: str | os.PathLike[str] | None,
    resume: bool,
    progress: bool | Callable[[Progress], object] | None,
    **options: Any,
) -> int:
    """Write a whole split.

    Arguments, result and errors are those of `Serializer.write_dataset`; `options` are
    those of the plan.
    """
    check_destination(directory, split)
    check_workers(workers)
    check_flags(resume=resume)
    rows = source_of(rows_of_frame(source, schema.spec))
    is_shuffled = options["shuffle_seed"] is not None
    if isinstance(rows, Parts) and not is_shuffled:
        if options["shards"] not in (None, len(rows)):
            raise DatasetError(
                f"shards={options['shards']}: the source has a function for each of "
                f"{len(rows)} shards; leave `shards` out, or shuffle with shuffle_seed"
            )
        options |= {"shards": len(rows), "shard_bytes": DEFAULT_SHARD_BYTES}
    length = rows.length if isinstance(rows, Indexed) else None
    plan = plan_of(schema, module, directory, split, rows=length, **options)
    if refused is not None and plan.on_error == "raise":
        raise DatasetError(
            f"refused={str(refused)!r} is for on_error='skip': otherwise no row is left "
            "out"
        )
    check_report(refused)
    _check_source(rows, workers, shuffled=is_shuffled)
    if workers > 1 and plan.directory.startswith("memory://"):
        raise DatasetError(
            f"{plan.directory}: workers={workers}: files in memory are of one process; "
            "leave workers out, or write to a directory that all processes see"
        )
    encoding = encoding_of(record, plan)
    in_turn = plan.shards and not is_shuffled and not isinstance(rows, (Indexed, Parts))
    run = Run(
        plan,
        schema,
        open_shards=plan.shards if in_turn and plan.shards else 1,
        resume=resume,
        # The order of a shuffle, and the end of shards in turn, need all rows again.
        keep_receipts=not is_shuffled and not in_turn,
    )
    try:
        with reporter(progress, rows.length, split) as report:
            total, left_out = _Writing(run, rows, encoding, workers, report).write()
        return run.publish(total, refused=left_out, report=refused)
    except BaseException as error:
        kept = run.abort(keep=True)
        if kept and not isinstance(error, ChangedSourceError):
            error.add_note(kept_shards(split, kept))
        raise


def write_parts(
    source: RowSource, plan: Plan, shards: Sequence[int], encoding: Encoding
) -> list[Receipt]:
    """Write some shards from a source; result and errors are those of `Serializer`."""
    given = source_of(source)
    directory = open_directory(plan.directory)
    receipts = list[Receipt]()
    positions: dict[int, NDArray[np.int64]] | None = None
    for at, shard in enumerate(shards):
        rows = _checked(given, plan, shard)
        receipt = written(directory, plan, shard)
        if receipt is None:
            if positions is None:  # one pass over all keys is for all of the shards
                positions = _positions_by_shard(rows, plan, shards[at:])
            mine = positions.pop(shard, None)
            try:
                chunks = _chunks_of(rows, plan, shard, encoding, mine)
                receipt = write_shard(plan, shard, chunks)
            except Exception as error:
                error.add_note(f"while shard {shard} was written, of {plan}")
                raise
        receipts.append(receipt)
    return receipts


def _checked(source: Source, plan: Plan, shard: Any) -> Indexed | Parts:
    if type(shard) is not int or shard not in plan.numbers:
        raise DatasetError(
            f"{plan.where}: shard={shard!r}: expected 0 to {len(plan.numbers) - 1}"
        )
    if plan.key_field is not None:
        raise DatasetError(
            f"{plan.where}: the order depends on key_field={plan.key_field!r}, so each "
            "shard has rows of the whole source; write from rows with an engine, or leave "
            "key_field out"
        )
    if isinstance(source, Parts):
        if len(source) != plan.shards:
            raise DatasetError(
                f"{plan.where}: the source has {len(source)} functions, expected one "
                f"for each of {plan.shards} shards"
            )
        if plan.shuffle_seed is not None:
            raise DatasetError(
                f"{plan.where}: shuffle_seed needs a source with a length and rows by "
                "index, found a function for each shard"
            )
        return source
    if not isinstance(source, Indexed):
        raise DatasetError(
            f"{plan.where}: the source gives rows one after the other, expected one "
            "with a length and rows by index, or a list with a function for each shard"
        )
    if plan.rows is None:
        raise DatasetError(
            f"{plan.where}: the plan does not say how many rows the source has; pass "
            "rows=len(source) to plan_dataset"
        )
    if source.length != plan.rows:
        raise DatasetError(
            f"{plan.where}: the source has {source.length} rows, expected "
            f"{plan.rows}; pass the same source in all processes"
        )
    return source


@dataclass(frozen=True)
class _Writing:
    """One split on its way from its source to the shards of a run.

    Attributes:
        run: takes the shards, and knows those of an interrupted run.
        source: gives the rows.
        encoding: how rows become records.
        workers: how many processes encode.
        report: called with numbers of records and their bytes.
    """

    run: Run
    source: Source
    encoding: Encoding
    workers: int
    report: Reporter

    def write(self) -> tuple[int, list[Refused]]:
        """Write all shards.

        Returns:
            How many there are, and the rows that were left out of no shard in particular.

        Raises:
            ChangedSourceError: the source is not the one of the interrupted run.
            DuplicateKeyError: two rows have the same key.
            Exception: as `encode_rows` and the run.
        """
        plan, source = self.run.plan, self.source
        if plan.shuffle_seed is not None:
            return self._shuffled(plan.shuffle_seed)
        if plan.shards is not None and not isinstance(source, Stream):
            return self._by_shard(source)
        if plan.shards is not None and plan.shards > 1:
            return self._round_robin(RoundRobinLayout(plan.shards))
        return self._in_order()

    def _by_shard(self, source: Indexed | Parts) -> tuple[int, list[Refused]]:
        """Write each part of the source to a shard of its own."""
        plan, receipts = self.run.plan, self.run.receipts
        left = [shard for shard in plan.numbers if shard not in receipts]
        for before in list(receipts.values())[-1:]:
            if isinstance(source, Indexed) and before.last_row >= 0:
                found = _all_chunks(source, self.encoding, skip=before.last_row)
                self._compare(before, next(found))
        if self.workers > 1:
            written = in_parallel(
                _ShardsOf(source, plan, self.encoding),
                left,
                workers=self.workers,
                method=None,
                advance=self.report,
                counts=2,
                in_order=True,
            )
            for _, receipt in written:
                receipts[receipt.shard] = receipt
            return len(plan.numbers), []
        for shard in left:
            chunks = _chunks_of(source, plan, shard, self.encoding)
            add = partial(self.run.add, shard)
            last_row, refused = add_all(add, chunks, self.report)
            self.run.finish(shard, last_row=last_row, refused=refused)
        return len(plan.numbers), []

    def _round_robin(self, layout: RoundRobinLayout) -> tuple[int, list[Refused]]:
        """Write the rows as they come, to a number of shards in turn."""
        refused = list[Refused]()
        for chunk in self._all(self._chunks()):
            refused += chunk.refused
            for number, records in layout.assign(chunk.framed):
                self.run.add(number, records)
        for number, records in layout.flush():
            self.run.add(number, records)
        return len(self.run.plan.numbers), refused

    def _in_order(self) -> tuple[int, list[Refused]]:
        """Write the rows as they come: to one shard, or by size."""
        plan = self.run.plan
        shard = self.run.discard_after_gap()
        layout: Layout = (
            RoundRobinLayout(1) if plan.shards else BySize(plan.shard_bytes, shard)
        )
        last_row, refused = -1, list[Refused]()
        for chunk in self._chunks_after(shard):
            refused += chunk.refused
            at = 0
            for number, records in layout.assign(chunk.framed):
                if number > shard:
                    # A run that goes on reads the rows after the last one again.
                    mine = [row for row in refused if row.row < last_row]
                    del refused[: len(mine)]
                    self.run.finish(shard, last_row=last_row, refused=mine)
                    shard = number
                self.run.add(number, records)
                at += len(records)
                last_row = int(chunk.rows[at - 1])
        return plan.shards or shard + 1, refused

    def _shuffled(self, seed: int) -> tuple[int, list[Refused]]:
        """Write all rows in a random order, by way of buckets on disk."""
        plan = self.run.plan
        buckets = Buckets(self.run.buckets, key_field=plan.key_field)
        refused = list[Refused]()
        for chunk in self._all(self._chunks()):
            keys, part = chunk.keys, chunk.part or 0
            if keys is None:
                keys = order_of(seed, part, chunk.rows)
            with self.run.explaining():
                buckets.add(keys, chunk.rows, part, chunk.framed)
            refused += chunk.refused
        shard, by_size = 0, BySize(plan.shard_bytes)
        for keys, piece in self._ordered(buckets):
            assigned = (
                by_number(shard_of(keys, plan.shards), piece)
                if plan.shards
                else by_size.assign(piece)
            )
            for number, records in assigned:
                for full in range(shard, number):
                    self.run.finish(full)
                shard = number
                self.run.add(number, records)
        return plan.shards or shard + 1, refused

    def _ordered(self, buckets: Buckets) -> Iterator[tuple[NDArray[np.uint64], Framed]]:
        with self.run.explaining():
            yield from buckets.ordered()

    def _all(self, found: Iterator[Chunk]) -> Iterator[Chunk]:
        for chunk in found:
            self.report(len(chunk.framed), len(chunk.framed.data))
            yield chunk

    def _chunks_after(self, shard: int) -> Iterator[Chunk]:
        """Yield the chunks of rows that no shard before this one has."""
        if not shard:
            return self._all(self._chunks())
        before = self.run.receipts[shard - 1]
        # Beginning with the last row that is written, to compare it.
        found = self._chunks(skip=before.last_row)
        first = next(found)
        self._compare(before, first)
        rest = replace(first, framed=first.framed[1:], rows=first.rows[1:])
        return self._all(chain([rest], found))

    def _chunks(self, skip: int = 0) -> Iterator[Chunk]:
        return _all_chunks(self.source, self.encoding, workers=self.workers, skip=skip)

    def _compare(self, before: Receipt, first: Chunk) -> None:
        """Check that a row is the one that an interrupted run has written.

        Args:
            before: of the shard that has the row as its last one.
            first: the row's chunk, which begins with it.

        Raises:
            ChangedSourceError: the source does not hold the same rows any more.
        """
        rows = first.rows[:1].tolist()
        checksum = bytes(first.framed[:1].data[-4:]).hex()
        if rows != [before.last_row] or checksum != before.last:
            raise ChangedSourceError(
                f"{self.run.where}: the source has changed: row {before.last_row} "
                "is not what the interrupted run has written; begin again with "
                "resume=False"
            )


@dataclass(frozen=True)
class _ShardsOf:
    """Writes the shards of a source, in worker processes.

    Attributes:
        source: the rows, by index or from a function for each shard.
        plan: what is written.
        encoding: how rows become records.
    """

    source: Indexed | Parts
    plan: Plan
    encoding: Encoding

    def __call__(self, shard: int, advance: Advance) -> Receipt:
        """Write a shard; result and errors are those of `write_shard`."""
        chunks = _chunks_of(self.source, self.plan, shard, self.encoding)
        return write_shard(self.plan, shard, chunks, advance)


def _check_source(source: Source, workers: int, *, shuffled: bool) -> None:
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


def _positions_by_shard(
    source: Indexed | Parts, plan: Plan, shards: Iterable[int]
) -> dict[int, NDArray[np.int64]]:
    """Return where the rows of some shards are in a source that is shuffled; else {}."""
    if isinstance(source, Parts) or plan.shuffle_seed is None:
        return {}
    return positions_of(source.length, len(plan.numbers), shards, plan.shuffle_seed)


def _chunks_of(
    source: Indexed | Parts,
    plan: Plan,
    shard: int,
    encoding: Encoding,
    positions: NDArray[np.int64] | None = None,
) -> Iterator[Chunk]:
    """Encode the rows of one shard of a plan; chunks and errors as `_all_chunks`.

    Args:
        source: where the rows come from.
        plan: what to write.
        shard: its number.
        encoding: how rows become records.
        positions: where its rows are, from `_positions_by_shard`; None if the split is
            not shuffled.
    """
    if isinstance(source, Parts):
        return encode_rows(source.rows(shard), encoding, part=shard)
    if positions is None:
        mine = source.positions(shard, len(plan.numbers))
        return encode_rows(source.at(mine), encoding, first=mine.start)
    order = in_order(positions, plan.shuffle_seed or 0).tolist()
    return encode_rows(source.at(order), encoding, positions=order)


def _all_chunks(
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
            yield from encode_rows(rows, encoding, part=part)
        return
    if workers > 1 and isinstance(source, Indexed):
        check_start(skip, source.length)
        starts = range(skip, source.length, _TASK_ROWS)
        work = _RowEncoder(source, encoding)
        found = in_parallel(work, starts, workers=workers, method=None, in_order=True)
        yield from chain.from_iterable(each for _, each in found)
        return
    yield from encode_rows(source.rows(skip), encoding, first=skip)


@dataclass(frozen=True)
class _RowEncoder:
    """Encodes a few rows, in any process."""

    source: Indexed
    encoding: Encoding

    def __call__(self, start: int, advance: Advance) -> list[Chunk]:
        stop = min(self.source.length, start + _TASK_ROWS)
        rows = self.source.rows(start, stop)
        return list(encode_rows(rows, self.encoding, first=start))
