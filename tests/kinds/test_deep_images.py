"""PNGs of 16 bits a channel: no bit is lost, and none is taken for one of 8 bits."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf
from schemagen.runtime.encoding.image import EncodedImage
from schemagen.runtime.parsing.images import decode_images
from schemagen.runtime.shared.errors import RecordError

if TYPE_CHECKING:
    from conftest import PackageOf

CHANCE = np.random.default_rng(16)


def pixels(dtype: str, channels: int) -> Any:
    """Return random pixels [5, 6, channels], the darkest and the brightest too."""
    most = np.iinfo(dtype).max
    found = CHANCE.integers(0, most + 1, (5, 6, channels)).astype(dtype)
    found.flat[:2] = 0, most
    return found


def encoded(image: Any) -> bytes:
    """Return a PNG as tensorflow writes it."""
    data: bytes = tf.io.encode_png(image).numpy()
    return data


def field(dtype: str, channels: int = 3) -> EncodedImage:
    """Return what checks and stores such an image."""
    return EncodedImage(
        "scan", key="scan", shape=(5, 6, channels), encoding="png", dtype=dtype
    )


def stored(data: Any, dtype: str, channels: int = 3) -> bytes:
    """Return the image that the writer stores."""
    return b"".join(map(bytes, field(dtype, channels).encode(data)[1:]))


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_arrays_come_back_bit_by_bit(channels: int) -> None:
    """What is written from uint16 pixels is what tensorflow reads."""
    image = pixels("uint16", channels)
    data = stored(image, "uint16", channels)
    np.testing.assert_array_equal(tf.io.decode_png(data, dtype=tf.uint16), image)
    batch = decode_images(
        tf.constant([data] * 2), "scan", "png", (5, 6, channels), dtype=tf.uint16
    )
    assert batch.dtype == tf.uint16
    np.testing.assert_array_equal(batch, [image, image])
    assert stored(encoded(image), "uint16", channels) == encoded(image)


def test_tensorflow_alone_scales_the_other_depth() -> None:
    """The trap: 8 bits read as 16 are multiplied, 16 read as 8 are cut off."""
    shallow, deep = pixels("uint8", 3), pixels("uint16", 3)
    grown = tf.io.decode_png(encoded(shallow), dtype=tf.uint16).numpy()
    np.testing.assert_array_equal(grown, shallow.astype("uint16") * 257)
    assert tf.io.decode_png(encoded(deep)).numpy().max() <= 255


@pytest.mark.parametrize(
    ("given", "wanted"), [("uint8", "uint16"), ("uint16", "uint8")]
)
@pytest.mark.parametrize("encoding", ["png", "any"])
def test_the_other_depth_is_refused(given: str, wanted: str, encoding: str) -> None:
    """When writing and when reading, in and out of graphs, by the header's own word."""
    data = encoded(pixels(given, 3))
    found, expected = np.iinfo(given).bits, np.iinfo(wanted).bits
    with pytest.raises(RecordError) as caught:
        field(wanted).encode(data)
    assert str(caught.value) == (
        f"field 'scan': found {found} bits a channel, expected {expected} bits a channel"
    )
    if wanted == "uint16" and encoding == "any":
        return

    def read(batch: Any) -> Any:
        return decode_images(
            batch, "scan", encoding, (5, 6, 3), dtype=tf.as_dtype(wanted)
        )

    for function in (read, tf.function(read)):
        with pytest.raises(tf.errors.InvalidArgumentError) as error:
            function(tf.constant([data]))
        words = f"field 'scan': expected a png of {expected} bits a channel, found"
        assert words in str(error.value).replace("\\'", "'")
        assert f"{found}" in str(error.value)


def test_short_bytes_are_refused_in_plain_words() -> None:
    """Bytes that end before they tell their depth are no PNG of any."""
    for dtype in (tf.uint8, tf.uint16):
        for size in (8, 20, 25, 40):
            data = tf.constant([encoded(pixels("uint16", 3))[:size]])
            with pytest.raises(tf.errors.InvalidArgumentError):
                decode_images(data, "scan", "png", (5, 6, 3), dtype=dtype)


def test_other_pixels_are_refused() -> None:
    """Floats, and integers that 16 bits do not hold."""
    for value, words in (
        (np.full((5, 6, 3), 65536), "found the integer 65536, expected uint16"),
        (np.zeros((5, 6, 3)), "found float64 values, expected uint16 values"),
    ):
        with pytest.raises(RecordError, match=words):
            field("uint16").encode(value)


def test_resizing_keeps_the_range() -> None:
    """Bilinear, in 16 bits: the brightest pixel is the brightest still."""
    image = np.full((5, 6, 1), 65535, np.uint16)
    found = decode_images(
        tf.constant([encoded(image)]),
        "scan",
        "png",
        (None, None, 1),
        resize=(10, 3),
        dtype=tf.uint16,
    )
    assert found.dtype == tf.uint16
    assert (found.numpy() == 65535).all()


_SCHEMA = """
from typing import Annotated
import numpy as np
from schemagen import Image, Label, Record

class Scan(Record):
    scan: Annotated[np.ndarray, Image((8, 8, 3), encoding="png", dtype="uint16")]
    bright: Annotated[int, Label(num_classes=2)]
"""


@pytest.mark.slow
@pytest.mark.usefixtures("eager_training")
def test_a_model_takes_them(package_of: PackageOf, tmp_path: Path) -> None:
    """Scaled to [0, 1] by the range of 16 bits, so that it can learn at all."""
    package = package_of(_SCHEMA)
    rows = [
        {
            "scan": np.full((8, 8, 3), (at % 2) * 60_000, np.uint16),
            "bright": at % 2,
        }
        for at in range(8)
    ]
    package.module("scan", "serializer").write_dataset(rows, tmp_path, "train")
    dataset = package.module("scan", "pipeline").make_dataset(tmp_path, batch_size=8)
    model = package.module("scan", "model").build_model()
    model.fit(dataset.cache().repeat(30), verbose=0)
    ((features, labels),) = dataset
    assert features["scan"].dtype == tf.uint16
    found = model.predict(features, verbose=0).argmax(-1)
    np.testing.assert_array_equal(found, labels)
