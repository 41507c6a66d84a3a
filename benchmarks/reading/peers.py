"""What one would otherwise read records with.

Each is used as well as its own documentation uses it, and delivers the same values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from ..measure import library
from ..shapes import Columns, Row, columns_of
from ..tfds import tfds_features
from .shapes import (
    CORES,
    Decode,
    ReadShape,
    decode_picture_as_floats,
    decoded,
    rounded,
)
from .ways import Reading, element_of, fields_of, of_dataset

_AUTOTUNE = tf.data.AUTOTUNE


def tutorials(files: list[str], shape: ReadShape) -> Reading:
    """(a) Each record parsed by itself, as tensorflow.org and keras.io show it.

    On as many threads as AUTOTUNE finds right, then shuffled, padded and prefetched.
    """
    return of_dataset(_mapped(files, shape, shape.decode), fields_of, shuffled=True)


def tutorials_with_floats(files: list[str], shape: ReadShape) -> Reading:
    """(a) The same of pictures whose pixels are left as float32.

    So most tutorials do; to be compared with the others, they are rounded later.
    """

    def named(element: Any) -> Columns:
        fields = fields_of(element)
        return fields | {"image": rounded(fields["image"])}

    dataset = _mapped(files, shape, decode_picture_as_floats)
    return of_dataset(dataset, named, shuffled=True)


def _mapped(files: list[str], shape: ReadShape, decode: Decode) -> tf.data.Dataset:
    def parse(record: tf.Tensor) -> Any:
        parsed = tf.io.parse_single_example(record, shape.description)
        return element_of(decode(parsed, ()))

    return (
        tf.data.TFRecordDataset(files)
        .map(parse, num_parallel_calls=_AUTOTUNE)
        .shuffle(shape.shuffle_buffer)
        .padded_batch(shape.batch)
        .prefetch(_AUTOTUNE)
    )


def batched_features(files: list[str], shape: ReadShape) -> Reading:
    """(b) TensorFlow's own function, which parses batches, with a thread a core."""
    dataset = tf.data.experimental.make_batched_features_dataset(
        files,
        shape.batch,
        shape.description,
        num_epochs=1,
        shuffle_buffer_size=shape.shuffle_buffer,
        reader_num_threads=CORES,
        parser_num_threads=CORES,
    )

    def decode(parsed: Columns) -> Any:
        return element_of(shape.decode(parsed, (-1,)))

    dataset = dataset.map(decode, num_parallel_calls=_AUTOTUNE).prefetch(_AUTOTUNE)
    return of_dataset(dataset, fields_of, shuffled=True)


def records(files: list[str], shape: ReadShape, *, shuffle: bool = False) -> Reading:
    """(c) Serialized records in batches, of which nothing is parsed."""
    dataset = tf.data.TFRecordDataset(files)
    if shuffle:
        dataset = dataset.shuffle(shape.shuffle_buffer)

    def parsed(serialized: tf.Tensor) -> Columns:
        found = tf.io.parse_example(serialized, shape.description)
        return shape.decode(found, (-1,))

    return of_dataset(dataset.batch(shape.batch), parsed, shuffled=shuffle)


def tfds(directory: Path, rows: list[Row], shape: ReadShape) -> Reading:
    """(d) tensorflow-datasets, told about the files that are there."""
    datasets = library("tensorflow_datasets", "tensorflow-datasets")
    files = sorted(directory.glob("*.tfrecord"))
    template = datasets.core.naming.ShardedFileTemplate(
        directory,
        template="{SPLIT}-{SHARD_INDEX}-of-{NUM_SHARDS}.{FILEFORMAT}",
        dataset_name=shape.record,
        split="train",
        filetype_suffix="tfrecord",
    )
    split = datasets.core.SplitInfo(
        name="train",
        shard_lengths=[_length(file) for file in files],
        num_bytes=sum(file.stat().st_size for file in files),
        filename_template=template,
    )
    datasets.folder_dataset.write_metadata(
        data_dir=directory,
        features=tfds_features(rows[0]),
        split_infos=[split],
        filename_template=template,
        check_data=False,  # it looks for files of other names
    )
    builder = datasets.builder_from_directory(directory)
    dataset = (
        builder.as_dataset(split="train", shuffle_files=True)
        .shuffle(shape.shuffle_buffer)
        .padded_batch(shape.batch)
        .prefetch(_AUTOTUNE)
    )
    return of_dataset(dataset, dict, shuffled=True)


def _length(file: Path) -> int:
    return sum(1 for _ in tf.data.TFRecordDataset(str(file)))


class InMemory(keras.utils.PyDataset):  # type: ignore[misc]
    """Rows in memory, as arrays where they are of one shape; shuffled each epoch.

    Args:
        rows: all of them.
        batch: how many make a batch.
    """

    def __init__(self, rows: list[Row], batch: int) -> None:
        super().__init__()
        self._columns = {
            name: values.astype(np.float32)
            if isinstance(rows[0][name], float)
            else values
            for name, values in columns_of(rows).items()
        }
        self._batch = batch
        self._chance = np.random.default_rng(0)
        self._order = self._chance.permutation(len(rows))

    def __len__(self) -> int:
        """Return how many batches there are."""
        return math.ceil(len(self._order) / self._batch)

    def __getitem__(self, index: int) -> Any:
        """Return a batch."""
        chosen = self._order[index * self._batch : (index + 1) * self._batch]
        return element_of(
            {
                name: values[chosen]
                if isinstance(values, np.ndarray)
                else _padded([values[at] for at in chosen])
                for name, values in self._columns.items()
            }
        )

    def on_epoch_end(self) -> None:
        """Take another order."""
        self._order = self._chance.permutation(len(self._order))


def _padded(rows: list[Any]) -> Any:
    padded = np.zeros((len(rows), max(map(len, rows))), rows[0].dtype)
    for row, line in zip(rows, padded, strict=True):
        line[: len(row)] = row
    return padded


def in_memory(rows: list[Row], shape: ReadShape) -> Reading:
    """(e) A keras.utils.PyDataset over arrays, indexed in Python, batch after batch."""
    dataset = InMemory(rows, shape.batch)

    def batches() -> Iterator[Columns]:
        for index in range(len(dataset)):
            yield fields_of(dataset[index])
        dataset.on_epoch_end()

    def epoch() -> None:
        for _ in batches():
            pass

    return Reading(epoch, batches, shuffled=True)


def decoding(rows: list[Row]) -> Reading:
    """Decode images that are in memory on a thread a core, and nothing else."""
    images = tf.data.Dataset.from_tensor_slices([row["image"] for row in rows])
    dataset = images.map(decoded, num_parallel_calls=CORES)

    def named(image: tf.Tensor) -> Columns:
        return {"image": image[tf.newaxis]}

    return of_dataset(dataset, named, shuffled=False)
