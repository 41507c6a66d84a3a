"""The situations of the tutorials that users come from, by both ways.

Each is declared as a schema, written by the generated writer and by plain
tf.train.Example code as a tutorial has it, and read by the generated parser and by a
parser written by hand. All four ways have to agree, and then a model trains.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import pytest
import tensorflow as tf

if TYPE_CHECKING:
    from conftest import PackageOf, Workspace

_SCHEMA = """
from typing import Annotated
import numpy as np
from schemagen import Image, Label, Record, Scalar, Text, VarLen, Vector

class FloatImage(Record):
    image: Annotated[np.ndarray, Image(shape=(12, 12, 1), dtype="float32")]
    label: Annotated[int, Label(num_classes=3)]

class ByteImage(Record):
    image_raw: Annotated[np.ndarray, Image(shape=(12, 10, 3))]
    label: Annotated[int, Label(classes=("cat", "dog", "bird"))]

class CaptionedJpeg(Record):
    image: Annotated[
        bytes,
        Image(shape=(None, None, 3), encoding="jpeg", resize=(16, 16), key="image/encoded"),
    ]
    height: Annotated[int, Scalar("int64", key="image/height", role="info")]
    width: Annotated[int, Scalar("int64", key="image/width", role="info")]
    caption: Annotated[str, Text(key="image/caption")]
    label: Annotated[int, Label(num_classes=3, key="image/class/label")]

class Tokens(Record):
    tokens: Annotated[list[int], VarLen(dtype="int64")]
    label: Annotated[int, Label(num_classes=3)]

class ImageWithMetadata(Record):
    image: Annotated[np.ndarray, Image(shape=(12, 12, 3), encoding="png")]
    metadata: Annotated[np.ndarray, Vector(shape=(4,), dtype="float32")]
    label: Annotated[int, Label(num_classes=3)]
