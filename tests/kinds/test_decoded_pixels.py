"""Images are decoded and resized as TensorFlow does it, to the last bit, by both readers."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import PIL.Image
import pytest
import tensorflow as tf
from stored_features import blobs, example
from tfrecord_files import write_records

from generated import DatasetError

if TYPE_CHECKING:
    from conftest import Workspace

LEAST = [(1, 1), (40, 50), (90, 100), (91, 2)]
SHAPES = [(100, 70, 3), (37, 41, 1), (1, 2, 4)]
SIZES = [(224, 224), (64, 90), (3, 4), (1, 1), (333, 50)]
DTYPES = ["uint8", "int8", "uint16", "int16", "float16", "bfloat16", "float32"]
HOW = {
    "plain": "antialias=False",
    "smooth": "antialias=True",
    "nearest": "interpolation='nearest'",
}


def _resized(size: tuple[int, int], dtype: str, how: str) -> list[str]:
    """Return the names of the fields of each shape that are resized in one way."""
    return [f"x{size[0]}_{size[1]}_{dtype}_{how}_{shape[2]}" for shape in SHAPES]


def _schema() -> str:
    kinds = {
        "color": "(None, None, 3), 'jpeg'",
        "grey": "(None, None, 1), 'jpeg'",
        **{
            f"scaled_{height}_{width}": "(None, None, 3), 'jpeg', scaled_decoding=True, "
            f"resize=({height}, {width})"
            for height, width in LEAST
        },
    }
    for size in SIZES:
        for dtype in DTYPES:
            for how, options in HOW.items():
                for name, shape in zip(_resized(size, dtype, how), SHAPES, strict=True):
                    kinds[name] = f"{shape}, dtype={dtype!r}, resize={size}, {options}"
    fields = "".join(
        f"    {name}: Annotated[Any, Image({kind}, role='info')]\n"
        for name, kind in kinds.items()
    )
    return (
        "from typing import Annotated, Any\nfrom schemagen import Image, Record\n\n"
        f"class Photo(Record):\n{fields}"
    )


SCHEMA = _schema()


def _readers(
    package: Workspace, path: Path, data: dict[str, bytes]
) -> list[Callable[[], dict[str, Any]]]:
    """Return how both readers read a record that has these fields."""
    record = example({name: blobs(each) for name, each in data.items()})
    write_records(path / "photos", [record])
    split = package.module("photo", "reader").open_split(
        path / "photos", fields=[*data]
    )
    parse_batch = package.module("photo", "parser").parse_batch

    def parsed() -> dict[str, Any]:
        batch = parse_batch(tf.constant([record]), [*data])
        return {name: tensor.numpy()[0] for name, tensor in batch.items()}

    return [lambda: split[0], parsed]


def _read(package: Workspace, path: Path, **data: bytes) -> list[dict[str, Any]]:
    """Return what both readers make of a record, one after the other."""
    return [read() for read in _readers(package, path, data)]


def _jpeg(
    mode: str = "RGB", size: tuple[int, int] = (240, 180), **options: Any
) -> bytes:
    random = np.random.default_rng(0)
    coarse = PIL.Image.fromarray(random.integers(0, 256, (9, 12, 3), np.uint8))
    file = io.BytesIO()
    coarse.resize(size).convert(mode).save(file, "JPEG", **options)
    return file.getvalue()


@pytest.mark.parametrize(
    "options", [{"quality": 80}, {"subsampling": 0}, {"progressive": True}]
)
@pytest.mark.parametrize("size", [(240, 180), (1, 1), (17, 33)])
@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK"])
def test_jpegs_are_those_of_tensorflow(
    package: Workspace,
    tmp_path: Path,
    mode: str,
    size: tuple[int, int],
    options: dict[str, Any],
) -> None:
    """Every pixel; a grey one also where colors are declared."""
    data = _jpeg(mode, size, **options)
    channels = {"color": 3, "grey": 1} if mode == "L" else {"color": 3}
    for found in _read(package, tmp_path, **dict.fromkeys(channels, data)):
        for name, count in channels.items():
            expected = tf.io.decode_jpeg(data, channels=count).numpy()
            np.testing.assert_array_equal(found[name], expected)


@pytest.mark.parametrize("least", LEAST)
def test_jpegs_are_decoded_at_the_smallest_scale_that_is_enough(
    package: Workspace, tmp_path: Path, least: tuple[int, int]
) -> None:
    data = _jpeg()
    ratio = max(r for r in (1, 2, 4, 8) if 180 / r >= least[0] and 240 / r >= least[1])
    decoded = tf.io.decode_jpeg(data, channels=3, ratio=ratio)
    expected = tf.cast(tf.round(tf.image.resize(decoded, least)), tf.uint8).numpy()
    name = f"scaled_{least[0]}_{least[1]}"
    for found in _read(package, tmp_path, **{name: data}):
        np.testing.assert_array_equal(found[name], expected)


def test_jpegs_with_superfluous_bytes_are_decoded_and_cut_ones_are_not(
    package: Workspace, tmp_path: Path
) -> None:
    """As TensorFlow does; some cameras write such bytes."""
    data = _jpeg()
    longer = data[:-2] + b"\x13\x12" + data[-2:]
    expected = tf.io.decode_jpeg(longer, channels=3).numpy()
    for found in _read(package, tmp_path, color=longer):
        np.testing.assert_array_equal(found["color"], expected)
    for read in _readers(package, tmp_path, {"color": data[: len(data) // 2]}):
        with pytest.raises((DatasetError, tf.errors.InvalidArgumentError)):
            read()


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_images_are_resized_in_their_dtype_as_tensorflow_does(
    package: Workspace, tmp_path: Path, dtype: str, size: tuple[int, int], how: str
) -> None:
    random = np.random.default_rng(0)
    names = _resized(size, dtype, how)
    images = [tf.cast(random.integers(0, 128, shape), dtype) for shape in SHAPES]
    data = {
        name: image.numpy().tobytes() for name, image in zip(names, images, strict=True)
    }
    for found in _read(package, tmp_path, **data):
        for name, image in zip(names, images, strict=True):
            if how == "nearest":
                expected = tf.image.resize(image, size, "nearest")
            else:
                expected = tf.image.resize(image, size, antialias=how == "smooth")
                expected = tf.round(expected) if image.dtype.is_integer else expected
            assert found[name].dtype == dtype
            expected = tf.cast(expected, dtype).numpy()
            np.testing.assert_array_equal(found[name], expected)
