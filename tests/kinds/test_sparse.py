"""Sparse tensors: read as tf.io.SparseFeature reads them, but checked; and modelled."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from command_line import make_project, refusals

if TYPE_CHECKING:
    from conftest import Workspace

SCHEMA = """
from typing import Annotated, Any
import numpy as np
from schemagen import Label, Record, Sparse

class Review(Record):
    words: Annotated[dict[int, float], Sparse((9,), "word", key="count", exact=False)]
    grid: Annotated[tuple[Any, Any], Sparse((3, 4), ("row", "column"), "int64")]
    full: Annotated[Any, Sparse((3, 4), ("row", "column"), "int8", dense=True)]
    late: Annotated[dict[Any, Any] | None, Sparse((5,), "late/index")] = None
    answer: Annotated[int, Label(num_classes=2)]
"""
RECORD = "review"

_ROW: dict[str, Any] = {
    "words": {7: 0.5, 2: -1.5},
    "grid": ([[2, 3], [0, 1]], [10, -20]),
    "full": ([[2, 3], [0, 1]], np.array([1, -2], np.int8)),
    "answer": 1,
}


def _stored(**features: list[float]) -> bytes:
    example = tf.train.Example()
    for key, values in features.items():
        feature = example.features.feature[key.replace("__", "/")]
        if key in ("count", "late"):
            feature.float_list.value.extend(values)
        else:
            feature.int64_list.value.extend(values)
    data: bytes = example.SerializeToString()
    return data


def test_tensorflow_reads_what_is_written(serializer: Any, parser: Any) -> None:
    """`tf.io.SparseFeature` and the generated parser give the same sparse tensors."""
    rows = [_ROW, {**_ROW, "words": {}, "grid": {(1, 1): 5}, "full": {(1, 1): 6}}]
    data = tf.constant([serializer.serialize(**row) for row in rows])
    batch = parser.parse_batch(data)
    plain = tf.io.parse_example(
        data,
        {
            "words": tf.io.SparseFeature("word", "count", tf.float32, 9),
            "grid": tf.io.SparseFeature(["row", "column"], "grid", tf.int64, [3, 4]),
        },
    )
    for name, expected in plain.items():
        found = batch[name]
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_array_equal(found.values, expected.values)
        np.testing.assert_array_equal(found.dense_shape, expected.dense_shape)
    assert batch["full"].dtype == tf.int8
    assert batch["full"].numpy()[0].tolist() == [
        [0, -2, 0, 0],
        [0, 0, 0, 0],
        [0, 0, 0, 1],
    ]


def test_values_are_written_in_the_order_given(serializer: Any) -> None:
    """Nothing is sorted; values and indices stand at the same places of their lists."""
    example = tf.train.Example.FromString(serializer.serialize(**_ROW))
    features = example.features.feature
    assert list(features["word"].int64_list.value) == [7, 2]
    assert list(features["count"].float_list.value) == [0.5, -1.5]
    assert list(features["row"].int64_list.value) == [2, 0]
    assert list(features["column"].int64_list.value) == [3, 1]
    assert list(features["grid"].int64_list.value) == [10, -20]


def test_pairs_and_dicts_are_the_same(serializer: Any) -> None:
    """Row by row, and as columns."""
    pair = (np.array([7, 2]), np.array([0.5, -1.5], np.float32))
    by_pair = {**_ROW, "words": pair, "grid": {(2, 3): 10, (0, 1): -20}}
    data = serializer.serialize(**_ROW)
    assert serializer.serialize(**by_pair) == data
    columns = {name: [_ROW[name], by_pair[name]] for name in _ROW}
    assert serializer.serialize_batch(**columns) == [data, data]


# field, value, words of the refusal
_WRONG = [
    ("words", {9: 1.0}, "found the index 9, expected indices into shape [9]"),
    ("words", {-1: 1.0}, "found the index -1, expected"),
    (
        "words",
        ([1, 1], [1.0, 2.0]),
        "found the index 1 twice, expected each index once",
    ),
    ("words", ([1, 2], [1.0]), "found 2 indices and 1 values"),
    ("words", ([1.5], [1.0]), "found indices: float64 values, expected int64 values"),
    ("words", ([[1, 2]], [1.0]), "found indices of shape [1, 2], expected shape [N]"),
    ("words", ([1], ["a"]), "found str 'a'"),
    ("words", ([1], [[1.0]]), "found values of shape [1, 1], expected shape [N]"),
    ("words", {1: float("nan")}, "expected a finite number"),
    ("words", [1.0, 2.0, 3.0], "found a list of 3, expected a pair (indices, values)"),
    ("words", 5, "found int 5, expected a pair (indices, values) or a dict"),
    ("words", None, "found None, expected a pair"),
    ("grid", ([[0, 4]], [1]), "found the index [0, 4], expected indices into shape"),
    ("grid", ([[3, 0]], [1]), "found the index [3, 0], expected"),
    ("grid", ([[1, 2], [1, 2]], [1, 2]), "found the index [1, 2] twice"),
    ("grid", ([0, 1], [1, 2]), "found indices of shape [2], expected shape [N, 2]"),
    ("grid", {(0, 1): 1.5}, "found float64 values, expected int64 values"),
    ("full", {(0, 1): 300}, "found the integer 300, expected int8"),
]


@pytest.mark.parametrize(("name", "value", "words"), _WRONG)
def test_wrong_values_are_refused(
    serializer: Any, name: str, value: Any, words: str
) -> None:
    """With the field's name, and the row's in a batch."""
    row = {**_ROW, name: value}
    with pytest.raises(ValueError, match=f"^field {name!r}: .*{re.escape(words)}"):
        serializer.serialize(**row)
    columns = {key: [_ROW[key], row[key]] for key in row}
    with pytest.raises(ValueError, match=f"^row 1: field {name!r}: "):
        serializer.serialize_batch(**columns)


def test_fields_that_share_indices_have_to_agree(serializer: Any) -> None:
    """One key holds the indices of both, so that they cannot differ."""
    with pytest.raises(ValueError, match=r"\[3, 1\] under the key 'column'"):
        serializer.serialize(**{**_ROW, "full": {(2, 3): 1, (0, 2): 1}})


# field, the lists that are stored, words of the refusal
_BROKEN: list[tuple[str, list[dict[str, list[float]]], str]] = [
    (
        "words",
        [{"count": [1, 2], "word": [1]}, {"count": [1], "word": [1, 2]}],
        "expected as many indices as values, found numbers of",
    ),
    ("words", [{"count": [1.0]}], "expected as many indices as values"),
    ("words", [{"count": [], "word": [3]}], "expected as many indices as values"),
    ("words", [{"count": [1], "word": [9]}], "expected indices from 0 to 8, found 9"),
    ("words", [{"count": [1], "word": [-1]}], "indices from 0 to 8, found -1"),
    ("words", [{"count": [1, 2], "word": [4, 4]}], "each index once, found twice 4"),
    (
        "grid",
        [{"grid": [1], "row": [2], "column": [4]}],
        "indices of dimension 1 from 0 to 3, found 4",
    ),
    (
        "grid",
        [{"grid": [1], "row": [3], "column": [0]}],
        "indices of dimension 0 from 0 to 2, found 3",
    ),
    (
        "full",
        [{"full": [200], "row": [0], "column": [0]}],
        "expected int8, -128 to 127, found 200",
    ),
]


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(("name", "stored", "words"), _BROKEN)
def test_wrong_bytes_are_refused(
    parser: Any, name: str, stored: list[dict[str, list[float]]], words: str
) -> None:
    """Eagerly and in a graph, where tensorflow would pair values wrongly or not at all."""
    data = tf.constant([_stored(**lists) for lists in stored])
    for parse in (parser.parse_batch, tf.function(parser.parse_batch)):
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            parse(data, [name])
        message = re.sub(r"[\\\[\]]", "", caught.value.message)
        assert f"field {name!r}: " in message
        assert words in message


def test_a_missing_tensor_is_not_an_empty_one(serializer: Any, parser: Any) -> None:
    """Required ones are refused if they are absent; optional ones have a mask."""
    with pytest.raises(tf.errors.InvalidArgumentError, match="'count' is required"):
        parser.parse_batch(tf.constant([_stored(answer=[1])]), ["words"])
    rows = [_ROW, {**_ROW, "late": {}}, {**_ROW, "late": {4: 2.0}}]
    data = tf.constant([serializer.serialize(**row) for row in rows])
    batch = parser.parse_batch(data, ["late"])
    assert batch["late_present"].numpy().tolist() == [False, True, True]
    dense = tf.sparse.to_dense(batch["late"]).numpy()
    assert dense.tolist() == [[0] * 5, [0] * 5, [0, 0, 0, 0, 2]]


@pytest.mark.slow
def test_one_record_has_no_batch_dimension(serializer: Any, parser: Any) -> None:
    """Also in a dataset, where its static shape is known."""
    data = serializer.serialize(**_ROW)
    dataset = tf.data.Dataset.from_tensors(data).map(parser.parse_example)
    assert dataset.element_spec["words"].shape == (9,)
    assert dataset.element_spec["grid"].shape == (3, 4)
    (record,) = dataset
    np.testing.assert_array_equal(
        tf.sparse.to_dense(record["words"]),
        np.float32([0, 0, -1.5, 0, 0, 0, 0, 0.5, 0]),
    )
    assert record["grid"].indices.numpy().tolist() == [[0, 1], [2, 3]]


def test_instances_keep_what_was_given(package: Workspace) -> None:
    """A row is checked and handed back as pair or dict, which the writer takes."""
    import sys

    sys.path.insert(0, str(package.root / "schemas"))
    try:
        from records import Review  # type: ignore[import-not-found]
    finally:
        sys.path.pop(0)
        del sys.modules["records"]
    review = Review(**_ROW)
    assert review.words == {7: 0.5, 2: -1.5}
    assert review.grid == (((2, 3), (0, 1)), (10, -20))
    with pytest.raises(ValueError, match="found the index 9"):
        Review(**{**_ROW, "words": {9: 1.0}})
    serializer = package.module("review", "serializer")
    assert serializer.serialize(**dict(review)) == serializer.serialize(**_ROW)


@pytest.mark.slow
@pytest.mark.usefixtures("eager_training")
def test_sparse_inputs_train_and_are_served(
    package: Workspace, serializer: Any, parser: Any, tmp_path: Path
) -> None:
    """They are adapted, trained on, saved, and parsed inside the exported model."""
    noise = np.random.default_rng(0)
    rows = [
        {
            **_ROW,
            "words": {int(at): float(at) for at in noise.permutation(9)[: number % 4]},
            "late": None if number % 2 else {number % 5: 1.0},
            "answer": number % 2,
        }
        for number in range(8)
    ]
    serializer.write_dataset(rows, tmp_path / "data", "train")
    make_dataset = package.module("review", "pipeline").make_dataset
    dataset = make_dataset(tmp_path / "data", batch_size=4)
    module = package.module("review", "model")
    model = module.build_model()
    module.adapt(model, dataset)
    mean = model.get_layer("words_normalization").mean.numpy().reshape(-1)
    counts = np.zeros((8, 9))
    for number, row in enumerate(rows):
        for at, value in row["words"].items():
            counts[number, at] = value
    np.testing.assert_allclose(mean, counts.mean(axis=0), rtol=1e-5)
    assert np.isfinite(model.fit(dataset, verbose=0).history["loss"]).all()
    expected = model.predict(dataset, verbose=0)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(loaded.predict(dataset, verbose=0), expected, rtol=1e-5)
    module.export_serving(model, tmp_path / "export")
    served = tf.saved_model.load(str(tmp_path / "export"))
    data = tf.constant([serializer.serialize(**row) for row in rows])
    found = served.signatures["serving_default"](examples=data)["answer"]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


def test_an_own_encoder_gets_the_sparse_input(package: Workspace) -> None:
    """A large tensor need not be made dense: Keras multiplies it as it is."""
    module = package.module("review", "model")

    def embed(words: Any) -> Any:
        assert words.sparse
        return keras.layers.Dense(3)(words)

    model = module.build_model(inputs=["words"], encoders={"words": embed})
    assert model.get_layer("words").sparse


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ('a: Annotated[Any, Sparse((2,), "x")]\n    x: int', "SG114"),
        ('a: Annotated[Any, Sparse((2,), "a")]', "SG114"),
        ('a: Annotated[Any, Sparse((2,), "i", role="target")]', "SG118"),
    ],
)
def test_keys_and_roles_are_checked(tmp_path: Path, line: str, rule: str) -> None:
    """Indices need a key of their own, and no model predicts a sparse tensor."""
    head = "from typing import Annotated, Any\nfrom schemagen import *\n\n"
    text = f"{head}class R(Record):\n    {line}\n"
    (finding,) = refusals(make_project(tmp_path, {"r.py": text}))
    assert finding["rule"] == rule