"""

_ROWS = 12
Row = dict[str, Any]
Tensors = dict[str, tf.Tensor]


# As in the tutorials: https://www.tensorflow.org/tutorials/load_data/tfrecord


def _bytes_feature(value: bytes) -> tf.train.Feature:
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def _float_feature(values: Any) -> tf.train.Feature:
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


def _int64_feature(values: Any) -> tf.train.Feature:
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def _serialized(feature: dict[str, tf.train.Feature]) -> bytes:
    example = tf.train.Example(features=tf.train.Features(feature=feature))
    found: bytes = example.SerializeToString(deterministic=True)
    return found


def _noise(number: int, *shape: int) -> Any:
    return np.random.default_rng(number).integers(0, 256, shape).astype(np.uint8)


def _raw_float_row(number: int) -> Row:
    image = (_noise(number, 12, 12, 1) / np.float32(256)).astype(np.float32)
    return {"image": image, "label": number % 3}


def _raw_float_example(row: Row) -> bytes:
    return _serialized(
        {
            "image": _bytes_feature(row["image"].tobytes()),
            "label": _int64_feature([row["label"]]),
        }
    )


def _raw_float_parser(example: tf.Tensor) -> Tensors:
    description = {
        "image": tf.io.FixedLenFeature([], tf.string),
        "label": tf.io.FixedLenFeature([], tf.int64),
    }
    found = tf.io.parse_single_example(example, description)
    image = tf.reshape(tf.io.decode_raw(found["image"], tf.float32), (12, 12, 1))
    return {"image": image, "label": found["label"]}


def _raw_byte_row(number: int) -> Row:
    return {"image_raw": _noise(number, 12, 10, 3), "label": number % 3}


def _raw_byte_example(row: Row) -> bytes:
    return _serialized(
        {
            "image_raw": _bytes_feature(row["image_raw"].tobytes()),
            "label": _int64_feature([row["label"]]),
        }
    )


def _raw_byte_parser(example: tf.Tensor) -> Tensors:
    description = {
        "image_raw": tf.io.FixedLenFeature([], tf.string),
        "label": tf.io.FixedLenFeature([], tf.int64),
    }
    found = tf.io.parse_single_example(example, description)
    image = tf.reshape(tf.io.decode_raw(found["image_raw"], tf.uint8), (12, 10, 3))
    return {"image_raw": image, "label": found["label"]}


def _jpeg_row(number: int) -> Row:
    height, width = 10 + number, 22 - number
    return {
        "image": tf.io.encode_jpeg(_noise(number, height, width, 3)).numpy(),
        "height": height,
        "width": width,
        "caption": f"a picture, no. {number}, with ä and 猫",
        "label": number % 3,
    }


def _jpeg_example(row: Row) -> bytes:
    return _serialized(
        {
            "image/encoded": _bytes_feature(row["image"]),
            "image/height": _int64_feature([row["height"]]),
            "image/width": _int64_feature([row["width"]]),
            "image/caption": _bytes_feature(row["caption"].encode()),
            "image/class/label": _int64_feature([row["label"]]),
        }
    )


def _jpeg_parser(example: tf.Tensor) -> Tensors:
    description = {
        "image/encoded": tf.io.FixedLenFeature([], tf.string),
        "image/height": tf.io.FixedLenFeature([], tf.int64),
        "image/width": tf.io.FixedLenFeature([], tf.int64),
        "image/caption": tf.io.FixedLenFeature([], tf.string),
        "image/class/label": tf.io.FixedLenFeature([], tf.int64),
    }
    found = tf.io.parse_single_example(example, description)
    image = tf.io.decode_jpeg(found["image/encoded"], channels=3)
    image = tf.cast(tf.round(tf.image.resize(image, (16, 16))), tf.uint8)
    return {
        "image": image,
        "height": found["image/height"],
        "width": found["image/width"],
        "caption": found["image/caption"],
        "label": found["image/class/label"],
    }


def _tokens_row(number: int) -> Row:
    return {"tokens": list(range(1, 1 + number % 5)), "label": number % 3}


def _tokens_example(row: Row) -> bytes:
    return _serialized(
        {
            "tokens": _int64_feature(row["tokens"]),
            "label": _int64_feature([row["label"]]),
        }
    )


def _tokens_parser(example: tf.Tensor) -> Tensors:
    description = {
        "tokens": tf.io.VarLenFeature(tf.int64),
        "label": tf.io.FixedLenFeature([], tf.int64),
    }
    found = tf.io.parse_single_example(example, description)
    return {"tokens": tf.sparse.to_dense(found["tokens"]), "label": found["label"]}


def _metadata_row(number: int) -> Row:
    return {
        "image": _noise(number, 12, 12, 3),
        "metadata": np.arange(4, dtype=np.float32) * number / 4,
        "label": number % 3,
    }


def _metadata_example(row: Row) -> bytes:
    return _serialized(
        {
            "image": _bytes_feature(tf.io.encode_png(row["image"]).numpy()),
            "metadata": _float_feature(row["metadata"]),
            "label": _int64_feature([row["label"]]),
        }
    )


def _metadata_parser(example: tf.Tensor) -> Tensors:
    description = {
        "image": tf.io.FixedLenFeature([], tf.string),
        "metadata": tf.io.FixedLenFeature([4], tf.float32),
        "label": tf.io.FixedLenFeature([], tf.int64),
    }
    found = tf.io.parse_single_example(example, description)
    return {**found, "image": tf.io.decode_png(found["image"], channels=3)}


@dataclass(frozen=True)
class Tutorial:
    """A situation: its rows, and how a tutorial writes and reads them.

    `same_bytes` is False where the writer encodes pixels itself: two PNG encoders
    may give different bytes for equal pixels.
    """

    record: str
    row: Callable[[int], Row]
    write: Callable[[Row], bytes]
    parse: Callable[[tf.Tensor], Tensors]
    same_bytes: bool = True


_TUTORIALS = [
    Tutorial("float_image", _raw_float_row, _raw_float_example, _raw_float_parser),
    Tutorial("byte_image", _raw_byte_row, _raw_byte_example, _raw_byte_parser),
    Tutorial("captioned_jpeg", _jpeg_row, _jpeg_example, _jpeg_parser),
    Tutorial("tokens", _tokens_row, _tokens_example, _tokens_parser),
    Tutorial(
        "image_with_metadata",
        _metadata_row,
        _metadata_example,
        _metadata_parser,
        same_bytes=False,
    ),
]

situations = pytest.mark.parametrize("tutorial", _TUTORIALS, ids=lambda t: t.record)


@pytest.fixture
def package(package_of: PackageOf) -> Workspace:
    """The generated package for the schemas above."""
    return package_of(_SCHEMA)


def _written(tutorial: Tutorial, package: Workspace) -> tuple[list[bytes], list[bytes]]:
    """The rows as the generated writer and as the tutorial's code writes them."""
    serialize = package.module(tutorial.record, "serializer").serialize
    rows = list(map(tutorial.row, range(_ROWS)))
    return [serialize(**row) for row in rows], list(map(tutorial.write, rows))


