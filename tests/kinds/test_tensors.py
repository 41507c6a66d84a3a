"""Tensors of any shape: what is refused, what is shared, and that models take them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf
from schemagen.runtime.encoding.shaped import SerializedTensor, SizedTensor
from schemagen.runtime.parsing.tensors import deserialized, sized
from stored_features import blobs, changed, ints

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


@pytest.fixture(scope="module")
def graph(package: Workspace) -> Any:
    """Its `parse_batch` in a graph, traced once."""
    parse = package.module("scan", "parser").parse_batch
    return tf.function(parse, input_signature=[tf.TensorSpec((None,), tf.string)])


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

_WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "rank": (
        {"depth": np.zeros((2, 3), np.uint16)},
        "field 'depth': found shape [2, 3], expected shape [?, ?, 1]",
    ),
    "fixed size": (
        {"points": [[1.0, 2.0]]},
        "field 'points': found shape [1, 2], expected shape [?, 3]",
    ),
    "shared sizes": (
        {"normals": np.zeros((2, 4, 3), np.float32)},
        "field 'normals': found 4 under the key 'w', expected 3, which the field "
        "'depth' has there; give each field a key of its own, unless they are to be",
    ),
    "dtype": (
        {"depth": np.zeros((2, 3, 1), np.float32)},
        "field 'depth': found float32 values, expected uint16 values",
    ),
    "not finite": (
        {"embedding": np.array([np.nan])},
        "field 'embedding': found nan at [0] (float64), expected a finite number",
    ),
    "not exact": (
        {"grid": np.full((2, 3), 0.1)},
        "field 'grid': found 0.1 at [0, 0] (float64), expected a number that float32",
    ),
    "quantized": (
        {"rgb": np.zeros(5, np.float32)},
        "field 'rgb': found float32 values, expected uint8 values",
    ),
    "missing": ({"grid": None}, "field 'grid': found None, expected float32 numbers"),
}


@pytest.mark.parametrize("case", _WRONG)
def test_wrong_values_are_refused(package: Workspace, case: str) -> None:
    """A value that cannot be held is named; in a batch, with its row."""
    change, message = _WRONG[case]
    serializer = package.module("scan", "serializer")
    with pytest.raises(Exception, match=re.escape(message)) as caught:
        serializer.serialize(**{**_row(), **change})
    assert type(caught.value).__name__ == "RecordError"
    rows = [_row(), {**_row(), **change}]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    with pytest.raises(Exception, match=r"^row 1: ") as caught:
        serializer.serialize_batch(**columns)
    assert message.split(":")[0] in str(caught.value)


def test_an_empty_list_has_no_items(package: Workspace) -> None:
    """[] is a tensor without rows, whatever the shape of a row."""
    serializer = package.module("scan", "serializer")
    parser = package.module("scan", "parser")
    data = serializer.serialize(**{**_row(), "points": []})
    parsed = parser.parse_example(tf.constant(data))
    assert parsed["points"].shape == (0, 3)


# Reading.

_PROTO = tf.io.serialize_tensor
_DAMAGED: dict[str, tuple[dict[str, tf.train.Feature | None], str]] = {
    "negative": (
        {"h": ints(-2)},
        r"field 'depth': expected a tensor of shape \[\?, \?, 1\], found the sizes "
        r".*-2",
    ),
    "absurd": ({"w": ints(2**62)}, r"field 'depth': expected a tensor of shape"),
    "overflowing": (
        {"h": ints(2**31 - 1), "w": ints(2**31 - 1)},
        r"field 'depth': expected the bytes of a uint16 tensor of the stored sizes, "
        r"found other ones \(sizes, expected, found\)",
    ),
    "too many bytes": (
        {"h": ints(1)},
        r"field 'depth': expected the bytes .*3\D+1\D+6\D+12",
    ),
    "half a number": ({"depth": blobs(bytes(11))}, r"field 'depth': expected the byte"),
    "too few numbers": (
        {"points/shape": ints(5, 3)},
        r"field 'points': expected the numbers of a float32 tensor .*5\D+3\D+15\D+12",
    ),
    "another shape": (
        {"points/shape": ints(3, 4)},
        r"field 'points': expected a tensor of shape \[\?, 3\], found the sizes .*3\D+4",
    ),
    "another rank": ({"points/shape": ints(12)}, r"points/shape"),
    "no size": ({"h": None}, r"Feature: h .*is required but could not be found"),
    "no sizes": ({"points/shape": None}, r"Feature: points/shape"),
    "no numbers": ({"points": None}, r"feature 'points' is required"),
    "no bytes": ({"depth": None}, r"Feature: depth"),
    "proto of another dtype": (
        {"embedding": blobs(_PROTO(np.zeros(4, np.float32)).numpy())},
        r"field 'embedding': expected a serialized tensor of float64 \(tensorflow's "
        r"type 2\), found the types .*1",
    ),
    "proto of another rank": (
        {"grid": blobs(_PROTO(np.zeros(6, np.float32)).numpy())},
        r"field 'grid': expected a serialized tensor of rank 2, found ranks .*1",
    ),
    "proto of another shape": (
        {"grid": blobs(_PROTO(np.zeros((3, 2), np.float32)).numpy())},
        r"field 'grid': expected a tensor of shape \[2, 3\], found the sizes .*3\D+2",
    ),
    "proto of nothing": ({"grid": blobs(b"")}, r"field 'grid': expected a serialized"),
    "proto cut off": (
        {"embedding": blobs(_PROTO(np.zeros(4)).numpy()[:-8])},
        r"field 'embedding': expected a serialized tensor, found other bytes",
    ),
    "quantized of another size": (
        {"rgb": blobs(bytes(4))},
        r"field 'rgb': expected 5 bytes \(uint8 \[5\]\), found sizes .*4",
    ),
}


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize("case", _DAMAGED)
def test_damaged_bytes_are_refused(package: Workspace, graph: Any, case: str) -> None:
    """What files of other code or damaged ones hold is named, in graphs too."""
    change, message = _DAMAGED[case]
    row = {**_row(), "normals": None}
    data = package.module("scan", "serializer").serialize(**row)
    parse = package.module("scan", "parser").parse_batch
    batch = tf.constant([changed(data, **change)])
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"(?s){message}"):
        parse(batch)
    with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.DataLossError)):
        graph(batch)


def test_sizes_that_are_shared_have_to_be_those_of_each(package: Workspace) -> None:
    """A missing tensor does not mind the sizes that another field stores."""
    data = package.module("scan", "serializer").serialize(**{**_row(), "normals": None})
    parsed = package.module("scan", "parser").parse_example(tf.constant(data))
    assert parsed["normals"].shape == (0, 0, 3)
    assert not parsed["normals_present"]
    assert parsed["depth"].shape == (2, 3, 1)


def test_batches_are_padded_to_their_largest(package: Workspace) -> None:
    """Each row keeps its numbers, whichever dimension is longer; NaN marks a missing
    quantized vector.
    """
    rows = [_row(2, 3, 1), _row(4, 1, 0), {**_row(1, 5, 2), "normals": None}]
    rows[1]["late"] = np.array([1, -1], np.int16)
    serialize = package.module("scan", "serializer").serialize
    data = [serialize(**row) for row in rows]
    parsed = package.module("scan", "parser").parse_batch(tf.constant(data))
    assert parsed["depth"].shape == (3, 4, 5, 1)
    assert parsed["normals"].shape == (3, 4, 3, 3)
    for at, row in enumerate(rows):
        for name in ("depth", "normals", "points", "embedding", "grid"):
            if row[name] is not None:
                own = (at, *map(slice, row[name].shape))
                np.testing.assert_array_equal(parsed[name].numpy()[own], row[name])
    assert parsed["normals_present"].numpy().tolist() == [True, True, False]
    assert not parsed["normals"].numpy()[2].any()
    np.testing.assert_array_equal(
        parsed["late"], np.array([[np.nan] * 2, [1.5, 0.5], [np.nan] * 2], np.float32)
    )
    rgb = np.stack([row["rgb"] for row in rows]).astype(np.float32)
    np.testing.assert_array_equal(parsed["rgb"], rgb * np.float32(0.5) - 2)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("eager", [True, False])
def test_sizes_so_different_that_no_batch_holds_them(eager: bool) -> None:
    """Two empty tensors of damaged sizes do not ask for all the memory there is."""
    damaged = tf.constant([[0, 2**31 - 1], [2**31 - 1, 0]], tf.int64)

    def read(sizes: tf.Tensor) -> tf.Tensor:
        return sized(
            tf.constant([b"", b""]),
            "x",
            tf.int8,
            (None, None),
            sizes=sizes,
            padding_value=0,
        )

    words = "expected tensors that can be batched"
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        (read if eager else tf.function(read))(damaged)


def test_protos_that_hold_their_numbers_in_another_way() -> None:
    """A TensorProto with float_val, one value for all, or nothing is read as well."""
    values = [
        tf.make_tensor_proto(1.5, shape=(2, 3)).SerializeToString(),
        tf.make_tensor_proto([[1.0, 2.0, 3.0]]).SerializeToString(),
        tf.io.serialize_tensor(tf.zeros((0, 3))).numpy(),
    ]
    assert b"\x22" not in values[0][:12]  # no tensor_content

    def read(data: tf.Tensor) -> tf.Tensor:
        return deserialized(data, "x", tf.float32, (None, 3), padding_value=-1)

    expected = [[[1.5] * 3] * 2, [[1, 2, 3], [-1] * 3], [[-1] * 3] * 2]
    for function in (read, tf.function(read)):
        np.testing.assert_array_equal(function(tf.constant(values)), expected)


@pytest.mark.parametrize(
    "dtype",
    [
        *("bool", "int8", "int16", "int32", "int64"),
        *("uint8", "uint16", "uint32", "uint64"),
        *("float16", "bfloat16", "float32", "float64"),
    ],
)
@pytest.mark.parametrize("shape", [(), (3,), (0,), (2, 0, 3), (2, 3), (300, 2)])
def test_protos_are_those_of_tensorflow(dtype: str, shape: tuple[int, ...]) -> None:
    """The bytes are what tf.io.serialize_tensor writes, for every dtype and shape."""
    ones = tf.cast(tf.ones(shape), dtype)
    feature = SerializedTensor("x", key="x", shape=(None,) * len(shape), dtype=dtype)
    written = b"".join(feature.encode(ones.numpy()))
    assert written.endswith(tf.io.serialize_tensor(ones).numpy())


def test_sizes_stand_beside_the_values() -> None:
    """Each part is an entry of its own, under its own key."""
    feature = SizedTensor(
        "x", key="x", shape=(None, 2), dtype="int8", shape_key=("rows", None)
    )
    entries = feature.entries(np.ones((3, 2), np.int8))
    assert [key for key, _ in entries] == ["x", "rows"]
    assert b"".join(entries[1][1]).endswith(b"\x1a\x03\n\x01\x03")


# The model.


@pytest.mark.slow
@pytest.mark.usefixtures("eager_training")
def test_a_model_learns_from_tensors(package: Workspace, tmp_path: Path) -> None:
    """It adapts, trains, is saved, and takes what is missing or empty."""
    rows = [_row(1 + at % 4, 1 + at % 3, at % 5) for at in range(12)]
    rows[3]["normals"] = None
    package.module("scan", "serializer").write_dataset(rows, tmp_path / "data", "train")
    make_dataset = package.module("scan", "pipeline").make_dataset
    model_of = package.module("scan", "model")
    dataset = make_dataset(tmp_path / "data", batch_size=4)
    model = model_of.build_model()
    model_of.adapt(model, dataset)
    history = model.fit(dataset, epochs=2, verbose=0).history
    assert np.isfinite(history["loss"]).all()
    model_of.export_serving(model, tmp_path / "served")
    served = tf.saved_model.load(str(tmp_path / "served")).signatures["serving_default"]
    serialize = package.module("scan", "serializer").serialize
    predictions = served(examples=tf.constant([serialize(**row) for row in rows[:4]]))
    assert np.isfinite(predictions["seen"]).all()


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
"""


