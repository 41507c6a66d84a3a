"""Sparse tensors: read as tf.io.SparseFeature reads them, but checked; and modelled."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from trained_models import train

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


def test_pairs_and_dicts_are_the_same(serializer: Any) -> None:
    """Row by row, and as columns."""
    pair = (np.array([7, 2]), np.array([0.5, -1.5], np.float32))
    by_pair = {**_ROW, "words": pair, "grid": {(2, 3): 10, (0, 1): -20}}
    data = serializer.serialize(**_ROW)
    assert serializer.serialize(**by_pair) == data
    columns = {name: [_ROW[name], by_pair[name]] for name in _ROW}
    assert serializer.serialize_batch(**columns) == [data, data]


def test_fields_that_share_indices_have_to_agree(serializer: Any) -> None:
    """One key holds the indices of both, so that they cannot differ."""
    with pytest.raises(ValueError, match=r"\[3, 1\].*'column'"):
        serializer.serialize(**{**_ROW, "full": {(2, 3): 1, (0, 2): 1}})


@pytest.mark.slow
@pytest.mark.usefixtures("eager_training")
def test_sparse_inputs_train_and_are_served(
    package: Workspace, serializer: Any, tmp_path: Path
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
    trained = train(package, "review", rows, tmp_path / "data")
    model, dataset = trained.model, trained.dataset
    mean = model.get_layer("words_normalization").mean.numpy().reshape(-1)
    counts = np.zeros((8, 9))
    for number, row in enumerate(rows):
        for at, value in row["words"].items():
            counts[number, at] = value
    np.testing.assert_allclose(mean, counts.mean(axis=0), rtol=1e-5)
    expected = model.predict(dataset, verbose=0)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(loaded.predict(dataset, verbose=0), expected, rtol=1e-5)
    serve = trained.served(tmp_path / "export")
    found = serve(serializer.serialize(**row) for row in rows)["answer"]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


def test_an_own_encoder_gets_the_sparse_input(package: Workspace) -> None:
    """A large tensor need not be made dense: Keras multiplies it as it is."""
    module = package.module("review", "model")

    def embed(words: Any) -> Any:
        assert words.sparse
        return keras.layers.Dense(3)(words)

    model = module.build_model(inputs=["words"], encoders={"words": embed})
    assert model.get_layer("words").sparse
