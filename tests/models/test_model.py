"""Generated models: they train, and nothing that is missing or padded leaks in."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import pytest
import tensorflow as tf

if TYPE_CHECKING:
    from conftest import PackageOf, Workspace

SCHEMA = """
from typing import Annotated, Any
import numpy as np
from schemagen import Image, Label, Record, Scalar, Text, VarLen, Vector

class Everything(Record):
    raw_image: Annotated[np.ndarray, Image(shape=(8, 8, 3))]
    jpeg_image: Annotated[Any, Image(shape=(None, None, 3), encoding="jpeg", resize=(8, 8))]
    late_image: Annotated[np.ndarray | None, Image(shape=(8, 8, 1), dtype="float32")] = None
    category: Annotated[int, Label(num_classes=3, role="input")]
    late_category: Annotated[int | None, Label(num_classes=3, role="input")] = None
    tokens: list[int]
    small_tokens: Annotated[list[int], VarLen(dtype="uint8", padding_value=255)]
    ragged_tokens: Annotated[list[int], VarLen(dtype="int64", ragged=True)]
    late_tokens: list[int] | None = None
    series: Annotated[list[float], VarLen(dtype="float32", padding_value=-1)]
    wide_series: Annotated[np.ndarray, VarLen(dtype="float64")]
    nan_padded: Annotated[list[float], VarLen(dtype="float32", padding_value=float("nan"))]
    flags: list[bool]
    points: Annotated[np.ndarray, VarLen(dtype="float32", item_shape=(2,))]
    ragged_points: Annotated[np.ndarray, VarLen(dtype="float32", item_shape=(2,), ragged=True)]
    words: list[str]
    ragged_words: Annotated[list[str], VarLen(dtype="string", ragged=True)]
    vector: Annotated[np.ndarray, Vector(shape=(2, 2))]
    half_vector: Annotated[np.ndarray, Vector(shape=(3,), dtype="bfloat16")]
    late_vector: Annotated[np.ndarray | None, Vector(shape=(2,))] = None
    late_counts: Annotated[np.ndarray | None, Vector(shape=(2,), dtype="int32")] = None
    height: float | None = None
    count: int | None = None
    big: Annotated[int, Scalar("uint64")]
    flag: bool
    late_flag: bool | None = None
    title: str
    late_title: str | None = None
    answer: Annotated[int, Label(num_classes=3)]

class Several(Record):
    a: float
    b: float
    kind: Annotated[int, Label(num_classes=3)]
    late_kind: Annotated[int | None, Label(num_classes=2)] = None
    size: Annotated[float, Scalar("float32", role="target")]
    place: Annotated[np.ndarray, Vector(shape=(2,), role="target")]
    matrix: Annotated[np.ndarray, Vector(shape=(2, 3), role="target")]
    alive: Annotated[bool, Scalar("bool", role="target")]
    weight: Annotated[float, Scalar("float32", role="weight")]

class Features(Record):
    a: float
    text: str
