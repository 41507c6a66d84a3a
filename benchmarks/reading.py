"""Ways of reading records: the generated pipeline, and its alternatives.

Each is used as its own documentation shows it, and delivers the same values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from .measure import Way, exhausting, library
from .program import Generated
from .records import (
    Columns,
    Row,
    Shape,
    columns_of,
    mix,
    numbers,
    pictures,
    tfds_features,
    tokens,
)

CORES = 2
"""Number of cores, and of threads where a way asks for a number."""

TARGET = "label"
_AUTOTUNE = tf.data.AUTOTUNE

Decode = Callable[[Columns, tuple[int, ...]], Columns]


@dataclass(frozen=True)
class ReadShape(Shape):
    """Records to read.

    Attributes:
        description: of the features, for TensorFlow's parsers.
        decode: parsed features to delivered values; its second argument is the batch
            shape, () for one record and (-1,) for a batch.
        shuffle_buffer: number of records, for all ways that shuffle.
    """

    description: dict[str, Any]
    decode: Decode
    shuffle_buffer: int


def _documents(count: int, random: np.random.Generator) -> list[Row]:
    return [{"tokens": tokens(random, 512)} | row for row in numbers(count, random)]


def _decode_mix(parsed: Columns, lead: tuple[int, ...]) -> Columns:
    pixels = tf.io.decode_raw(parsed["image"], tf.uint8)
    return parsed | {
        "image": tf.reshape(pixels, (*lead, 32, 32, 3)),
        "tokens": tf.sparse.to_dense(parsed["tokens"]),
    }


def _decode_picture(parsed: Columns, _: tuple[int, ...]) -> Columns:
    return parsed | {"image": decoded(parsed["image"])}


def _decode_picture_as_floats(parsed: Columns, _: tuple[int, ...]) -> Columns:
    return parsed | {"image": _resized(parsed["image"])}


def decoded(image: tf.Tensor) -> tf.Tensor:
    """Decode a JPEG image: uint8 [224, 224, 3]."""
    return _rounded(_resized(image))


def _resized(image: tf.Tensor) -> tf.Tensor:
    return tf.image.resize(tf.io.decode_jpeg(image, channels=3), (224, 224))


def _rounded(pixels: tf.Tensor) -> tf.Tensor:
    return tf.cast(tf.round(pixels), tf.uint8)


def _scalars(names: str, dtype: tf.DType) -> dict[str, Any]:
    return {f"{names}{at}": tf.io.FixedLenFeature([], dtype) for at in range(10)}


_PICTURE = {
    "image": tf.io.FixedLenFeature([], tf.string),
    "label": tf.io.FixedLenFeature([], tf.int64),
    "floats": tf.io.FixedLenFeature([5], tf.float32),
}
_MIX = _PICTURE | {"tokens": tf.io.VarLenFeature(tf.int64)}
_DOCUMENT = {
    "tokens": tf.io.FixedLenFeature([512], tf.int64),
    **_scalars("f", tf.float32),
    **_scalars("i", tf.int64),
}
_pictures = partial(pictures, height=400, width=420)

SHAPES = {
    "mix": ReadShape("mix", "mix", 65_536, 128, mix, _MIX, _decode_mix, 10_000),
    "jpeg": ReadShape(
        "jpeg", "jpeg", 1_024, 64, _pictures, _PICTURE, _decode_picture, 256
    ),
    "tokens": ReadShape(
        "tokens",
        "document",
        32_768,
        128,
        _documents,
        _DOCUMENT,
        lambda parsed, _: parsed,
        10_000,
    ),
}
"""The shapes that are read, by name."""


@dataclass(frozen=True)
class Reading:
    """A way of reading all records once.

    Attributes:
        epoch: reads them and drops each batch.
        batches: reads them and yields arrays by field.
        shuffled: whether it shuffles.
        dataset: of batches, if the way is one.
    """

    epoch: Way
    batches: Callable[[], Iterable[Columns]]
    shuffled: bool
    dataset: tf.data.Dataset | None = None


def of_dataset(
    dataset: tf.data.Dataset, named: Callable[[Any], Columns], *, shuffled: bool
) -> Reading:
    """Return the way of a dataset, which a function consumes that its first call traces.

    `model.fit` takes batches in the same way: inside a graph, without handing tensors
    to Python, so delivering few tensors is no advantage.

    Args:
        dataset: of batches.
        named: converts an element to tensors by field.
        shuffled: whether it shuffles.
    """

    def consumed() -> tf.Tensor:
        return dataset.reduce(np.int64(0), lambda batches, _: batches + 1)

    def batches() -> Iterator[Columns]:
        for element in dataset:
            yield {name: value.numpy() for name, value in named(element).items()}

    epoch = tf.function(consumed, autograph=False)
    return Reading(epoch, batches, shuffled, dataset)


def fields_of(element: Any) -> Columns:
    """Return the tensors of (features, label), or of features alone, by field."""
    if not isinstance(element, tuple):
        return dict(element)
    features, label = element
    return {**features, TARGET: label}


def _element_of(fields: Columns) -> Any:
    """Return (features, label), or the features alone if there is no label."""
    features = dict(fields)
    label = features.pop(TARGET, None)
    return features if label is None else (features, label)


def generated(
    code: Generated, shape: ReadShape, directory: Path, *, training: bool
) -> Reading:
    """`make_dataset` of the generated pipeline, with its default validation."""
    dataset = code.module(f"{shape.record}.pipeline").make_dataset(
        directory,
        "train",
        batch_size=shape.batch,
        training=training,
        shuffle_buffer=shape.shuffle_buffer,
    )
    return of_dataset(dataset, fields_of, shuffled=training)


def opened(code: Generated, shape: ReadShape, directory: Path) -> Reading:
    """`open_split` of the generated reader: all records shuffled, without tensorflow."""
    split = code.module(f"{shape.record}.reader").open_split(directory, "train")

    def batches() -> Iterable[Columns]:
        return split.batches(shape.batch, shuffle_seed=1)  # type: ignore[no-any-return]

    def compared() -> Iterable[Columns]:
        for batch in batches():
            if shape.name == "jpeg":
                del batch["image"]  # decoders differ by a rounded bit; tests compare it
            yield batch

    return Reading(exhausting(batches), compared, shuffled=True)


def tutorials(files: list[str], shape: ReadShape) -> Reading:
    """(a) Parse each record, then shuffle, pad and prefetch, as tensorflow.org does."""
    return of_dataset(_mapped(files, shape, shape.decode), fields_of, shuffled=True)


def tutorials_with_floats(files: list[str], shape: ReadShape) -> Reading:
    """(a) The same without rounding pixels; only the comparison rounds them."""

    def named(element: Any) -> Columns:
        fields = fields_of(element)
        return fields | {"image": _rounded(fields["image"])}

    dataset = _mapped(files, shape, _decode_picture_as_floats)
    return of_dataset(dataset, named, shuffled=True)


def _mapped(files: list[str], shape: ReadShape, decode: Decode) -> tf.data.Dataset:
    def parse(record: tf.Tensor) -> Any:
        parsed = tf.io.parse_single_example(record, shape.description)
        return _element_of(decode(parsed, ()))

    records = tf.data.TFRecordDataset(files)
    return _batched(records.map(parse, num_parallel_calls=_AUTOTUNE), shape)


def _batched(records: tf.data.Dataset, shape: ReadShape) -> tf.data.Dataset:
    shuffled = records.shuffle(shape.shuffle_buffer)
    return shuffled.padded_batch(shape.batch).prefetch(_AUTOTUNE)


def batched_features(files: list[str], shape: ReadShape) -> Reading:
    """(b) TensorFlow's own function, which parses batches, with a thread per core."""
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
        return _element_of(shape.decode(parsed, (-1,)))

    dataset = dataset.map(decode, num_parallel_calls=_AUTOTUNE).prefetch(_AUTOTUNE)
    return of_dataset(dataset, fields_of, shuffled=True)