@situations
def test_the_writers_agree(tutorial: Tutorial, package: Workspace) -> None:
    """What is generated writes the bytes that the tutorial's code writes."""
    ours, theirs = _written(tutorial, package)
    same = [tf.train.Example.FromString(data) for data in ours] == [
        tf.train.Example.FromString(data) for data in theirs
    ]
    assert same is tutorial.same_bytes
    assert (ours == theirs) is tutorial.same_bytes


@situations
@pytest.mark.parametrize("writer", ["ours", "theirs"])
def test_the_parsers_agree(tutorial: Tutorial, package: Workspace, writer: str) -> None:
    """Whoever wrote a record, both parsers read the same values from it."""
    parse_example = package.module(tutorial.record, "parser").parse_example
    ours, theirs = _written(tutorial, package)
    for number, data in enumerate(ours if writer == "ours" else theirs):
        found, expected = parse_example(tf.constant(data)), tutorial.parse(data)
        assert set(found) == set(expected)
        row = tutorial.row(number)
        for name, tensor in expected.items():
            assert found[name].dtype == tensor.dtype
            np.testing.assert_array_equal(found[name], tensor)
            if not isinstance(row[name], (bytes, str)):
                np.testing.assert_array_equal(found[name], row[name])


@pytest.mark.quick_cases(1)
@situations
def test_batches_of_foreign_files(
    tutorial: Tutorial, package: Workspace, tmp_path: Path
) -> None:
    """Files that the tutorial's code wrote are read as they are, without a manifest."""
    _, theirs = _written(tutorial, package)
    path = tmp_path / "images.tfrecords"
    with tf.io.TFRecordWriter(str(path)) as writer:
        for data in theirs:
            writer.write(data)
    make_dataset = package.module(tutorial.record, "pipeline").make_dataset
    labels = [int(n) for _, target in make_dataset(path, batch_size=5) for n in target]
    assert labels == [n % 3 for n in range(_ROWS)]


@pytest.mark.integration
@situations
@pytest.mark.usefixtures("eager_training")
def test_training(tutorial: Tutorial, package: Workspace, tmp_path: Path) -> None:
    """The generated model trains for an epoch by fit and by a loop of one's own."""
    rows = map(tutorial.row, range(_ROWS))
    package.module(tutorial.record, "serializer").write_dataset(rows, tmp_path, "train")
    pipeline = package.module(tutorial.record, "pipeline")
    dataset = pipeline.make_dataset(tmp_path, batch_size=6, training=True, seed=0)
    module = package.module(tutorial.record, "model")
    model = module.build_model()
    module.adapt(model, dataset)
    assert np.isfinite(model.fit(dataset, epochs=1, verbose=0).history["loss"]).all()

    loss_of = keras.losses.SparseCategoricalCrossentropy()
    optimizer = keras.optimizers.Adam()
    before = [variable.numpy() for variable in model.trainable_variables]
    for features, labels in dataset:
        with tf.GradientTape() as tape:
            loss = loss_of(labels, model(features, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(
            zip(gradients, model.trainable_variables, strict=True)
        )
        assert np.isfinite(loss)
    after = [variable.numpy() for variable in model.trainable_variables]
    assert any(not np.array_equal(a, b) for a, b in zip(before, after, strict=True))
