"""Records without targets, and models of several labels a record."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from stored_features import example, floats
from tfrecord_files import write_records
from trained_models import Trained, train

if TYPE_CHECKING:
    from conftest import PackageOf, Workspace

SCHEMA = """
from typing import Annotated
import numpy as np
from schemagen import Label, MultiLabel, Record, Scalar, Vector

class Video(Record):
    colour: Annotated[np.ndarray, Vector((3,))]
    kinds: Annotated[list[int], MultiLabel(num_classes=4, role="input")] = []
    number: Annotated[int, Scalar("int64", role="info")]
    topics: Annotated[list[int] | None, MultiLabel(num_classes=5)] = None

class Film(Record):
    colour: Annotated[np.ndarray, Vector((3,))]
    number: Annotated[int, Scalar("int64", role="info")] = 0
    genre: Annotated[int | None, Label(classes=("a", "b", "c"), stored="text")] = None
    topics: Annotated[list[int] | None, MultiLabel(num_classes=5, offset=1)] = None
    moods: Annotated[list[str], MultiLabel(classes=("sad", "gay"), stored="text")]
    year: Annotated[float, Scalar("float32", role="target")]
    corners: Annotated[np.ndarray, Vector((2, 2), role="target")]
    weight: Annotated[float, Scalar("float32", role="weight")]
"""


def _colour(number: int) -> Any:
    return np.random.default_rng(number).random(3, np.float32)


def _video(number: int) -> dict[str, Any]:
    return {"colour": _colour(number), "kinds": [number % 4], "number": number}


def _film(number: int) -> dict[str, Any]:
    return {
        "colour": _colour(number),
        "genre": number % 3,
        "topics": [number % 5, (number + 1) % 5],
        "moods": ["sad", "gay"][: number % 3],
        "year": float(number),
        "corners": np.ones((2, 2), np.float32),
        "weight": 0.5,
    }


def _unlabelled(rows: Iterator[dict[str, Any]], path: Path) -> Path:
    """Write the inputs of rows as another program would, without any target."""
    records = (example({"colour": floats(*row["colour"].tolist())}) for row in rows)
    return write_records(path, records)


@pytest.mark.slow
def test_a_dataset_without_targets_has_the_features_alone(
    package: Workspace, tmp_path: Path
) -> None:
    """`targets=False` gives dicts that `predict` takes, in the same order."""
    write = package.module("video", "serializer").write_dataset
    write(map(_video, range(5)), tmp_path, "test")
    make_dataset = package.module("video", "pipeline").make_dataset
    features = list(make_dataset(tmp_path, batch_size=2, targets=False))
    pairs = list(make_dataset(tmp_path, batch_size=2))
    assert len(features) == 3
    for alone, (beside, _) in zip(features, pairs, strict=True):
        assert set(alone) == set(beside) == {"colour", "kinds"}
        np.testing.assert_array_equal(alone["colour"], beside["colour"])
    with_info = make_dataset(tmp_path, batch_size=5, targets=False, info=True)
    ((alone, info),) = list(with_info)
    assert set(alone) == {"colour", "kinds"}
    assert info["number"].numpy().tolist() == list(range(5))


@pytest.mark.slow
def test_targets_and_weights_need_not_be_there(
    package: Workspace, tmp_path: Path
) -> None:
    """Files without any target, required ones too, adapt a model and are predicted."""
    path = _unlabelled(map(_film, range(6)), tmp_path / "films")
    make_dataset = package.module("film", "pipeline").make_dataset
    dataset = make_dataset(str(path), batch_size=4, targets=False)
    model_module = package.module("film", "model")
    model = model_module.build_model()
    model_module.adapt(model, dataset)
    found = model.predict(dataset, verbose=0)
    shapes = {name: values.shape for name, values in found.items()}
    assert shapes == {
        "genre": (6, 3),
        "topics": (6, 5),
        "moods": (6, 2),
        "year": (6, 1),
        "corners": (6, 2, 2),
    }
    with pytest.raises(tf.errors.InvalidArgumentError):
        next(iter(make_dataset(str(path), batch_size=4)))


def test_missing_labels_are_minus_one_for_the_loss(
    package: Workspace, tmp_path: Path
) -> None:
    """An empty set of labels is zeros, a missing one is -1 throughout."""
    rows = [{**_video(0), "topics": [1, 4]}, {**_video(1), "topics": []}, _video(2)]
    package.module("video", "serializer").write_dataset(rows, tmp_path, "train")
    make_dataset = package.module("video", "pipeline").make_dataset
    ((_, targets),) = list(make_dataset(tmp_path, batch_size=3))
    assert targets.numpy().tolist() == [[0, 1, 0, 0, 1], [0] * 5, [-1] * 5]


@pytest.fixture
def trained(package: Workspace, tmp_path: Path) -> Trained:
    """A trained model of several targets with weights."""
    rows = [_film(number) for number in range(12)]
    for number in (1, 4, 7):
        del rows[number]["topics"], rows[number]["genre"]
    return train(package, "film", rows, tmp_path / "data", batch_size=6, epochs=2)


@pytest.mark.slow
def test_several_targets_of_all_sorts_train(trained: Trained, tmp_path: Path) -> None:
    """Label, MultiLabel, numbers and weights in one model, saved and loaded again."""
    model, dataset, history = trained.model, trained.dataset, trained.history
    assert all(np.isfinite(values).all() for values in history.values())
    assert {"topics_pr_auc", "moods_pr_auc", "genre_loss", "year_loss"} <= set(history)
    model.save(tmp_path / "film.keras")
    loaded = keras.models.load_model(tmp_path / "film.keras")
    before = model.evaluate(dataset, return_dict=True, verbose=0)
    after = loaded.evaluate(dataset, return_dict=True, verbose=0)
    assert after == pytest.approx(before, rel=1e-4)


@pytest.mark.slow
def test_a_model_of_several_labels_is_served(
    trained: Trained, package: Workspace, tmp_path: Path
) -> None:
    """The exported model parses inputs alone and predicts what the model does."""
    rows = [_film(number) for number in range(3)]
    serialize = package.module("film", "serializer").serialize
    data = [serialize(**row) for row in rows]
    found = trained.served(tmp_path / "export")(data)
    batch = package.module("film", "parser").parse_batch(data, ["colour"])
    for name, expected in trained.model.predict(batch, verbose=0).items():
        np.testing.assert_allclose(found[name], expected, rtol=1e-4)


@pytest.mark.slow
def test_classes_as_an_input_are_served_by_name(
    package_of: PackageOf, tmp_path: Path
) -> None:
    """Names on disk are looked up inside the exported model, without any table."""
    package = package_of(
        """
