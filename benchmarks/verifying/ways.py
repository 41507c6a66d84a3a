"""Ways to look at each record of some files, on one core."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tensorflow as tf
from schemagen.data.decoding import decode
from schemagen.data.framing import scan
from schemagen.data.inspect.inspecting import inspect_data
from schemagen.data.records import Damage
from schemagen.data.verify import verify

from ..measure import Different
from ..reading.shapes import ReadShape


def verified(directory: Path, records: int, workers: int = 1) -> None:
    """`schemagen verify` of a data directory.

    Raises:
        Different: it found something, or not all records.
    """
    found = verify(directory, workers=workers)
    if not found.clean or found.records != records:
        raise Different(f"verify: {found.records} records, {found.findings[:1]}")


def inspected(directory: Path, records: int) -> None:
    """`schemagen inspect` of the same."""
    found = inspect_data(directory, workers=1)
    count = found.whole.records
    if count != records:
        raise Different(f"inspect: {count} records, expected {records}")


def columns(files: Sequence[str], records: int) -> None:
    """Framing, checksums and columns, without a look at what they hold."""
    count = 0
    for file in files:
        for run in scan(file):
            if isinstance(run, Damage):
                raise Different(f"scan: {run}")
            decode(run)
            count += len(run)
    _same(count, records)


def parsed(files: Sequence[str], shape: ReadShape, records: int) -> None:
    """`parse_example` of batches, as tensorflow parses fastest; nothing is decoded."""
    parse = tf.function(_parser(shape.description))
    _count(tf.data.TFRecordDataset(files).batch(shape.batch).map(parse), records)


def parsed_one_by_one(files: Sequence[str], shape: ReadShape, records: int) -> None:
    """`parse_single_example` of each record, as tutorials do; nothing is decoded."""
    description = shape.description

    # Sequences of many lengths make no batch; one value of each record is passed on.
    dense = next(key for key, each in description.items() if hasattr(each, "shape"))

    def parse(record: tf.Tensor) -> tf.Tensor:
        return tf.io.parse_single_example(record, description)[dense]

    _count(tf.data.TFRecordDataset(files).map(parse).batch(shape.batch), records)


def unparsed(files: Sequence[str], shape: ReadShape, records: int) -> None:
    """Batches of serialized records: framing and checksums alone."""
    _count(tf.data.TFRecordDataset(files).batch(shape.batch), records)


def messages(files: Sequence[str], records: int) -> None:
    """`tf.train.Example.FromString` of each record, as checkers by hand do."""
    count = 0
    for record in tf.data.TFRecordDataset(files).as_numpy_iterator():
        tf.train.Example.FromString(record)
        count += 1
    _same(count, records)


def _parser(description: dict[str, Any]) -> Any:
    ragged = {
        key: tf.io.RaggedFeature(feature.dtype, row_splits_dtype=tf.int64)
        if isinstance(feature, tf.io.VarLenFeature)
        else feature
        for key, feature in description.items()
    }
    return lambda records: tf.io.parse_example(records, ragged)


def _count(dataset: tf.data.Dataset, records: int) -> None:
    options = tf.data.Options()
    options.threading.private_threadpool_size = 1
    options.autotune.enabled = False
    count = 0
    for batch in dataset.with_options(options):
        first = next(iter(batch.values())) if isinstance(batch, dict) else batch
        count += int(first.shape[0])
    _same(count, records)


def _same(found: int, expected: int) -> None:
    if found != expected:
        raise Different(f"{found} records, expected {expected}")
