"""Writing a whole split from a source of rows: by parts, in order, or shuffled."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..shared.calling import check_flags
from ..shared.errors import ChangedSourceError, DatasetError
from ..shared.processes import in_parallel
from ..shared.tfrecord import Framed
from ..storage.journal import Finished
from ..storage.manifest import of_schema
from ..storage.schema import Schema
from .encoding import Chunk, Encoding
from .keys import order_of, shard_of
from .pending import PendingSplit
from .plan import (
    check_destination,
    check_keys,
    check_refusing,
    check_sharding,
    check_workers,
    packing_of,
)
from .progress import Progress, Reporter, reporter
from .refused import Report
from .shards import BySize, InTurn, Layout, by_number
from .shuffle import Buckets
from .sources import Indexed, Parts, RowSource, Source, source_of
from .workers import WholeShards, check_source, chunks


@dataclass(frozen=True)
class Job:
    """One split on its way from its source to its shards.

    Attributes:
        pending: takes the shards, and knows those of an interrupted run.
        source: gives the rows.
        encoding: how rows become records.
        workers: how many processes encode.
        report: gets the rows that are left out.
        told: is told of records and their bytes.
    """

    pending: PendingSplit
    source: Source
    encoding: Encoding
    workers: int
    report: Report
    told: Reporter

    def by_parts(self, parts: int) -> int:
        """Write each part of the source to a shard of its own.

        Returns:
            The number of shards; errors are those of `chunks` and of the disk.
        """
        left = [part for part in range(parts) if part not in self.pending.finished]
        last_rows = dict.fromkeys(left, -1)
        if isinstance(self.source, Indexed):
            for before in list(self.pending.finished.values())[-1:]:
                if before.last_row >= 0:
                    first = next(
                        chunks(self.source, self.encoding, skip=before.last_row)
                    )
                    self._compare(before, first)
        if self.workers > 1 and isinstance(self.source, (Indexed, Parts)):
            self._by_processes(self.source, parts, left)
            return parts
        found = chunks(self.source, self.encoding, blocks=parts, parts=left)
        for chunk in self._all(found):
            self.pending.add(chunk.part, chunk.framed)
            if len(chunk.rows):
                last_rows[chunk.part] = int(chunk.rows[-1])
            if chunk.last:
                self.pending.finish(chunk.part, last_row=last_rows[chunk.part])
        return parts

    def _by_processes(
        self, source: Indexed | Parts, parts: int, left: list[int]
    ) -> None:
        """Write whole shards in several processes."""
        pending = self.pending
        work = WholeShards(
            pending.where,
            pending.split,
            pending.token,
            pending.packing,
            source,
            self.encoding,
            parts,
        )
        try:
            for _, (shard, refused) in in_parallel(
                work,
                left,
                workers=self.workers,
                method=None,
                moved=self.told,
                counts=2,
                in_order=True,
            ):
                self.report.add(refused)
                pending.take(shard)
        except BaseException:
            pending.remove(set(left) - set(pending.finished))
            raise

    def in_order(self, shards: int | None, shard_bytes: int) -> int:
        """Write the rows as they come: to a number of shards in turn, or by size.

        Returns:
            The number of shards; errors are those of `chunks` and of the disk.
        """
        shard = self.pending.keep_leading()
        layout: Layout = InTurn(shards) if shards else BySize(shard_bytes, shard)
        last_row = -1
        for chunk in self._chunks_after(shard):
            at = 0
            for number, records in layout.deal(chunk.framed):
                if layout.in_order and number > shard:
                    self.pending.finish(
                        shard, next_row=int(chunk.rows[at]), last_row=last_row
                    )
                    shard = number
                self.pending.add(number, records)
                at += len(records)
                last_row = int(chunk.rows[at - 1])
        return shards or shard + 1

    def shuffled(self, seed: int, shards: int | None, shard_bytes: int) -> int:
        """Write all rows in a random order, by way of buckets on disk.

        Returns:
            The number of shards.

        Raises:
            DuplicateKeyError: two rows have the same key.
            Exception: as `chunks`, or as the disk.
        """
        buckets = self._filled_buckets(seed)
        shard = self.pending.keep_leading()
        done = self.pending.finished[shard - 1].next if shard else 0
        by_size = BySize(shard_bytes, shard)
        for keys, piece in self._ordered(buckets, done):
            dealt = (
                by_number(shard_of(keys, shards), piece)
                if shards
                else by_size.deal(piece)
            )
            for number, records in dealt:
                for full in range(shard, number):
                    self.pending.finish(full, next_row=done)
                shard = number
                self.pending.add(number, records)
                done += len(records)
            with self.pending.telling():
                buckets.forget(self.pending.durable)
        return shards or shard + 1

    def _filled_buckets(self, seed: int) -> Buckets:
        """Return buckets of all records, those of an interrupted run if it had them."""
        path = self.pending.buckets
        telling = self.pending.telling
        with telling():
            found = Buckets.reopen(path) if self.pending.shuffled else None
        if found is not None:
            return found
        self.pending.start_over()
        with telling():
            buckets = Buckets(path, key_field=self.encoding.key_field)
        for chunk in self._all(self._chunks()):
            keys = chunk.keys
            if keys is None:
                keys = order_of(seed, chunk.part, chunk.rows)
            with telling():
                buckets.add(keys, chunk.rows, chunk.part, chunk.framed)
        with telling():
            buckets.seal()
        self.pending.note_shuffled()
        return buckets

    def _ordered(
        self, buckets: Buckets, skip: int
    ) -> Iterator[tuple[NDArray[np.uint64], Framed]]:
        with self.pending.telling():
            yield from buckets.ordered(skip=skip)

    def _all(self, found: Iterator[Chunk]) -> Iterator[Chunk]:
        for chunk in found:
            self.report.add(chunk.refused)
            self.told(len(chunk.framed), len(chunk.framed.data))
            yield chunk

    def _chunks_after(self, shard: int) -> Iterator[Chunk]:
        """Yield the chunks of rows that no shard before this one has."""
        if not shard:
            return self._all(self._chunks())
        before = self.pending.finished[shard - 1]
        # Beginning with the last row that is written, to compare it.
        found = self._chunks(skip=before.last_row)
        first = next(found)
        self._compare(before, first)
        rest = replace(first, framed=first.framed[1:], rows=first.rows[1:])
        return self._all(chain([rest], found))

    def _chunks(self, skip: int = 0) -> Iterator[Chunk]:
        return chunks(self.source, self.encoding, workers=self.workers, skip=skip)

    def _compare(self, before: Finished, first: Chunk) -> None:
        """See that a row is what an interrupted run has written of it.

        Args:
            before: the shard that has the row as its last one.
            first: the row's chunk, which begins with it.

        Raises:
            ChangedSourceError: the source does not hold the same rows any more.
        """
        rows = first.rows[:1].tolist()
        checksum = bytes(first.framed[:1].data[-4:]).hex()
        if rows != [before.last_row] or checksum != before.contents.last:
            raise ChangedSourceError(
                f"{self.pending.where}: the source has changed: row {before.last_row} "
                "is not what the interrupted run has written; begin again with "
                "resume=False"
            )


def passed(
    pending: PendingSplit, source: Source, parts: int | None
) -> Callable[[int | None, int], bool]:
    """Return what tells, by shard and row, which rows a run does not see again.

    Args:
        pending: knows the shards of the interrupted run.
        source: gives the rows.
        parts: into how many parts it falls; None if it is read in order.
    """
    finished = pending.finished
    if pending.shuffled or pending.total is not None:
        return lambda shard, row: True
    if parts is not None and isinstance(source, Indexed):
        blocks = [source.block(part, parts) for part in finished]
        return lambda shard, row: any(row in block for block in blocks)
    if parts is not None:
        return lambda shard, row: shard in finished
    leading = pending.keep_leading()
    last_row = finished[leading - 1].last_row if leading else -1
    return lambda shard, row: row <= last_row


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
    allow_empty: bool,
    index: bool,
    resume: bool,
    progress: bool | Callable[[Progress], object] | None,
) -> int:
    """Write a whole split; options, result and errors are those of `write_dataset`."""
    check_destination(directory, split)
    check_sharding(shards, shard_bytes)
    check_workers(workers)
    check_flags(
        overwrite=overwrite, allow_empty=allow_empty, index=index, resume=resume
    )
    check_refusing(on_error, refused)
    if shuffle_seed is not None and type(shuffle_seed) is not int:
        raise DatasetError(
            f"shuffle_seed={shuffle_seed!r}: expected an integer, or None"
        )
    check_keys(key_field, shuffle_seed)
    rows = source_of(source)
    check_source(rows, workers, shuffled=shuffle_seed is not None)
    encoding = Encoding(serialize, on_error == "skip", key_field, shuffle_seed or 0)
    parts = _parts(rows, shards, shuffled=shuffle_seed is not None)
    in_turn = shards is not None and parts is None and shuffle_seed is None
    pending = PendingSplit(
        directory,
        split,
        of_schema(schema),
        packing=packing_of(
            compression,
            compression_level,
            open_shards=(shards or 1) if in_turn else 1,
        ),
        request={
            "fingerprint": schema.fingerprint,
            "source": type(rows).__name__,
            "rows": rows.length,
            "parts": parts,
            "shards": shards,
            "shard_bytes": shard_bytes,
            "shuffle_seed": shuffle_seed,
            "key_field": key_field,
            "on_error": on_error,
        },
        overwrite=overwrite,
        allow_empty=allow_empty,
        index=index,
        resume=resume,
    )
    try:
        with (
            Report(refused, split, keep=passed(pending, rows, parts)) as report,
            reporter(progress, rows.length, split) as told,
        ):
            job = Job(pending, rows, encoding, workers, report, told)
            if pending.total is not None:
                total = pending.total  # all was written, and is published now
            elif shuffle_seed is not None:
                total = job.shuffled(shuffle_seed, shards, shard_bytes)
            elif parts is not None:
                total = job.by_parts(parts)
            else:
                total = job.in_order(shards, shard_bytes)
        return pending.publish(total)
    except BaseException as error:
        kept = pending.abort(keep=True)
        if kept and not isinstance(error, ChangedSourceError):
            error.add_note(
                f"{kept} records of split {split!r} are in finished shards: "
                "resume=True goes on after them, and a run without it removes them"
            )
        raise


def _parts(source: Source, shards: int | None, *, shuffled: bool) -> int | None:
    """Return into how many parts, of a shard each, the source falls by itself."""
    if shuffled:
        return None
    if isinstance(source, Parts):
        if shards not in (None, len(source)):
            raise DatasetError(
                f"shards={shards}: the source has a function for each of {len(source)} "
                "shards; leave `shards` out, or shuffle with shuffle_seed"
            )
        return len(source)
    return shards if isinstance(source, Indexed) else None
