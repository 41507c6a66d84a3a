"""How images are decoded and resized: unrounded, antialiased, decoded at a scale."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf
from schemagen.runtime.parsing.image_formats import JPEG_RATIOS
from schemagen.runtime.parsing.images import (
    decode_image_lists,
    decode_images,
    decode_pixels,
    resized,
)

if TYPE_CHECKING:
    from types import ModuleType

    from conftest import Workspace

SCHEMA = """
from typing import Annotated, Any
import numpy as np
from schemagen import *

class Shot(Record):
    photo: Annotated[Any, Image((None, None, 3), encoding="jpeg", resize=(6, 8),
        dtype="float32", antialias=True, scaled_decoding=True)]
    plain: Annotated[Any, Image((None, None, 3), encoding="jpeg", resize=(6, 8))]
    late: Annotated[Any | None, Image((None, None, 4), encoding="png", resize=(3, 3),
        dtype="float32", role="info")] = None
    raw: Annotated[np.ndarray, Image((9, 7, 2), resize=(3, 3), antialias=True)]
    sized: Annotated[np.ndarray, Image((None, 7, 1), dtype="float32", resize=(2, 2),
        antialias=True, height_key="height")]
    film: Annotated[list[bytes], Images((None, None, 3), resize=(4, 4),
        dtype="float32", scaled_decoding=True)]
    pair: Annotated[list[bytes], Images((None, None, 1), encoding="png", count=2,
        resize=(4, 4), dtype="float32", antialias=True)]
    kind: Annotated[int, Label(num_classes=2)]

class Film(SequenceRecord):
    frames: Annotated[list[bytes], Steps(Image((None, None, 3), encoding="jpeg",
        resize=(4, 4), dtype="float32", antialias=True, scaled_decoding=True))]
    kind: Annotated[int, Label(num_classes=2)]
