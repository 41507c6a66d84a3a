"""The generated pipelines of the measured records, and their data."""

from __future__ import annotations

from pathlib import Path

from ..generated import Generated
from ..shapes import Row, batches_of
from .shapes import ReadShape
from .ways import Reading, fields_of, of_dataset

SPLIT = "train"
_SHARDS = 4
_AT_ONCE = 1_024


def write(
    generated: Generated, shape: ReadShape, rows: list[Row], directory: Path
) -> list[str]:
    """Write rows into four shards with the generated writer, and return the files."""
    serializer = generated.module(f"{shape.record}.serializer")
    with serializer.Writer(directory, SPLIT, shards=_SHARDS) as writer:
        for batch in batches_of(rows, _AT_ONCE):
            writer.write_batch(**batch)
    return sorted(str(file) for file in directory.glob("*.tfrecord"))


def read(
    generated: Generated, shape: ReadShape, directory: Path, *, training: bool
) -> Reading:
    """`make_dataset` of the generated pipeline, which validates as it always does."""
    pipeline = generated.module(f"{shape.record}.pipeline")
    dataset = pipeline.make_dataset(
        directory,
        SPLIT,
        batch_size=shape.batch,
        training=training,
        shuffle_buffer=shape.shuffle_buffer,
    )
    return of_dataset(dataset, fields_of, shuffled=training)
