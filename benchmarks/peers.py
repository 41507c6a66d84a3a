"""What one would otherwise write records with: protobuf, tfx-bsl, TFDS."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from .shapes import Columns, Row

Serialize = Callable[[], list[bytes]]


def protobuf(rows: list[Row]) -> Serialize:
    """(a) tf.train.Example, one feature a line, as tutorials write it."""
    import tensorflow as tf

    def int64_feature(value: Any) -> Any:
        return tf.train.Feature(int64_list=tf.train.Int64List(value=value))

    def float_feature(value: Any) -> Any:
        return tf.train.Feature(float_list=tf.train.FloatList(value=value))

    def bytes_feature(value: bytes) -> Any:
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))

    def feature(value: Any) -> Any:
        if isinstance(value, bytes):
            return bytes_feature(value)
        if isinstance(value, int):
            return int64_feature([value])
        if isinstance(value, float):
            return float_feature([value])
        if value.dtype == np.uint8:
            return bytes_feature(value.tobytes())
        return (float_feature if value.dtype == np.float32 else int64_feature)(value)

    def serialize() -> list[bytes]:
        serialized = []
        for row in rows:
            features = {name: feature(value) for name, value in row.items()}
            example = tf.train.Example(features=tf.train.Features(feature=features))
            serialized.append(example.SerializeToString())
        return serialized

    return serialize


def tfx_bsl(columns: Columns) -> Serialize:
    """(b) tfx-bsl's encoder in C++, from an Arrow batch that is there already."""
    import pyarrow as pa
    from tfx_bsl.coders.example_coder import RecordBatchToExamplesEncoder

    def lists(values: Any) -> Any:
        if isinstance(values, np.ndarray) and values.dtype == np.uint8:
            values = [image.tobytes() for image in values]
        if isinstance(values, np.ndarray):
            values = values.reshape(len(values), -1)
        first = values[0]
        if isinstance(first, bytes):
            offsets = np.arange(len(values) + 1)
            return pa.LargeListArray.from_arrays(
                offsets, pa.array(values, pa.large_binary())
            )
        lengths = [0, *(len(value) for value in values)]
        flat = np.concatenate(list(values))
        kind = pa.float32() if flat.dtype.kind == "f" else pa.int64()
        flat = flat.astype(np.float32 if flat.dtype.kind == "f" else np.int64)
        return pa.LargeListArray.from_arrays(np.cumsum(lengths), pa.array(flat, kind))

    arrays = {name: lists(values) for name, values in columns.items()}
    batch = pa.RecordBatch.from_arrays(list(arrays.values()), list(arrays))
    encoder = RecordBatchToExamplesEncoder()

    def serialize() -> list[bytes]:
        encoded: list[bytes] = encoder.encode(batch)
        return encoded

    return serialize


def tfds(rows: list[Row]) -> Serialize:
    """(c) The serializer of tensorflow-datasets, one example at a time."""
    import tensorflow_datasets as datasets
    from tensorflow_datasets.core import example_serializer

    features = datasets.features
    spec = {name: _tfds_feature(features, value) for name, value in rows[0].items()}
    info = features.FeaturesDict(spec)
    serializer = example_serializer.ExampleSerializer(info.get_serialized_info())

    def serialize() -> list[bytes]:
        return [serializer.serialize_example(info.encode_example(row)) for row in rows]

    return serialize


def _tfds_feature(features: Any, value: Any) -> Any:
    if isinstance(value, bytes):
        return features.Tensor(shape=(), dtype=np.object_)
    if isinstance(value, int):
        return features.Scalar(np.int64)
    if isinstance(value, float):
        return features.Scalar(np.float32)
    if value.dtype == np.uint8:
        return features.Tensor(
            shape=value.shape, dtype=np.uint8, encoding=features.Encoding.BYTES
        )
    if value.dtype == np.int64:
        return features.Sequence(features.Scalar(np.int64))
    return features.Tensor(shape=value.shape, dtype=np.float32)


def write_file(records: Iterable[bytes], path: Path) -> None:
    """Write serialized records with tf.io.TFRecordWriter."""
    import tensorflow as tf

    with tf.io.TFRecordWriter(str(path)) as writer:
        for record in records:
            writer.write(record)