"""
RECORD = "shot"
ANY = (None, None, 3)


def pixels(height: int, width: int, channels: int = 3) -> Any:
    """Return a smooth picture with noise, [height, width, channels]."""
    noise = np.random.default_rng(height * 10_000 + width)
    down, across = np.mgrid[:height, :width]
    smooth = 120 + 100 * np.sin(down / 9) * np.cos(across / 7)
    found = smooth[..., np.newaxis] + noise.normal(0, 9, (height, width, channels))
    return found.clip(1, 255).astype(np.uint8)


def jpeg(height: int, width: int, channels: int = 3) -> bytes:
    """Return such a picture as tensorflow encodes it."""
    data: bytes = tf.io.encode_jpeg(pixels(height, width, channels)).numpy()
    return data


def png(height: int, width: int, channels: int = 3) -> bytes:
    """Return such a picture as tensorflow encodes it."""
    data: bytes = tf.io.encode_png(pixels(height, width, channels)).numpy()
    return data


def ratio_of(height: int, width: int, size: tuple[int, int]) -> int:
    """Return the ratio that is expected, by trial."""
    found = 1
    for ratio in (2, 4, 8):
        scaled = (height + ratio - 1) // ratio, (width + ratio - 1) // ratio
        if scaled[0] >= size[0] and scaled[1] >= size[1]:
            found = ratio
    return found


def rounded(found: tf.Tensor) -> Any:
    """Return pixels as uint8."""
    return tf.cast(tf.round(found), tf.uint8).numpy()


@pytest.mark.parametrize("size", [(5, 9), (24, 30), (40, 60)])
def test_float_pixels_are_those_of_tensorflow(size: tuple[int, int]) -> None:
    """Nothing is rounded: smaller, of the same size, and larger."""
    data = jpeg(24, 30)
    found = decode_images(
        tf.constant([data]), "photo", "jpeg", ANY, size, dtype=tf.float32
    )
    expected = tf.image.resize(tf.io.decode_jpeg(data), size)
    assert found.dtype == tf.float32
    np.testing.assert_array_equal(found[0], tf.cast(expected, tf.float32))
    as_bytes = decode_images(tf.constant([data]), "photo", "jpeg", ANY, size)
    np.testing.assert_array_equal(as_bytes[0], rounded(found[0]))


def test_float_pixels_of_nearest_neighbours_are_whole() -> None:
    """The values are copied, and then cast."""
    data = png(11, 13)
    found = decode_images(
        tf.constant([data]), "p", "any", ANY, (4, 5), "nearest", dtype=tf.float32
    )
    expected = tf.image.resize(tf.io.decode_png(data), (4, 5), "nearest")
    np.testing.assert_array_equal(found[0], tf.cast(expected, tf.float32))


def test_a_missing_image_is_zeros_in_floats() -> None:
    """Next to one that is there."""
    found = decode_images(
        tf.constant([b"", png(5, 5)]),
        "p",
        "png",
        ANY,
        (3, 3),
        dtype=tf.float32,
        optional=True,
    )
    assert found.dtype == tf.float32
    assert not found[0].numpy().any()
    assert found[1].numpy().all()


def test_sixteen_bits_are_not_read_as_floats() -> None:
    """Floats are in the range of uint8; a PNG of 16 bits would be cut off."""
    deep = tf.io.encode_png(tf.zeros((5, 5, 3), tf.uint16))
    with pytest.raises(tf.errors.InvalidArgumentError, match="a png of 8 bits"):
        decode_images(deep[tf.newaxis], "p", "png", ANY, (3, 3), dtype=tf.float32)


@pytest.mark.parametrize("size", [(5, 9), (40, 60)])
def test_antialiasing_is_that_of_tensorflow(size: tuple[int, int]) -> None:
    """Rounded or not; without it, other pixels are the result."""
    data = jpeg(31, 43)
    decoded = tf.io.decode_jpeg(data)
    filtered = tf.image.resize(decoded, size, antialias=True)
    for dtype, expected in ((tf.uint8, rounded(filtered)), (tf.float32, filtered)):
        found = decode_images(
            tf.constant([data]), "p", "jpeg", ANY, size, antialias=True, dtype=dtype
        )
        np.testing.assert_array_equal(found[0], expected)
    plain = decode_images(tf.constant([data]), "p", "jpeg", ANY, size)
    difference = np.abs(rounded(filtered).astype(int) - plain[0].numpy()).max()
    assert difference > 5 if size == (5, 9) else difference <= 1


@pytest.mark.parametrize(
    "dtype", ["uint8", "int8", "uint16", "int16", "float16", "bfloat16", "float32"]
)
def test_raw_pixels_are_antialiased_in_their_dtype(dtype: str) -> None:
    """All that bilinear interpolation takes, alone and with sizes stored."""
    image = tf.cast(pixels(9, 12, 2) // 2, dtype)
    expected = tf.image.resize(image, (4, 5), antialias=True)
    if image.dtype.is_integer:
        expected = tf.round(expected)
    expected = tf.cast(expected, dtype)
    found = resized(image[tf.newaxis], (4, 5), antialias=True)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found[0], expected)
    known = image if dtype == "bfloat16" else image.numpy()
    data = (
        tf.bitcast(known, tf.uint16).numpy() if dtype == "bfloat16" else known
    ).tobytes()
    stored = decode_pixels(
        tf.constant([data]),
        "p",
        tf.as_dtype(dtype),
        (None, 12, 2),
        (4, 5),
        antialias=True,
        height=tf.constant([9], tf.int64),
    )
    np.testing.assert_array_equal(stored[0], expected)


def test_a_large_photograph_is_decoded_at_an_eighth() -> None:
    """4000 x 3000 for 224: 500 x 375 pixels are decoded, and then resized."""
    data = jpeg(3000, 4000)
    assert ratio_of(3000, 4000, (224, 224)) == 8
    small = tf.io.decode_jpeg(data, channels=3, ratio=8)
    assert small.shape == (375, 500, 3)
    for shape in (ANY, (3000, None, 3), (3000, 4000, 3)):
        found = decode_images(
            tf.constant([data]), "p", "jpeg", shape, (224, 224), scaled_decoding=True
        )
        np.testing.assert_array_equal(
            found[0], rounded(tf.image.resize(small, (224, 224)))
        )


_SIZES = [(1, 1), (7, 9), (16, 16), (31, 33), (32, 32), (33, 65), (57, 64), (200, 40)]


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("size", [(1, 1), (4, 4), (8, 5), (4, 17), (16, 33)])
def test_a_scaled_jpeg_is_never_smaller_than_asked(
    size: tuple[int, int], channels: int
) -> None:
    """One batch of odd and even sizes; small ones are decoded as they are."""
    batch = [jpeg(*each, channels) for each in _SIZES]
    shape = (None, None, channels)

    @tf.function
    def read(data: Any) -> Any:
        return decode_images(
            data,
            "p",
            "jpeg",
            shape,
            size,
            antialias=True,
            scaled_decoding=True,
            dtype=tf.float32,
        )

    found = read(tf.constant(batch))
    ratios = set()
    for (height, width), data, row in zip(_SIZES, batch, found, strict=True):
        ratio = ratio_of(height, width, size)
        ratios.add(ratio)
        scaled = tf.io.decode_jpeg(data, channels=channels, ratio=ratio)
        if ratio > 1:
            assert scaled.shape[0] >= size[0]
            assert scaled.shape[1] >= size[1]
        if ratio < 8:
            half = tf.io.decode_jpeg(data, channels=channels, ratio=2 * ratio)
            assert half.shape[0] < size[0] or half.shape[1] < size[1]
        expected = tf.image.resize(scaled, size, antialias=True)
        np.testing.assert_array_equal(row, tf.cast(expected, tf.float32))
        fixed = decode_images(
            tf.constant([data]),
            "p",
            "jpeg",
            (height, width, channels),
            size,
            antialias=True,
            scaled_decoding=True,
            dtype=tf.float32,
        )
        np.testing.assert_array_equal(fixed[0], row)
    assert ratios <= set(JPEG_RATIOS)
    assert size == (1, 1) or 1 in ratios


@pytest.mark.parametrize("shape", [(64, None, 3), (None, 48, 3), (64, 48, 3)])
def test_the_declared_size_is_that_of_the_file(
    shape: tuple[int | None, int | None, int],
) -> None:
    """Whatever was decoded of it, and whatever has the size of that."""

    def read(data: bytes) -> Any:
        return decode_images(
            tf.constant([data]), "p", "jpeg", shape, (8, 6), scaled_decoding=True
        )

    assert read(jpeg(64, 48)).shape == (1, 8, 6, 3)
    for size in ((8, 6), (32, 24), (65, 49)):
        with pytest.raises(tf.errors.InvalidArgumentError) as error:
            read(jpeg(*size))
        said = str(error.value).replace("\\'", "'")
        assert f"field 'p': expected an image of {shape[0]} x {shape[1]}, found" in said
        assert str(size[0]) in said


@pytest.mark.parametrize(
    "data", [png(9, 9), jpeg(40, 40)[:90], jpeg(40, 40)[:-300], b"\xff\xd8\xff", b""]
)
def test_what_is_no_jpeg_is_refused_at_any_scale(data: bytes) -> None:
    """Another format, and damaged or truncated ones."""
    with pytest.raises(tf.errors.InvalidArgumentError):
        decode_images(
            tf.constant([data]), "p", "jpeg", ANY, (4, 4), scaled_decoding=True
        )


def _ops(**options: Any) -> list[str]:
    """Return the operations of a parser's graph, those of its loops too."""

    def read(data: Any) -> Any:
        return decode_images(data, "p", "jpeg", ANY, (4, 4), **options)

    graph = tf.function(read).get_concrete_function(tf.TensorSpec([None], tf.string))
    definition = graph.graph.as_graph_def()
    nodes = [definition.node, *(each.node_def for each in definition.library.function)]
    return [node.op for part in nodes for node in part]