def test_sizes_are_shared_with_an_image(package_of: PackageOf) -> None:
    """One height and one width are stored for both, which have to agree."""
    package = package_of(_WITH_IMAGE)
    serialize = package.module("frame", "serializer").serialize
    photo, depth = np.zeros((2, 3, 3), np.uint8), np.ones((2, 3), np.float32)
    data = serialize(photo=photo, depth=depth)
    features = tf.train.Example.FromString(data).features.feature
    assert set(features) == {"photo", "depth", "image/height", "image/width"}
    assert features["image/height"].int64_list.value[:] == [2]
    parsed = package.module("frame", "parser").parse_example(tf.constant(data))
    np.testing.assert_array_equal(parsed["depth"], depth)
    with pytest.raises(Exception, match="found 2 under the key 'image/height'"):
        serialize(photo=photo, depth=depth.T)


_SHARED = """
from typing import Annotated
import numpy as np
from schemagen import *

class Frame(Record):
    a: Annotated[np.ndarray, Tensor((None, 3), shape_key="s")]
    b: Annotated[np.ndarray, Tensor((None, None), shape_key="s")]
    c: Annotated[np.ndarray | None, Tensor((None, 4), shape_key="s")] = None
"""


def test_sizes_that_can_agree_are_shared(package_of: PackageOf) -> None:
    """A size that varies goes with a fixed one; what is missing has no sizes."""
    serialize = package_of(_SHARED).module("frame", "serializer").serialize
    ones = np.ones((2, 3), np.float32)
    assert serialize(a=ones, b=ones, c=None)