from typing import Annotated
from schemagen import Label, MultiLabel, Record

NAMES = ("red", "green", "blau", "łoś")

class Served(Record):
    one: Annotated[str, Label(classes=NAMES, stored="text", role="input")]
    some: Annotated[list[str], MultiLabel(classes=NAMES, stored="text", role="input")]
    late: Annotated[str | None, Label(classes=NAMES, stored="text", role="input")] = None
    answer: Annotated[int, Label(num_classes=2)]
"""
    )
    module = package.module("served", "model")
    model = module.build_model()
    module.export_serving(model, tmp_path)
    serialize = package.module("served", "serializer").serialize
    rows = [
        {"one": "red", "some": ["łoś"], "late": "blau", "answer": 0},
        {"one": "łoś", "some": ["red", "green"], "answer": 1},
    ]
    data = tf.constant([serialize(**row) for row in rows])
    served = tf.saved_model.load(str(tmp_path)).signatures["serving_default"]
    inputs = {
        "one": np.array([0, 3]),
        "some": np.array([[0, 0, 0, 1], [1, 1, 0, 0]], np.float32),
        "late": np.array([2, -1]),
    }
    expected = model.predict(inputs, verbose=0)
    np.testing.assert_allclose(served(examples=data)["answer"], expected, rtol=1e-4)
    wrong = tf.train.Example.FromString(data[0].numpy())
    wrong.features.feature["one"].bytes_list.value[0] = b"pink"
    with pytest.raises(tf.errors.InvalidArgumentError, match="pink"):
        served(examples=tf.constant([wrong.SerializeToString()]))


@pytest.fixture(scope="module")
def compiled(package: Workspace) -> Any:
    """What a generated model is compiled with."""
    config = package.module("film", "model").build_model().get_compile_config()
    return keras.saving.deserialize_keras_object(config)


def test_the_loss_is_that_of_the_records_with_labels(compiled: Any) -> None:
    """Its mean over a batch is the plain crossentropy of the labelled rows alone."""
    crossentropy = compiled["loss"]["topics"]
    truth = np.array([[1, 0, 1], [-1, -1, -1], [0, 0, 0], [-1, -1, -1]], np.float32)
    guess = np.random.default_rng(0).random((4, 3), np.float32)
    found = crossentropy(truth, guess)
    known = truth[:, 0] >= 0
    plain = keras.losses.binary_crossentropy(truth[known], guess[known])
    assert np.mean(found) == pytest.approx(np.mean(plain), rel=1e-5)
    assert np.asarray(found)[~known].tolist() == [0, 0]
    nothing = crossentropy(truth[~known], guess[~known])
    assert np.asarray(nothing).tolist() == [0, 0]


@pytest.mark.parametrize("weighted", [False, True])
def test_the_metric_is_that_of_the_records_with_labels(
    compiled: Any, weighted: bool
) -> None:
    """As Keras has it for the labelled rows alone, with their weights."""
    truth = np.array([[1, 0, 1], [-1, -1, -1], [0, 1, 0], [1, 1, 0]], np.float32)
    guess = np.random.default_rng(0).random((4, 3), np.float32)
    weights = np.array([1, 5, 2, 3], np.float32) if weighted else None
    known = truth[:, 0] >= 0
    [ours], plain = (
        compiled["weighted_metrics"]["topics"],
        keras.metrics.AUC(curve="PR"),
    )
    ours.reset_state()
    ours.update_state(truth, guess, weights)
    kept = None if weights is None else np.repeat(weights[known], 3)
    plain.update_state(truth[known].reshape(-1), guess[known].reshape(-1), kept)
    assert float(ours.result()) == pytest.approx(float(plain.result()), rel=1e-5)
    assert ours.name == "pr_auc"


def test_accuracy_counts_the_records_with_a_label(compiled: Any) -> None:
    """A label that is missing is neither right nor wrong."""
    predictions = np.eye(3, dtype=np.float32)[[0, 1, 2, 0]]
    [metric] = compiled["weighted_metrics"]["genre"]
    metric.update_state(np.array([0, 2, -1, -1]), predictions)
    assert float(metric.result()) == 0.5
    metric.update_state(np.array([[0], [1], [2], [-1]]), predictions, [1, 1, 0, 5])
    assert float(metric.result()) == 0.75
