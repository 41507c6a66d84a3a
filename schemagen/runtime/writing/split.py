"""Writing a whole split from a source of rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ..shared.errors import ChangedSourceError, DatasetError
from ..storage.manifest import Schema
from .encoding import Chunk, Encoding
from .job import Job, passed
from .options import (
    DEFAULT_SHARD_BYTES,
    check_destination,
    check_refusing,
    check_sharding,
    check_workers,
    packing_of,
)
from .pending import PendingSplit
from .progress import Progress, reporter
from .refused import Report
from .shuffle import Buckets
from .sources import Indexed, Parts, Row, Rows, Source, source_of
from .writer import warn_of_nothing

RowSource = Iterable[Row] | Rows | Sequence[Callable[[], Iterable[Row]]]


@dataclass(frozen=True)
class SplitWriter:
    """Writes splits of one record; generated serializers offer its `write_dataset`.

    Attributes:
        serialize: from keywords to a serialized record.
        schema: the schema of the records.
    """

    serialize: Callable[..., bytes]
    schema: Schema

    def write_dataset(
        self,
        source: RowSource,
        directory: str | os.PathLike[str],
        split: str,
        *,
        shards: int | None = None,
        shard_bytes: int = DEFAULT_SHARD_BYTES,
        workers: int = 1,
        shuffle_seed: int | None = None,
        key_field: str | None = None,
        compression: str | None = None,
        compression_level: int | None = None,
        on_error: Literal["raise", "skip"] = "raise",
        refused: str | os.PathLike[str] | None = None,
        overwrite: bool = False,
        resume: bool = False,
        progress: bool | Callable[[Progress], object] | None = None,
    ) -> int:
        """Write a whole split, all of it or nothing.

        Args:
            source: the rows, as dicts of keywords for `serialize` or as instances of
                the schema's class: an iterable; a sequence, which the workers index;
                or a list of functions, one per shard, each of which returns the rows
                of its shard.
            directory: the data directory, or an fsspec URL of one; made if not there.
            split: the split's name, such as "train".
            shards: the number of files; None starts a new one after `shard_bytes`.
            shard_bytes: the size of a file, before compression.
            workers: how many processes encode; the files are the same for any number.
            shuffle_seed: write all records in a random order, the same for equal
                seeds.
            key_field: a field whose values, int, str or bytes, must be unique.
            compression: None, "GZIP" or "ZLIB".
            compression_level: 1 (fast) to 9 (small); None for 6.
            on_error: "raise" stops at a wrong row; "skip" leaves it out.
            refused: a file for the positions and errors of rows that are left out, as
                JSON lines.
            overwrite: replace the split if the directory already has it.
            resume: continue after the last finished shard of an interrupted run.
            progress: a callback, or whether to show a progress bar; None shows one on
                a terminal.

        Returns:
            The number of records written.

        Raises:
            RecordError: a value that the field cannot hold exactly; names the row.
            TypeError: a row with a missing or an unknown field, or a source that is
                not a source of rows.
            DatasetError: the split exists, another writer is writing it, the directory
                holds other records, keys are not unique, or a worker has died.
            OSError: the disk refuses.
        """
        check_destination(directory, split, "write_dataset(rows, 'data', 'train')")
        check_sharding(shards, shard_bytes)
        check_workers(workers)
        check_refusing(on_error, refused)
        if shuffle_seed is not None and type(shuffle_seed) is not int:
            raise DatasetError(
                f"shuffle_seed={shuffle_seed!r}: expected an integer, or None"
            )
        if resume and key_field is not None and shuffle_seed is None:
            raise DatasetError(
                "resume=True with key_field: the keys of finished shards are known only "
                "when shuffling; pass shuffle_seed too, or leave one of them out"
            )
        rows = source_of(source)
        encoding = Encoding(
            self.serialize, on_error == "skip", key_field, shuffle_seed or 0
        )
        parts = _parts(rows, shards, shuffled=shuffle_seed is not None)
        in_turn = shards is not None and parts is None and shuffle_seed is None
        pending = PendingSplit(
            directory,
            split,
            self.schema.manifest,
            packing=packing_of(
                compression,
                compression_level,
                threads=workers,
                open_shards=(shards or 1) if in_turn else workers if parts else 1,
            ),
            request={
                "fingerprint": self.schema.fingerprint,
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
            resume=resume,
        )
        unique = None
        try:
            if key_field is not None and shuffle_seed is None:
                unique = Buckets(pending.buckets, key_field=key_field)
            with (
                Report(refused, split, keep=passed(pending, rows, parts)) as report,
                reporter(progress, rows.length, split) as told,
            ):

                def seen(chunk: Chunk) -> None:
                    report.add(chunk.refused)
                    told(len(chunk.framed), len(chunk.framed.data))
                    if unique is not None and chunk.keys is not None:
                        part = chunk.part if isinstance(rows, Parts) else 0
                        unique.add(chunk.keys, chunk.rows, part)

                job = Job(pending, rows, encoding, workers, seen)
                if pending.total is not None:
                    total = pending.total  # all was written, and is published now
                elif shuffle_seed is not None:
                    total = job.shuffled(shuffle_seed, shards, shard_bytes)
                elif parts is not None:
                    total = job.by_parts(parts)
                else:
                    total = job.in_order(shards, shard_bytes)
                if unique is not None:
                    unique.check_unique()
            records = pending.publish(total)
        except BaseException as error:
            kept = pending.abort(keep=unique is None)
            if kept and not isinstance(error, ChangedSourceError):
                error.add_note(
                    f"{kept} records of split {split!r} are in finished shards: "
                    "resume=True goes on after them, and a run without it removes them"
                )
            raise
        if not records and not report.rows:
            warn_of_nothing(pending, split)
        return records


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