"""

# What a row of Everything may leave out or leave empty.
_LATE = (
    "late_image",
    "late_category",
    "late_tokens",
    "late_vector",
    "late_counts",
    "height",
    "count",
    "late_flag",
    "late_title",
)
_EMPTY: dict[str, Any] = {
    "tokens": [],
    "small_tokens": [],
    "ragged_tokens": [],
    "series": [],
    "wide_series": [],
    "nan_padded": [],
    "flags": [],
    "points": [],
    "ragged_points": [],
    "words": [],
    "ragged_words": [],
    "title": "",
}


def _row(number: int) -> dict[str, Any]:
    """A row in which everything is there, and sequences have 1 to 5 items."""
    noise = np.random.default_rng(number)
    length = number % 5 + 1
    some_words = ["red", "green", "blue", "grey", "black"][:length]
    return {
        "raw_image": noise.integers(0, 256, (8, 8, 3)).astype(np.uint8),
        "jpeg_image": noise.integers(0, 256, (6 + length, 9, 3)).astype(np.uint8),
        "late_image": noise.random((8, 8, 1), np.float32),
        "category": number % 3,
        "late_category": number % 2,
        "tokens": noise.integers(1, 50, length),
        "small_tokens": noise.integers(0, 50, length).astype(np.uint8),
        "ragged_tokens": noise.integers(1, 50, length),
        "late_tokens": noise.integers(1, 50, length),
        "series": noise.random(length, np.float32),
        "wide_series": noise.random(length) + 1,
        "nan_padded": noise.random(length, np.float32),
        "flags": [bool(number % 2)] * length,
        "points": noise.random((length, 2), np.float32) + 1,
        "ragged_points": noise.random((length, 2), np.float32) + 1,
        "words": some_words,
        "ragged_words": some_words[::-1],
        "vector": noise.random((2, 2), np.float32),
        "half_vector": noise.integers(0, 9, 3).astype(np.float32),
        "late_vector": noise.random(2, np.float32),
        "late_counts": noise.integers(0, 9, 2),
        "height": float(number),
        "count": number,
        "big": 2**40 * (number + 1),
        "flag": number % 2 == 0,
        "late_flag": number % 3 == 0,
        "title": f"a {' '.join(some_words)} thing",
        "late_title": f"the {number}th",
        "answer": number % 3,
    }


def _bare_row(number: int) -> dict[str, Any]:
    """A row in which all that can be missing or empty is."""
    row = {name: value for name, value in _row(number).items() if name not in _LATE}
    return {**row, **_EMPTY}


def _mixed_row(number: int) -> dict[str, Any]:
    return (_row, _bare_row, _row)[number % 3](number)


class Trained:
    """A record's package with a trained model and the rows it was trained on."""

    def __init__(
        self,
        workspace: Workspace,
        rows: list[Any],
        directory: Path,
        *,
        eager: bool = False,
    ) -> None:
        self.workspace = workspace
        self.serializer = workspace.module("everything", "serializer")
        self.parser = workspace.module("everything", "parser")
        self.model_module: ModuleType = workspace.module("everything", "model")
        self.rows = rows
        self.serializer.write_dataset(rows, directory, "train")
        make_dataset = workspace.module("everything", "pipeline").make_dataset
        self.dataset = make_dataset(directory, batch_size=6)
        self.model = self.model_module.build_model()
        self.model.run_eagerly = eager  # compiling takes longer than one batch
        self.model_module.adapt(self.model, self.dataset)
        self.history = self.model.fit(self.dataset, epochs=1, verbose=0).history

    def predict(self, rows: list[Any]) -> Any:
        """Predict rows as one batch, as it would come from a dataset."""
        serialized = [self.serializer.serialize(**row) for row in rows]
        batch = self.parser.parse_batch(tf.constant(serialized))
        return self.model({n: batch[n] for n in self.model.input}).numpy()


@pytest.fixture(scope="module")
def trained(package_of: PackageOf, tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """A model of every kind, trained on rows of which some are bare."""
    rows = list(map(_mixed_row, range(18)))
    return Trained(package_of(SCHEMA), rows, tmp_path_factory.mktemp("data"))


@pytest.mark.slow
def test_every_kind_trains(trained: Trained) -> None:
    """One epoch over inputs of every kind, some missing, has a finite loss."""
    assert np.isfinite(trained.history["loss"]).all()
    assert all(np.isfinite(w).all() for w in trained.model.get_weights() if w.size)
    found = trained.predict(trained.rows)
    assert np.isfinite(trained.predict([_bare_row(n) for n in range(4)])).all()
    assert found.shape == (18, 3)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-5)


@pytest.mark.slow
def test_every_kind_is_an_input(trained: Trained) -> None:
    """The model has an input for each field and mask, of the pipeline's own type."""
    features, _ = trained.dataset.element_spec
    assert set(trained.model.input) == set(features)
    for name, spec in features.items():
        tensor = trained.model.input[name]
        assert tensor.dtype == spec.dtype.name
        assert tuple(tensor.shape) == tuple(spec.shape.as_list())


@pytest.mark.slow
def test_a_model_trains_on_bare_rows_alone(
    package_of: PackageOf, tmp_path: Path
) -> None:
    """If a field is empty or missing in every row, the model trains all the same."""
    trained = Trained(
        package_of(SCHEMA), list(map(_bare_row, range(6))), tmp_path, eager=True
    )
    assert np.isfinite(trained.history["loss"]).all()
    assert np.isfinite(trained.predict([_bare_row(7), _row(7)])).all()


@pytest.mark.slow
def test_adapting_reads_the_data_once(trained: Trained) -> None:
    """However many fields learn from the data first, it is decoded one time only."""
    passes = []

    def batches() -> Iterator[Any]:
        passes.append(1)
        yield from trained.dataset.take(2)

    dataset = tf.data.Dataset.from_generator(
        batches, output_signature=trained.dataset.element_spec
    )
    trained.model_module.adapt(trained.model_module.build_model(), dataset)
    assert len(passes) == 1


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 3, 5])
def test_padding_changes_nothing(trained: Trained, number: int) -> None:
    """A row's prediction is the same alone and in a batch with longer rows."""
    row = _mixed_row(number)
    longer = {
        **_row(4),
        **{
            name: np.concatenate([np.asarray(_row(4)[name])] * 5).tolist()
            for name in _EMPTY
            if name != "title"
        },
        "title": "many " * 50,
    }
    alone = trained.predict([row])[0]
    together = trained.predict([longer, row, _bare_row(1)])[1]
    np.testing.assert_allclose(together, alone, atol=1e-5)


