"""Ways of writing records: the generated writer, protobuf, tfx-bsl and TFDS.

Work that a program does once, such as making Arrow arrays or a description of the
features, is not timed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from schemagen.runtime.shared.tfrecord import frame_records

from .measure import Different, library
from .program import Generated
from .records import Columns, Row, tfds_features

Serialize = Callable[[], Iterator[list[bytes]]]
"""Yields serialized records, some at a time."""

A = "(a) tf.train.Example"
A_LISTS = "(a) with .tolist()"
B = "(b) tfx-bsl"
C = "(c) TFDS"
BATCHES = "ours, batches"
ROWS = "ours, rows"
DATASET = "ours, write_dataset"


class Ours:
    """The generated writer of one record.

    Attributes:
        serializer: the record's module.
    """

    def __init__(self, generated: Generated, record: str) -> None:
        self.serializer: Any = generated.module(f"{record}.serializer")
        self.record: Any = generated.module(f"{record}.fields").RECORD

    def framed_batches(self, batches: list[Columns]) -> Iterator[Any]:
        """Yield each batch as bytes of a file."""
        for batch in batches:
            yield from self.record.frame_columns(**batch)

    def framed_rows(self, rows: list[Row], at_once: int) -> Iterator[Any]:
        """Yield rows as bytes of a file, serialized one by one."""
        serialize = self.serializer.serialize
        for at in range(0, len(rows), at_once):
            yield frame_records([serialize(**row) for row in rows[at : at + at_once]])

    def write_batches(
        self, batches: list[Columns], directory: Path, **options: Any
    ) -> None:
        """Write a split batch by batch, with options of `Writer`."""
        with self.serializer.Writer(directory, "train", **options) as writer:
            for batch in batches:
                writer.write_batch(**batch)

    def write_rows(self, rows: list[Row], directory: Path) -> None:
        """Write a split row by row."""
        with self.serializer.Writer(directory, "train") as writer:
            for row in rows:
                writer.write(**row)

    def write_dataset(self, rows: list[Row], directory: Path) -> None:
        """Write a split from rows, which become columns."""
        self.serializer.write_dataset(rows, directory, "train", progress=False)


def tensorflow() -> Any:
    """Return tensorflow, or raise `Missing`."""
    return library("tensorflow", "tensorflow")


def protobuf(rows: list[Row], at_once: int, *, lists: bool = False) -> Serialize:
    """(a) tf.train.Example, with a feature for each value, as in tutorials.

    Args:
        rows: the rows to serialize.
        at_once: number of records to yield together.
        lists: convert arrays to lists first, which few tutorials do and which is
            faster, because protobuf copies arrays element by element.
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
    """(b) tfx-bsl's encoder in C++, from Arrow batches made before."""
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
    """Write serialized records with tf.io.TFRecordWriter, at its default level."""
    with tensorflow().io.TFRecordWriter(str(path), compression) as writer:
        for some in records:
            for record in some:
                writer.write(record)


def records_of(framed: Iterable[Any]) -> Iterator[bytes]:
    """Yield the records of framed bytes, without lengths and checksums."""
    for some in framed:
        start = 0
        for end in some.ends.tolist():
            yield bytes(some.data[start + 12 : end - 4])
            start = end


def records_in(files: Iterable[Path], compression: str = "") -> Iterator[bytes]:
    """Yield the records of files as TensorFlow reads them, which checks checksums."""
    names = [str(file) for file in files]
    for record in tensorflow().data.TFRecordDataset(names, compression):
        yield record.numpy()


class Agreement:
    """Check that a way writes the given rows, parsed with protobuf."""

    def __init__(self, rows: list[Row]) -> None:
        self._rows = rows
        self._right: list[list[bytes]] = []

    def check(self, way: str, records: Iterable[bytes]) -> None:
        """Compare each value of each record; the same bytes are parsed once.

        Raises:
            Different: names the way, the record and the feature.
        """
        found = list(records)
        if found in self._right:
            return
        if len(found) != len(self._rows):
            raise Different(f"{way}: {len(found)} records of {len(self._rows)} rows")
        for number, (record, row) in enumerate(zip(found, self._rows, strict=True)):
            features = _features(record)
            if features.keys() != row.keys():
                raise Different(f"{way}: record {number}: features {sorted(features)}")
            for name, value in row.items():
                if not np.array_equal(features[name], _stored(value)):
                    raise Different(
                        f"{way}: record {number}: feature {name!r} has other values"
                    )
        self._right.append(found)


def _features(record: bytes) -> dict[str, Any]:
    example = tensorflow().train.Example.FromString(record)
    found = {}
    for name, feature in example.features.feature.items():
        kind = feature.WhichOneof("kind")
        values = getattr(feature, kind).value
        dtype = {"int64_list": np.int64, "float_list": np.float32}.get(kind)
        found[name] = np.array(values, dtype) if dtype else list(values)
    return found


def _stored(value: Any) -> Any:
    """Return the expected list of a value."""
    if isinstance(value, bytes):
        return [value]
    if isinstance(value, np.ndarray) and value.dtype == np.uint8:
        return [value.tobytes()]
    return np.asarray(value).reshape(-1)
