"""The generated writers of the measured records."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from schemagen.runtime.encoding.examples import frame_examples
from schemagen.runtime.shared.tfrecord import frame_records

from ..generated import Generated
from ..shapes import Columns, Row


class Ours:
    """What is generated for writing one record.

    Args:
        generated: the code of all records.
        record: the one, in snake case.

    Attributes:
        serializer: the record's module.
    """

    def __init__(self, generated: Generated, record: str) -> None:
        self.serializer: Any = generated.module(f"{record}.serializer")

    def framed_batches(self, batches: list[Columns]) -> Iterator[Any]:
        """Yield each batch as it stands in a file."""
        for batch in batches:
            yield from frame_examples(self.serializer.columns_by_key(**batch))

    def framed_rows(self, rows: list[Row], at_once: int) -> Iterator[Any]:
        """Yield rows as they stand in a file, serialized one by one."""
        serialize = self.serializer.serialize
        for at in range(0, len(rows), at_once):
            yield frame_records([serialize(**row) for row in rows[at : at + at_once]])

    def write_batches(
        self, batches: list[Columns], directory: Path, shards: int | None = None
    ) -> None:
        """Write a split, a batch at a time."""
        with self.serializer.Writer(directory, "train", shards=shards) as writer:
            for batch in batches:
                writer.write_batch(**batch)

    def write_rows(self, rows: list[Row], directory: Path) -> None:
        """Write a split, a row at a time."""
        with self.serializer.Writer(directory, "train") as writer:
            for row in rows:
                writer.write(**row)