def test_only_scaled_decoding_pays_for_its_branches() -> None:
    """The graphs of other fields have no branch, and no cast without another dtype."""
    scaled = _ops(scaled_decoding=True)
    assert "ExtractJpegShape" in scaled
    assert any("Case" in op for op in scaled)
    for options in ({}, {"antialias": True}, {"dtype": tf.float32}):
        found = _ops(**options)
        assert "ExtractJpegShape" not in found
        assert not any("Case" in op for op in found)
        assert found.count("DecodeJpeg") == 1


def test_lists_of_images_have_the_same_options() -> None:
    """Ragged and of a fixed number, with padding of zeros."""
    data = [jpeg(64, 80), jpeg(9, 9), jpeg(33, 40)]
    expected = [
        tf.image.resize(
            tf.io.decode_jpeg(one, ratio=ratio), (4, 5), antialias=True
        ).numpy()
        for one, ratio in zip(data, (8, 2, 8), strict=True)
    ]
    options: dict[str, Any] = {
        "antialias": True,
        "scaled_decoding": True,
        "dtype": tf.float32,
    }
    rows = tf.RaggedTensor.from_row_lengths(tf.constant(data), [2, 1])
    found = decode_image_lists(rows, "p", "jpeg", ANY, (4, 5), **options)
    assert found.dtype == tf.float32
    np.testing.assert_array_equal(found[0], expected[:2])
    np.testing.assert_array_equal(found[1, 0], expected[2])
    assert not found[1, 1].numpy().any()
    dense = decode_image_lists(
        tf.constant([data]), "p", "jpeg", ANY, (4, 5), optional=True, **options
    )
    np.testing.assert_array_equal(dense[0], expected)