def records(files: list[str], shape: ReadShape, *, shuffle: bool = False) -> Reading:
    """(c) Serialized records in batches, without parsing."""
    dataset = tf.data.TFRecordDataset(files)
    if shuffle:
        dataset = dataset.shuffle(shape.shuffle_buffer)

    def parsed(serialized: tf.Tensor) -> Columns:
        found = tf.io.parse_example(serialized, shape.description)
        return shape.decode(found, (-1,))

    return of_dataset(dataset.batch(shape.batch), parsed, shuffled=shuffle)


def tfds(files: list[str], rows: list[Row], shape: ReadShape) -> Reading:
    """(d) tensorflow-datasets, reading the same files."""
    datasets = library("tensorflow_datasets", "tensorflow-datasets")
    directory = Path(files[0]).parent
    if not (directory / "dataset_info.json").exists():
        _write_tfds_metadata(datasets, directory, files, rows[0], shape)
    builder = datasets.builder_from_directory(directory)
    dataset = builder.as_dataset(split="train", shuffle_files=True)
    return of_dataset(_batched(dataset, shape), dict, shuffled=True)


def _write_tfds_metadata(
    datasets: Any, directory: Path, files: list[str], row: Row, shape: ReadShape
) -> None:
    template = datasets.core.naming.ShardedFileTemplate(
        directory,
        template="{SPLIT}-{SHARD_INDEX}-of-{NUM_SHARDS}.{FILEFORMAT}",
        dataset_name=shape.record,
        split="train",
        filetype_suffix="tfrecord",
    )
    split = datasets.core.SplitInfo(
        name="train",
        shard_lengths=[sum(1 for _ in tf.data.TFRecordDataset(f)) for f in files],
        num_bytes=sum(Path(file).stat().st_size for file in files),
        filename_template=template,
    )
    datasets.folder_dataset.write_metadata(
        data_dir=directory,
        features=tfds_features(row),
        split_infos=[split],
        filename_template=template,
        check_data=False,  # it looks for files of other names
    )