@pytest.mark.slow
def test_every_input_counts(trained: Trained) -> None:
    """A changed value of any field changes the prediction: no input is cut off."""
    row, other = _row(0), _row(3)
    other = {**other, "category": 2}
    # False is also what pads, so that only a row of nothing else shows the difference.
    row, other = {**row, "flags": [False]}, {**other, "late_flag": False}
    before = trained.predict([row])[0]
    for name in row:
        if name == "answer":
            continue
        after = trained.predict([{**row, name: other[name]}])[0]
        assert np.abs(after - before).max() > 1e-9, name


@pytest.mark.slow
def test_missing_is_told_from_the_default(trained: Trained) -> None:
    """A missing value is no zero: the model is told which one it is."""
    row = _row(1)
    for name, zero in [
        ("count", 0),
        ("late_flag", False),
        ("late_counts", [0, 0]),
        ("late_title", ""),
        ("late_tokens", []),
        ("height", 0.0),
        ("late_category", 0),
    ]:
        missing = {key: value for key, value in row.items() if key != name}
        there, absent = trained.predict([{**row, name: zero}, missing])
        assert np.abs(there - absent).max() > 1e-9, name


_LOAD_KERAS = """
import sys
sys.path.insert(0, sys.argv[1])
import importlib, keras, numpy as np, tensorflow as tf
import schemagen.runtime.models
parser = importlib.import_module(sys.argv[2] + ".everything.parser")
model = keras.models.load_model(sys.argv[3])
examples = [r for r in tf.data.TFRecordDataset(sys.argv[4])]
batch = parser.parse_batch(tf.stack(examples))
np.save(sys.argv[5], model({n: batch[n] for n in model.input}))
"""


@pytest.mark.slow
def test_a_saved_model_predicts_the_same_in_another_process(
    trained: Trained, tmp_path: Path
) -> None:
    """A saved model predicts the same in a process without its generated model."""
    serialize = trained.serializer.serialize
    with tf.io.TFRecordWriter(str(tmp_path / "rows")) as writer:
        for row in trained.rows:
            writer.write(serialize(**row))
    trained.model.save(tmp_path / "model.keras")
    arguments = [trained.workspace.root, trained.workspace.package]
    arguments += [tmp_path / name for name in ("model.keras", "rows", "out.npy")]
    subprocess.run([sys.executable, "-c", _LOAD_KERAS, *arguments], check=True)
    found = np.load(tmp_path / "out.npy")
    np.testing.assert_allclose(found, trained.predict(trained.rows), atol=1e-5)


# Targets and weights.


def _several(number: int) -> dict[str, Any]:
    return {
        "a": float(number),
        "b": float(-number),
        "kind": number % 3,
        "late_kind": number % 2 if number % 4 else None,
        "size": number / 2,
        "place": np.array([number, 1.0], np.float32),
        "matrix": np.full((2, 3), number / 4, np.float32),
        "alive": number % 2 == 0,
        "weight": 1.0 + number % 2,
    }


@pytest.fixture
def several(package: Workspace, tmp_path: Path) -> tf.data.Dataset:
    """Records with several targets and a weight."""
    write = package.module("several", "serializer").write_dataset
    write(map(_several, range(12)), tmp_path, "train")
    make = package.module("several", "pipeline").make_dataset
    dataset: tf.data.Dataset = make(tmp_path, batch_size=6)
    return dataset


@pytest.mark.usefixtures("eager_training")
def test_several_targets_have_an_output_each_and_train(
    several: tf.data.Dataset, package: Workspace
) -> None:
    """Each target has an output of its own shape, and all train together."""
    module = package.module("several", "model")
    model = module.build_model()
    module.adapt(model, several)
    history = model.fit(several, epochs=2, verbose=0).history
    assert np.isfinite(history["loss"]).all()
    found = model.predict(several.map(lambda features, *_: features), verbose=0)
    assert {name: array.shape for name, array in found.items()} == {
        "kind": (12, 3),
        "late_kind": (12, 2),
        "size": (12, 1),
        "place": (12, 2),
        "matrix": (12, 2, 3),
        "alive": (12, 1),
    }
    assert ((found["alive"] >= 0) & (found["alive"] <= 1)).all()
    metrics = model.evaluate(several, verbose=0, return_dict=True)
    assert {name.partition("_")[0] for name in metrics} >= {"kind", "size", "alive"}


