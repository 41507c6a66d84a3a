"""How images are decoded and resized: unrounded, antialiased, decoded at a scale."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf
from stored_features import blobs, example

if TYPE_CHECKING:
    from conftest import Workspace

SCHEMA = """
from typing import Annotated, Any
import numpy as np
from schemagen import *

class Scan(Record):
    scan: Annotated[np.ndarray, Image((8, 8, 3), encoding="png", dtype="uint16")]
    bright: Annotated[int, Label(num_classes=2)]

class Shot(Record):
    photo: Annotated[Any, Image((None, None, 3), encoding="jpeg", resize=(6, 8),
        dtype="float32", antialias=True, scaled_decoding=True)]
    plain: Annotated[Any, Image((None, None, 3), encoding="jpeg", resize=(6, 8))]
    film: Annotated[list[bytes], Images((None, None, 3), resize=(4, 4),
        dtype="float32", scaled_decoding=True)]
    kind: Annotated[int, Label(num_classes=2)]

"""
RECORD = "shot"
ParserOf = Callable[[str], ModuleType]


def batch_of(*images: bytes) -> tf.Tensor:
    """Return records that have encoded images."""
    return tf.constant([example({"x": blobs(image)}) for image in images])


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


def rounded(found: tf.Tensor) -> Any:
    """Return pixels as uint8."""
    return tf.cast(tf.round(found), tf.uint8).numpy()


def test_sixteen_bits_are_not_read_as_floats(parser_of: ParserOf) -> None:
    """Floats are in the range of uint8; a PNG of 16 bits would be cut off."""
    deep = tf.io.encode_png(tf.zeros((5, 5, 3), tf.uint16)).numpy()
    kind = "Image((None, None, 3), 'png', resize=(3, 3), dtype='float32')"
    with pytest.raises(tf.errors.InvalidArgumentError, match="16"):
        parser_of(kind).parse_batch(batch_of(deep))


def test_a_large_photograph_is_decoded_at_an_eighth(parser_of: ParserOf) -> None:
    """4000 x 3000 for 224: 500 x 375 pixels are decoded, and then resized."""
    data = jpeg(3000, 4000)
    small = tf.io.decode_jpeg(data, channels=3, ratio=8)
    assert small.shape == (375, 500, 3)
    for height, width in ((None, None), (3000, None), (3000, 4000)):
        kind = _scaled(height, width, (224, 224))
        found = parser_of(kind).parse_batch(batch_of(data))["x"]
        np.testing.assert_array_equal(
            found[0], rounded(tf.image.resize(small, (224, 224)))
        )


def _scaled(height: int | None, width: int | None, size: tuple[int, int]) -> str:
    """Return the kind of JPEGs that are decoded at a scale."""
    shape = (height, width, 3)
    return f"Image({shape}, 'jpeg', resize={size}, scaled_decoding=True)"


@pytest.mark.parametrize(("height", "width"), [(64, None), (None, 48), (64, 48)])
def test_the_declared_size_is_that_of_the_file(
    parser_of: ParserOf, height: int | None, width: int | None
) -> None:
    """Whatever was decoded of it, and whatever has the size of that."""
    parse = parser_of(_scaled(height, width, (8, 6))).parse_batch
    assert parse(batch_of(jpeg(64, 48)))["x"].shape == (1, 8, 6, 3)
    for size in ((8, 6), (32, 24), (65, 49)):
        with pytest.raises(tf.errors.InvalidArgumentError) as error:
            parse(batch_of(jpeg(*size)))
        assert f"{height} x {width}" in str(error.value)
        assert str(size[0]) in str(error.value)


@pytest.mark.parametrize(
    "data", [png(9, 9), jpeg(40, 40)[:90], jpeg(40, 40)[:-300], b"\xff\xd8\xff", b""]
)
def test_what_is_no_jpeg_is_refused_at_any_scale(
    parser_of: ParserOf, data: bytes
) -> None:
    """Another format, and damaged or truncated ones."""
    with pytest.raises(tf.errors.InvalidArgumentError):
        parser_of(_scaled(None, None, (4, 4))).parse_batch(batch_of(data))


def _ops(parser: ModuleType) -> list[str]:
    """Return the operations of a parser's graph, those of its loops too."""
    parse = tf.function(parser.parse_batch, autograph=False)
    graph = parse.get_concrete_function(tf.TensorSpec([None], tf.string))
    definition = graph.graph.as_graph_def()
    nodes = [definition.node, *(each.node_def for each in definition.library.function)]
    return [node.op for part in nodes for node in part]


def test_only_scaled_decoding_pays_for_its_branches(parser_of: ParserOf) -> None:
    """The graphs of other fields have no branch."""
    scaled = _ops(parser_of(_scaled(None, None, (4, 4))))
    assert "ExtractJpegShape" in scaled
    assert any("Case" in op for op in scaled)
    for options in ("antialias=False", "antialias=True", "dtype='float32'"):
        kind = f"Image((None, None, 3), 'jpeg', resize=(4, 4), {options})"
        found = _ops(parser_of(kind))
        assert "ExtractJpegShape" not in found
        assert not any("Case" in op for op in found)
        assert found.count("DecodeJpeg") == 1


ROW: dict[str, Any] = {
    "photo": jpeg(50, 70),
    "plain": jpeg(50, 70),
    "film": [jpeg(40, 41), jpeg(5, 5)],
    "kind": 1,
}


def test_models_take_resized_images_and_lists_of_them(
    package: Workspace, parser: Any, serializer: Any, tmp_path: Path
) -> None:
    """As float32 inputs, which an exported model gets from records by itself."""
    model_module: ModuleType = package.module("shot", "model")
    model = model_module.build_model()
    inputs = {each.name: each.dtype for each in model.inputs}
    assert inputs["photo"] == inputs["film"] == "float32"
    assert inputs["plain"] == "uint8"
    examples = tf.constant([serializer.serialize(**ROW)] * 2)
    batch = parser.parse_batch(examples)
    features = {name: batch[name] for name in inputs}
    expected = model.predict(features, verbose=0)
    model_module.export_serving(model, tmp_path / "served")
    served = tf.saved_model.load(str(tmp_path / "served")).signatures
    found = served["serving_default"](examples=examples)["kind"]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_resizing_16_bits_keeps_the_range(parser_of: ParserOf) -> None:
    """Bilinear, in 16 bits: the brightest pixel is the brightest still."""
    data = tf.io.encode_png(np.full((5, 6, 1), 65535, np.uint16)).numpy()
    kind = "Image((None, None, 1), 'png', resize=(10, 3), dtype='uint16')"
    found = parser_of(kind).parse_batch(batch_of(data))["x"]
    assert found.dtype == tf.uint16
    assert (found.numpy() == 65535).all()


@pytest.mark.slow
@pytest.mark.usefixtures("eager_training")
def test_a_model_takes_images_of_16_bits(package: Workspace, tmp_path: Path) -> None:
    """Scaled to [0, 1] by the range of 16 bits, so that it can learn at all."""
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