class InMemory(keras.utils.PyDataset):  # type: ignore[misc]
    """Batches of rows in memory, shuffled each epoch."""

    def __init__(self, rows: list[Row], batch: int) -> None:
        super().__init__()
        self._columns = {
            name: values.astype(np.float32)
            if isinstance(rows[0][name], float)
            else values
            for name, values in columns_of(rows).items()
        }
        self._batch = batch
        self._random = np.random.default_rng(0)
        self._order = self._random.permutation(len(rows))

    def __len__(self) -> int:
        """Return the number of batches."""
        return math.ceil(len(self._order) / self._batch)

    def __getitem__(self, index: int) -> Any:
        """Return a batch."""
        chosen = self._order[index * self._batch : (index + 1) * self._batch]
        return _element_of(
            {
                name: values[chosen]
                if isinstance(values, np.ndarray)
                else _padded([values[at] for at in chosen])
                for name, values in self._columns.items()
            }
        )

    def on_epoch_end(self) -> None:
        """Shuffle."""
        self._order = self._random.permutation(len(self._order))


def _padded(rows: list[Any]) -> Any:
    padded = np.zeros((len(rows), max(map(len, rows))), rows[0].dtype)
    for row, line in zip(rows, padded, strict=True):
        line[: len(row)] = row
    return padded


def in_memory(rows: list[Row], shape: ReadShape) -> Reading:
    """(e) A keras.utils.PyDataset over arrays, indexed in Python."""
    dataset = InMemory(rows, shape.batch)

    def batches() -> Iterator[Columns]:
        for index in range(len(dataset)):
            yield fields_of(dataset[index])
        dataset.on_epoch_end()

    return Reading(exhausting(batches), batches, shuffled=True)


def plain(
    code: Generated, files: list[str], shape: ReadShape, *, training: bool
) -> Reading:
    """(f) The generated parser in a pipeline that an expert writes by hand."""
    parse_batch = code.module(f"{shape.record}.parser").parse_batch
    blocks = tf.data.Dataset.from_tensor_slices(files).interleave(
        lambda file: tf.data.TFRecordDataset(file).batch(512),
        cycle_length=4 if training else 1,
        num_parallel_calls=4 if training else None,
    )
    records = blocks.unbatch()
    if training:
        records = records.shuffle(shape.shuffle_buffer)
    dataset = records.batch(shape.batch).map(
        lambda serialized: _element_of(parse_batch(serialized)),
        num_parallel_calls=CORES,
    )
    return of_dataset(dataset.prefetch(2), fields_of, shuffled=training)


def decoding(rows: list[Row]) -> Reading:
    """Decode images in memory with a thread per core, and nothing else."""
    images = tf.data.Dataset.from_tensor_slices([row["image"] for row in rows])
    dataset = images.map(decoded, num_parallel_calls=CORES)
    return of_dataset(
        dataset, lambda image: {"image": image[tf.newaxis]}, shuffled=False
    )