ROW: dict[str, Any] = {
    "photo": jpeg(50, 70),
    "plain": jpeg(50, 70),
    "late": png(9, 8, 4),
    "raw": pixels(9, 7, 2),
    "sized": pixels(5, 7, 1).astype(np.float32),
    "film": [jpeg(40, 41), jpeg(5, 5)],
    "pair": [png(9, 9, 1), png(8, 6, 1)],
    "kind": 1,
}


def test_a_record_has_them(serializer: Any, parser: Any) -> None:
    """Written as bytes or pixels of uint8, and read as tensorflow calculates them."""
    given = {**ROW, "late": pixels(9, 8, 4)}
    for row in (ROW, given):
        found = parser.parse_batch(tf.constant([serializer.serialize(**row)]))
        photo = tf.io.decode_jpeg(ROW["photo"], ratio=8)
        expected = tf.image.resize(photo, (6, 8), antialias=True)
        np.testing.assert_array_equal(found["photo"][0], expected)
        late = tf.image.resize(tf.io.decode_png(ROW["late"]), (3, 3))
        np.testing.assert_array_equal(found["late"][0], late)
        raw = tf.image.resize(ROW["raw"], (3, 3), antialias=True)
        np.testing.assert_array_equal(found["raw"][0], rounded(raw))
        sized = tf.image.resize(ROW["sized"], (2, 2), antialias=True)
        np.testing.assert_array_equal(found["sized"][0], sized)
        film = tf.image.resize(tf.io.decode_jpeg(ROW["film"][0], ratio=8), (4, 4))
        np.testing.assert_array_equal(found["film"][0, 0], film)
        assert found["pair"].dtype == tf.float32
    with pytest.raises(Exception, match="found float32 values, expected uint8"):
        serializer.serialize(**{**ROW, "photo": pixels(9, 9).astype(np.float32)})


def test_each_step_has_them(package: Workspace) -> None:
    """Images in the steps of a SequenceExample."""
    frames = [jpeg(40, 41), jpeg(5, 5)]
    data = package.module("film", "serializer").serialize(frames=frames, kind=0)
    found = package.module("film", "parser").parse_batch(tf.constant([data]))["frames"]
    assert found.dtype == tf.float32
    for frame, ratio, row in zip(frames, (8, 1), found[0], strict=True):
        expected = tf.io.decode_jpeg(frame, ratio=ratio)
        np.testing.assert_array_equal(
            row, tf.image.resize(expected, (4, 4), antialias=True)
        )


def test_the_generated_text_says_it(package: Workspace) -> None:
    """The dtype and range of batches, the dtype of rows, and the model's inputs."""
    parser = (package.root / package.package / "shot" / "parser.py").read_text()
    assert "float32 [B, 6, 8, 3], 0 to 255" in parser
    assert re.search(r"uint8 \[B, 6, 8, 3\](?!, 0 to)", parser)
    assert parser.count("scaled_decoding=True") == 2
    serializer = (package.root / package.package / "shot" / "serializer.py").read_text()
    assert "photo: bytes | NDArray[np.uint8]" in serializer
    model = (package.root / package.package / "shot" / "model.py").read_text()
    assert re.search(
        r'dtype="float32",\s+encoder=partial\(\s*blocks.image, scale=1 / 255', model
    )


def test_models_take_them(
    package: Workspace, parser: Any, serializer: Any, tmp_path: Path
) -> None:
    """As float32 inputs, which an exported model gets from records by itself."""
    model_module: ModuleType = package.module("shot", "model")
    model = model_module.build_model()
    inputs = {each.name: each.dtype for each in model.inputs}
    assert inputs["photo"] == inputs["film"] == inputs["pair"] == "float32"
    assert inputs["plain"] == "uint8"
    examples = tf.constant([serializer.serialize(**ROW)] * 2)
    batch = parser.parse_batch(examples)
    features = {name: batch[name] for name in inputs}
    expected = model.predict(features, verbose=0)
    model_module.export_serving(model, tmp_path / "served")
    served = tf.saved_model.load(str(tmp_path / "served")).signatures
    found = served["serving_default"](examples=examples)["kind"]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
