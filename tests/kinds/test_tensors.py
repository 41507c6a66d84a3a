"""Tensors of any shape: what is refused, what is shared, and that models take them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf
from stored_features import blobs, example, ints
from trained_models import train

if TYPE_CHECKING:
    from conftest import PackageOf, Workspace

SCHEMA = """
from typing import Annotated, Any
import numpy as np
from schemagen import *

class Scan(Record):
    depth: Annotated[np.ndarray, Tensor((None, None, 1), "uint16", shape_key=("h", "w", None))]
    normals: Annotated[
        np.ndarray | None, Tensor((None, None, 3), "float32", shape_key=("h", "w", None))
    ] = None
    points: Annotated[Any, Tensor((None, 3), encoding="list", shape_key="points/shape")]
    embedding: Annotated[np.ndarray, Tensor((None,), "float64", encoding="proto")]
    grid: Annotated[np.ndarray, Tensor((2, 3), encoding="proto")]
    rgb: Annotated[np.ndarray, Vector((5,), "uint8", encoding="raw", dequantize=(0.5, -2))]
    late: Annotated[np.ndarray | None, Vector((2,), "int16", dequantize=(0.5, 1))] = None
    seen: Annotated[bool, Scalar("bool", role="target")]
"""


def _row(height: int = 2, width: int = 3, points: int = 4) -> dict[str, Any]:
    noise = np.random.default_rng(height + 10 * width + 100 * points)
    return {
        "depth": noise.integers(0, 60_000, (height, width, 1)).astype(np.uint16),
        "normals": noise.normal(size=(height, width, 3)).astype(np.float32),
        "points": noise.normal(size=(points, 3)).astype(np.float32),
        "embedding": noise.normal(size=points),
        "grid": noise.normal(size=(2, 3)).astype(np.float32),
        "rgb": noise.integers(0, 256, 5).astype(np.uint8),
        "late": None,
        "seen": bool(height % 2),
    }


# Writing.


def test_an_empty_list_has_no_items(package: Workspace) -> None:
    """[] is a tensor without rows, whatever the shape of a row."""
    serializer = package.module("scan", "serializer")
    parser = package.module("scan", "parser")
    data = serializer.serialize(**{**_row(), "points": []})
    parsed = parser.parse_example(tf.constant(data))
    assert parsed["points"].shape == (0, 3)


# Reading.


def test_sizes_that_are_shared_have_to_be_those_of_each(package: Workspace) -> None:
    """A missing tensor does not mind the sizes that another field stores."""
    data = package.module("scan", "serializer").serialize(**{**_row(), "normals": None})
    parsed = package.module("scan", "parser").parse_example(tf.constant(data))
    assert parsed["normals"].shape == (0, 0, 3)
    assert not parsed["normals_present"]
    assert parsed["depth"].shape == (2, 3, 1)


@pytest.mark.parametrize("eager", [True, False])
def test_sizes_so_different_that_no_batch_holds_them(
    package: Workspace, eager: bool
) -> None:
    """Two empty tensors of damaged sizes do not ask for all the memory there is."""
    records = tf.constant(
        [
            example({"depth": blobs(b""), "h": ints(height), "w": ints(width)})
            for height, width in ((0, 2**31 - 1), (2**31 - 1, 0))
        ]
    )
    parse = package.module("scan", "parser").parse_batch
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"{2**31 - 1}"):
        (parse if eager else tf.function(parse, autograph=False))(records, ["depth"])


@pytest.mark.parametrize("eager", [True, False])
def test_protos_that_hold_their_numbers_in_another_way(
    package: Workspace, eager: bool
) -> None:
    """A TensorProto with float_val, or one value for all, is refused by both readers."""
    proto = tf.make_tensor_proto(1.5, shape=(2, 3))
    assert not proto.tensor_content
    example = tf.train.Example.FromString(
        package.module("scan", "serializer").serialize(**_row())
    )
    stored = example.features.feature["grid"].bytes_list
    stored.value[0] = proto.SerializeToString()
    data = example.SerializeToString()
    parse = package.module("scan", "parser").parse_example
    with pytest.raises(tf.errors.InvalidArgumentError, match="serialize_tensor"):
        (parse if eager else tf.function(parse, autograph=False))(tf.constant(data))


# The model.


@pytest.mark.slow
@pytest.mark.usefixtures("eager_training")
def test_a_model_learns_from_tensors(package: Workspace, tmp_path: Path) -> None:
    """It adapts, trains, is saved, and takes what is missing or empty."""
    rows = [_row(1 + at % 4, 1 + at % 3, at % 5) for at in range(12)]
    rows[3]["normals"] = None
    trained = train(package, "scan", rows, tmp_path / "data", epochs=2)
    serialize = package.module("scan", "serializer").serialize
    serve = trained.served(tmp_path / "served")
    assert np.isfinite(serve(serialize(**row) for row in rows[:4])["seen"]).all()


_WITH_IMAGE = """
from typing import Annotated
import numpy as np
from schemagen import *

class Frame(Record):
    photo: Annotated[
        np.ndarray,
        Image(
            (None, None, 3),
            encoding="png",
            resize=(4, 4),
            height_key="image/height",
            width_key="image/width",
        ),
    ]
    depth: Annotated[
        np.ndarray, Tensor((None, None), shape_key=("image/height", "image/width"))
    ]
    a: Annotated[np.ndarray, Tensor((None, 3), shape_key="s")]
    b: Annotated[np.ndarray, Tensor((None, None), shape_key="s")]
    c: Annotated[np.ndarray | None, Tensor((None, 4), shape_key="s")] = None
"""


def test_sizes_are_shared_with_an_image(package_of: PackageOf) -> None:
    """One height and one width are stored for all, which have to agree."""
    package = package_of(_WITH_IMAGE)
    serialize = package.module("frame", "serializer").serialize
    photo, depth = np.zeros((2, 3, 3), np.uint8), np.ones((2, 3), np.float32)
    row = {"photo": photo, "a": depth, "b": depth}  # "c" is missing: it has no sizes
    data = serialize(depth=depth, **row)
    features = tf.train.Example.FromString(data).features.feature
    sizes = {"image/height", "image/width", "s"}
    assert set(features) == {"photo", "depth", "a", "b", *sizes}
    assert features["image/height"].int64_list.value[:] == [2]
    parsed = package.module("frame", "parser").parse_example(tf.constant(data))
    np.testing.assert_array_equal(parsed["depth"], depth)
    with pytest.raises(Exception, match=r"2 .*'image/height'"):
        serialize(depth=depth.T, **row)
