"""`write_dataset` of generated serializers."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ..shared.calling import options_by_name
from ..storage.schema import Schema
from .plan import DEFAULT_SHARD_BYTES
from .progress import Progress
from .sources import RowSource


@dataclass(frozen=True)
class SplitWriter:
    """Writes splits of one record; generated serializers offer its `write_dataset`.

    Attributes:
        serialize: from keywords to a serialized record.
        schema: the schema of the records.
    """

    serialize: Callable[..., bytes]
    schema: Schema

    def __repr__(self) -> str:
        return f"SplitWriter({self.schema.record!r})"

    @options_by_name
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
        take_over: bool = False,
        allow_empty: bool = False,
        index: bool = True,
        resume: bool = False,
        progress: bool | Callable[[Progress], object] | None = None,
    ) -> int:
        """Write a whole split, all of it or nothing.

        Args:
            source: the rows, as dicts of keywords for `serialize` or as instances of
                the schema's class: an iterable; a sequence, which the workers index;
                a frame of pandas or polars or a table of Arrow with a column for each
                field, where NaN, NA, NaT and null are missing values;
                or a list of functions, one per shard, each of which returns the rows
                of its shard.
            directory: the data directory, or an fsspec URL of one; created if missing.
            split: the split's name, such as "train".
            shards: the number of files; None starts a new one after `shard_bytes`.
            shard_bytes: the size of a file, before compression.
            workers: how many processes encode; the files are the same for any number.
            shuffle_seed: write all records in a random order, the same for equal
                seeds.
            key_field: with `shuffle_seed`, a field whose values, int, str or bytes,
                must be unique; the order then depends on them.
            compression: None, "GZIP" or "ZLIB".
            compression_level: 1 (fast) to 9 (small); None for 6.
            on_error: "raise" stops at a wrong row; "skip" leaves it out.
            refused: a file for the positions and errors of rows that are left out, as
                JSON lines.
            overwrite: replace the split if the directory already has it.
            take_over: end a run of another machine that has died while it wrote the split.
            allow_empty: publish the split even if it has no records.
            index: write an index next to the shards, with which `open_split` finds any
                record at once.
            resume: continue after the last finished shard of an interrupted run.
            progress: a callback, or whether to show a progress bar; None shows one on
                a terminal.

        Returns:
            The number of records written.

        Raises:
            RecordError: a value that the field cannot hold; names the row.
            TypeError: a row with a missing or an unknown field, or a source that is
                not a source of rows.
            DatasetError: the split exists, another writer is writing it, the directory
                holds other records, the source is empty, keys are not unique, or a
                worker has died.
            OSError: the disk refuses.
        """
        from .split import write_split  # imports much that serializing does without

        return write_split(
            source,
            self.serialize,
            directory,
            split,
            schema=self.schema,
            shards=shards,
            shard_bytes=shard_bytes,
            workers=workers,
            shuffle_seed=shuffle_seed,
            key_field=key_field,
            compression=compression,
            compression_level=compression_level,
            on_error=on_error,
            refused=refused,
            overwrite=overwrite,
            take_over=take_over,
            allow_empty=allow_empty,
            index=index,
            resume=resume,
            progress=progress,
        )
