"""Writing a whole split from a source of rows: by parts, in order, or shuffled."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..shared.calling import check_flags
from ..shared.errors import ChangedSourceError, DatasetError
from ..shared.processes import in_parallel
from ..shared.tfrecord import Framed
from ..storage.schema import Schema
from .chunks import all_chunks, check_source, chunks_of, encoding_of
from .encoding import Chunk, Encoding, Refused
from .frames import rows_of_frame
from .keys import order_of, shard_of
from .parts import ShardsOf, add_all
from .plan import DEFAULT_SHARD_BYTES, check_destination, check_workers, plan_of
from .progress import Progress, Reporter, reporter
from .receipts import Receipt
from .refused import check_report
from .run import Run
from .shards import BySize, InTurn, Layout, by_number
from .shuffle import Buckets
from .sources import Indexed, Parts, RowSource, Source, source_of


@dataclass(frozen=True)
class Job:
    """One split on its way from its source to its shards.

    Each method writes all shards, and returns how many there are and the rows that were
    left out of no shard in particular.

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

    def by_parts(self, source: Indexed | Parts) -> tuple[int, list[Refused]]:
        """Write each part of the source to a shard of its own."""
        plan, receipts = self.run.plan, self.run.receipts
        left = [shard for shard in plan.numbers if shard not in receipts]
        for before in list(receipts.values())[-1:]:
            if isinstance(source, Indexed) and before.last_row >= 0:
                found = all_chunks(source, self.encoding, skip=before.last_row)
                self._compare(before, next(found))
        if self.workers > 1:
            written = in_parallel(
                ShardsOf(source, plan, self.encoding),
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
            chunks = chunks_of(source, plan, shard, self.encoding)
            add = partial(self.run.add, shard)
            last_row, refused = add_all(add, chunks, self.report)
            self.run.finish(shard, last_row=last_row, refused=refused)
        return len(plan.numbers), []

    def in_order(self) -> tuple[int, list[Refused]]:
        """Write the rows as they come: to a number of shards in turn, or by size."""
        plan = self.run.plan
        shard = self.run.keep_leading()
        layout: Layout = (
            InTurn(plan.shards) if plan.shards else BySize(plan.shard_bytes, shard)
        )
        last_row, refused = -1, list[Refused]()
        for chunk in self._chunks_after(shard):
            refused += chunk.refused
            at = 0
            for number, records in layout.deal(chunk.framed):
                if layout.in_order and number > shard:
                    # A run that goes on reads the rows after the last one again.
                    mine = [row for row in refused if row.row < last_row]
                    del refused[: len(mine)]
                    self.run.finish(shard, last_row=last_row, refused=mine)
                    shard = number
                self.run.add(number, records)
                at += len(records)
                last_row = int(chunk.rows[at - 1])
        return plan.shards or shard + 1, refused

    def shuffled(self, seed: int) -> tuple[int, list[Refused]]:
        """Write all rows in a random order, by way of buckets on disk.

        Raises:
            DuplicateKeyError: two rows have the same key.
        """
        plan = self.run.plan
        buckets = Buckets(self.run.buckets, key_field=plan.key_field)
        refused = list[Refused]()
        for chunk in self._all(self._chunks()):
            keys = chunk.keys
            if keys is None:
                keys = order_of(seed, chunk.part, chunk.rows)
            with self.run.telling():
                buckets.add(keys, chunk.rows, chunk.part, chunk.framed)
            refused += chunk.refused
        shard, by_size = 0, BySize(plan.shard_bytes)
        for keys, piece in self._ordered(buckets):
            dealt = (
                by_number(shard_of(keys, plan.shards), piece)
                if plan.shards
                else by_size.deal(piece)
            )
            for number, records in dealt:
                for full in range(shard, number):
                    self.run.finish(full)
                shard = number
                self.run.add(number, records)
        return plan.shards or shard + 1, refused

    def _ordered(self, buckets: Buckets) -> Iterator[tuple[NDArray[np.uint64], Framed]]:
        with self.run.telling():
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
        return all_chunks(self.source, self.encoding, workers=self.workers, skip=skip)

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


def write_split(
    source: RowSource,
    serialize: Callable[..., bytes],
    directory: str | os.PathLike[str],
    split: str,
    *,
    schema: Schema,
    shards: int | None,
    shard_bytes: int,
    workers: int,
    shuffle_seed: int | None,
    key_field: str | None,
    compression: str | None,
    compression_level: int | None,
    on_error: Literal["raise", "skip"],
    refused: str | os.PathLike[str] | None,
    overwrite: bool,
    take_over: bool,
    allow_empty: bool,
    index: bool,
    resume: bool,
    progress: bool | Callable[[Progress], object] | None,
) -> int:
    """Write a whole split; options, result and errors are those of `write_dataset`."""
    check_destination(directory, split)
    check_workers(workers)
    check_flags(resume=resume)
    rows = source_of(rows_of_frame(source, schema.spec))
    is_shuffled = shuffle_seed is not None
    if isinstance(rows, Parts) and not is_shuffled:
        if shards not in (None, len(rows)):
            raise DatasetError(
                f"shards={shards}: the source has a function for each of {len(rows)} "
                "shards; leave `shards` out, or shuffle with shuffle_seed"
            )
        shards, shard_bytes = len(rows), DEFAULT_SHARD_BYTES
    plan = plan_of(
        schema,
        getattr(serialize, "__module__", ""),
        directory,
        split,
        shards=shards,
        rows=rows.length if isinstance(rows, Indexed) else None,
        shard_bytes=shard_bytes,
        shuffle_seed=shuffle_seed,
        key_field=key_field,
        compression=compression,
        compression_level=compression_level,
        on_error=on_error,
        overwrite=overwrite,
        take_over=take_over,
        allow_empty=allow_empty,
        index=index,
    )
    if refused is not None and on_error == "raise":
        raise DatasetError(
            f"refused={str(refused)!r} is for on_error='skip': otherwise no row is left "
            "out"
        )
    check_report(refused)
    check_source(rows, workers, shuffled=is_shuffled)
    encoding = encoding_of(serialize, plan)
    by_parts = plan.shards is not None and not is_shuffled
    in_turn = by_parts and not isinstance(rows, (Indexed, Parts))
    run = Run(
        plan,
        schema,
        open_shards=(plan.shards or 1) if in_turn else 1,
        resume=resume,
        # The order of a shuffle, and the end of shards in turn, need all rows again.
        keep_receipts=not is_shuffled and not in_turn,
    )
    try:
        with reporter(progress, rows.length, split) as report:
            job = Job(run, rows, encoding, workers, report)
            if shuffle_seed is not None:
                total, left_out = job.shuffled(shuffle_seed)
            elif by_parts and isinstance(rows, (Indexed, Parts)):
                total, left_out = job.by_parts(rows)
            else:
                total, left_out = job.in_order()
        return run.publish(total, refused=left_out, report=refused)
    except BaseException as error:
        kept = run.abort(keep=True)
        if kept and not isinstance(error, ChangedSourceError):
            error.add_note(
                f"{kept} records of split {split!r} are in finished shards: "
                "resume=True goes on after them, and a run without it removes them"
            )
        raise