@pytest.mark.slow
def test_missing_labels_are_not_learned(package: Workspace, tmp_path: Path) -> None:
    """Rows whose label is missing add nothing to the label's loss."""
    write = package.module("several", "serializer").write_dataset
    rows = [{**_several(n), "late_kind": None} for n in range(4)]
    write(rows, tmp_path, "train")
    dataset = package.module("several", "pipeline").make_dataset(tmp_path, batch_size=4)
    module = package.module("several", "model")
    model = module.build_model()
    module.adapt(model, dataset)
    metrics = model.evaluate(dataset, verbose=0, return_dict=True)
    assert metrics["late_kind_loss"] == 0
    assert np.isfinite(metrics["loss"])


@pytest.mark.slow
def test_a_row_of_weight_0_does_not_count(
    several: tf.data.Dataset, package: Workspace
) -> None:
    """A row of weight 0 is no part of loss or metrics."""
    module = package.module("several", "model")
    model = module.build_model()
    module.adapt(model, several)
    first = several.take(1)
    silenced = first.map(lambda x, y, w: (x, y, w * tf.cast(x["a"] < 3, w.dtype)))
    kept = first.unbatch().take(3).batch(3)
    some = model.evaluate(silenced, verbose=0, return_dict=True)
    few = model.evaluate(kept, verbose=0, return_dict=True)
    assert some["loss"] * 2 == pytest.approx(few["loss"], rel=1e-4)


@pytest.fixture
def mixed_precision() -> Iterator[None]:
    """Keras computes in float16 and keeps variables in float32."""
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy("mixed_float16")
    yield
    keras.config.set_dtype_policy(before)


@pytest.mark.slow
@pytest.mark.usefixtures("mixed_precision", "eager_training")
def test_models_work_in_half_precision(
    several: tf.data.Dataset, package: Workspace, tmp_path: Path
) -> None:
    """Models work in half precision, with outputs in float32."""
    rows = list(map(_mixed_row, range(6)))
    trained = Trained(package, rows, tmp_path / "everything", eager=True)
    assert np.isfinite(trained.history["loss"]).all()
    assert trained.model.output.dtype == "float32"
    module = package.module("several", "model")
    model = module.build_model()
    module.adapt(model, several)
    assert np.isfinite(model.fit(several, verbose=0).history["loss"]).all()
    assert {output.dtype for output in model.output.values()} == {"float32"}


# Some inputs, other encoders.


@pytest.mark.slow
def test_a_model_uses_the_inputs_that_are_named(trained: Trained) -> None:
    """A subset of inputs is used, the others are declared and without effect."""
    module = trained.model_module
    model = module.build_model(inputs=["title", "tokens"])
    assert set(model.input) == set(module.make_inputs())
    first = trained.dataset.take(1)
    module.adapt(model, first)
    ((features, _),) = first
    changed = {**features, "vector": features["vector"] + 5, "flag": ~features["flag"]}
    np.testing.assert_array_equal(model(features), model(changed))
    renamed = {**features, "title": tf.fill([len(features["title"])], "blue")}
    assert np.abs(model(features) - model(renamed)).max() > 1e-9


@pytest.mark.slow
def test_a_model_without_targets_gives_features(
    package: Workspace, tmp_path: Path
) -> None:
    """Without targets the model gives features to build on, and can be exported."""
    rows = [{"a": float(n), "text": f"word {n}"} for n in range(5)]
    package.module("features", "serializer").write_dataset(rows, tmp_path, "all")
    dataset = package.module("features", "pipeline").make_dataset(
        tmp_path, batch_size=5
    )
    module = package.module("features", "model")
    model = module.build_model()
    module.adapt(model, dataset)
    for learn in (model.fit, model.evaluate):
        with pytest.raises(RuntimeError, match=r"no target.*role='target'"):
            learn(dataset)
    (batch,) = dataset
    found = model(batch)
    assert found.shape == (5, 64)
    assert np.isfinite(found).all()
    module.export_serving(model, tmp_path / "served")
    served = tf.saved_model.load(str(tmp_path / "served")).signatures["serving_default"]
    serialize = package.module("features", "serializer").serialize
    examples = tf.constant([serialize(**row) for row in rows])
    np.testing.assert_allclose(served(examples=examples)["features"], found, atol=1e-5)
