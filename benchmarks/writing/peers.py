"""What one would otherwise write records with: protobuf, tfx-bsl, TFDS.

Each is used as well as it can be: what a program would do once, such as making Arrow
arrays or a description of the features, is done outside of the time that is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..measure import library
from ..shapes import Columns, Row
from ..tfds import tfds_features

Serialize = Callable[[], Iterator[list[bytes]]]
"""Yields serialized records, some at a time."""


def tensorflow() -> Any:
    """Return tensorflow, or raise `Missing`."""
    return library("tensorflow", "tensorflow")


def protobuf(rows: list[Row], at_once: int, *, lists: bool = False) -> Serialize:
    """(a) tf.train.Example, a feature for each value, as tutorials write it.

    Args:
        rows: what to serialize.
        at_once: how many are kept before they are handed on.
        lists: turn arrays into lists first, which few tutorials do and which is
            faster, since protobuf takes arrays an element at a time.
    """
    train = tensorflow().train

    def int64_feature(value: Any) -> Any:
        return train.Feature(int64_list=train.Int64List(value=value))

    def float_feature(value: Any) -> Any:
        return train.Feature(float_list=train.FloatList(value=value))

    def bytes_feature(value: bytes) -> Any:
        return train.Feature(bytes_list=train.BytesList(value=[value]))

    def feature(value: Any) -> Any:
        if isinstance(value, bytes):
            return bytes_feature(value)
        if isinstance(value, int):
            return int64_feature([value])
        if isinstance(value, float):
            return float_feature([value])
        if value.dtype == np.uint8:
            return bytes_feature(value.tobytes())
        make = float_feature if value.dtype == np.float32 else int64_feature
        return make(value.tolist() if lists else value)

    def serialize_row(row: Row) -> bytes:
        features = {name: feature(value) for name, value in row.items()}
        example = train.Example(features=train.Features(feature=features))
        serialized: bytes = example.SerializeToString()
        return serialized

    def serialize() -> Iterator[list[bytes]]:
        for at in range(0, len(rows), at_once):
            yield [serialize_row(row) for row in rows[at : at + at_once]]

    return serialize


def tfx_bsl(batches: list[Columns]) -> Serialize:
    """(b) tfx-bsl's encoder in C++, from Arrow batches that are there already."""
    arrow = library("pyarrow", "pyarrow")
    coder = library("tfx_bsl.coders.example_coder", "tfx-bsl")

    def large_list(values: Any) -> Any:
        if isinstance(values, np.ndarray) and values.dtype == np.uint8:
            values = [image.tobytes() for image in values]
        if isinstance(values[0], bytes):
            offsets = np.arange(len(values) + 1)
            flat = arrow.array(values, arrow.large_binary())
            return arrow.LargeListArray.from_arrays(offsets, flat)
        if isinstance(values, np.ndarray):
            values = values.reshape(len(values), -1)
        offsets = np.cumsum([0, *(len(value) for value in values)])
        numbers = np.concatenate(list(values))
        dtype = np.float32 if numbers.dtype.kind == "f" else np.int64
        flat = arrow.array(numbers.astype(dtype))
        return arrow.LargeListArray.from_arrays(offsets, flat)

    def record_batch(batch: Columns) -> Any:
        arrays = [large_list(values) for values in batch.values()]
        return arrow.RecordBatch.from_arrays(arrays, list(batch))

    record_batches = [record_batch(batch) for batch in batches]
    encoder = coder.RecordBatchToExamplesEncoder()

    def serialize() -> Iterator[list[bytes]]:
        yield from map(encoder.encode, record_batches)

    return serialize


def tfds(rows: list[Row], at_once: int) -> Serialize:
    """(c) The serializer of tensorflow-datasets, one example at a time."""
    serializing = library(
        "tensorflow_datasets.core.example_serializer", "tensorflow-datasets"
    )
    info = tfds_features(rows[0])
    serializer = serializing.ExampleSerializer(info.get_serialized_info())

    def serialize() -> Iterator[list[bytes]]:
        for at in range(0, len(rows), at_once):
            yield [
                serializer.serialize_example(info.encode_example(row))
                for row in rows[at : at + at_once]
            ]

    return serialize


def write_file(
    records: Iterable[list[bytes]], path: Path, compression: str = ""
) -> None:
    """Write serialized records with tf.io.TFRecordWriter.

    Args:
        records: some at a time.
        path: of the file.
        compression: "", "GZIP" or "ZLIB", at the level that TensorFlow chooses.
    """
    with tensorflow().io.TFRecordWriter(str(path), compression) as writer:
        for some in records:
            for record in some:
                writer.write(record)
