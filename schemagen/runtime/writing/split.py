"""Writing a whole split from a source of rows."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Literal

from ..shared.errors import ChangedSourceError, DatasetError
from ..storage.manifest import of_schema
from ..storage.schema import Schema
from .encoding import Chunk, Encoding
from .job import Job, passed
from .options import (
    check_destination,
    check_refusing,
    check_sharding,
    check_workers,
    packing_of,
)
from .pending import PendingSplit
from .progress import Progress, reporter
from .refused import Report
from .rows import RowSource
from .shuffle import Buckets
from .sources import Indexed, Parts, Source, source_of
from .writer import warn_of_nothing


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
    resume: bool,
    progress: bool | Callable[[Progress], object] | None,
) -> int:
    """Write a whole split; options, result and errors are those of `write_dataset`."""
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
            threads=workers,
            open_shards=(shards or 1) if in_turn else workers if parts else 1,
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
