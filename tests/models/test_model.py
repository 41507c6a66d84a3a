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

class Two(Record):
    a: Annotated[np.ndarray, Vector(shape=(1,))]
    b: Annotated[np.ndarray, Vector(shape=(1,))]
    c: Annotated[np.ndarray, Vector(shape=(1,))]
    y: Annotated[float, Scalar("float32", role="target")]

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
def test_bare_rows_have_finite_predictions(trained: Trained) -> None:
    """Rows that are empty wherever they can be give numbers, not NaN."""
    found = trained.predict([_bare_row(n) for n in range(4)])
    assert np.isfinite(found).all()


@pytest.mark.slow
def test_training_on_bare_rows_alone(package_of: PackageOf, tmp_path: Path) -> None:
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
importlib.import_module(sys.argv[2] + ".everything.model")
parser = importlib.import_module(sys.argv[2] + ".everything.parser")
model = keras.models.load_model(sys.argv[3])
examples = [r for r in tf.data.TFRecordDataset(sys.argv[4])]
batch = parser.parse_batch(tf.stack(examples))
np.save(sys.argv[5], model({n: batch[n] for n in model.input}))
"""

_LOAD_SERVED = """
import sys
import numpy as np, tensorflow as tf
served = tf.saved_model.load(sys.argv[1]).signatures["serving_default"]
examples = [r for r in tf.data.TFRecordDataset(sys.argv[2])]
np.save(sys.argv[3], served(examples=tf.stack(examples))["answer"])
"""


def _without_answer(serialized: bytes) -> bytes:
    example = tf.train.Example.FromString(serialized)
    del example.features.feature["answer"]
    found: bytes = example.SerializeToString()
    return found


@pytest.mark.slow
def test_saved_and_loaded_elsewhere(trained: Trained, tmp_path: Path) -> None:
    """A saved model predicts the same in a process that knows the generated code."""
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


def test_several_targets(several: tf.data.Dataset, package: Workspace) -> None:
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
def test_a_gradient_tape_loop(several: tf.data.Dataset, package: Workspace) -> None:
    """The compiled losses serve a loop of one's own, and the loss goes down."""
    module = package.module("several", "model")
    model = module.build_model(optimizer=keras.optimizers.Adam(0.02))
    module.adapt(model, several)
    losses = []
    for _ in range(6):
        for features, targets, weights in several:
            with tf.GradientTape() as tape:
                outputs = model(features, training=True)
                loss = model.compute_loss(features, targets, outputs, weights)
            variables = model.trainable_variables
            gradients = tape.gradient(loss, variables)
            model.optimizer.apply_gradients(zip(gradients, variables, strict=True))
            losses.append(float(loss))
    assert np.isfinite(losses).all()
    assert np.mean(losses[-4:]) < np.mean(losses[:4])


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
def test_weights_count(several: tf.data.Dataset, package: Workspace) -> None:
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
def test_mixed_precision(
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


def _two(a: float, b: float, c: float) -> dict[str, Any]:
    return {
        name: tf.constant([[value]], tf.float32)
        for name, value in (("a", a), ("b", b), ("c", c))
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", ["b"])
def test_one_input_of_several(package: Workspace, tmp_path: Path, name: str) -> None:
    """A model of one input learns from that one, although datasets deliver all.

    Keras by itself would take the first tensor of a larger dict for its only input.
    """
    noise = np.random.default_rng(0).normal(size=(64, 3)).astype(np.float32)
    column = "abc".index(name)
    rows = [
        {"a": row[:1], "b": row[1:2], "c": row[2:], "y": row[column]} for row in noise
    ]
    package.module("two", "serializer").write_dataset(rows, tmp_path, "train")
    dataset = package.module("two", "pipeline").make_dataset(tmp_path, batch_size=64)
    module = package.module("two", "model")
    keras.utils.set_random_seed(0)
    model = module.build_model(inputs=[name], optimizer=keras.optimizers.Adam(0.02))
    module.adapt(model, dataset)
    # One long epoch: to start reading again takes longer than to learn.
    model.fit(dataset.cache().repeat(60), verbose=0)
    assert model.evaluate(dataset, verbose=0, return_dict=True)["loss"] < 0.2
    base = _two(0.5, 0.5, 0.5)
    for other in "abc":
        changed = {**base, other: tf.constant([[-3.0]])}
        difference = abs(float(model(changed)[0, 0] - model(base)[0, 0]))
        assert (difference > 0.5) if other == name else (difference == 0)


@pytest.mark.slow
def test_inputs_by_name(trained: Trained) -> None:
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


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"inputs": ["a", "colour"]}, "no input 'colour': expected names out of a, b"),
        ({"inputs": "a"}, "inputs='a': expected names out of a, b"),
        ({"inputs": []}, r"inputs=\[\]: expected names out of a, b"),
        ({"encoders": {"aa": keras.layers.Flatten()}}, "no input 'aa'.*mean 'a'"),
        (
            {"encoders": {"a": lambda value: value[..., None]}},
            r"encoder of 'a' returned shape .*expected \[B, D\]",
        ),
    ],
)
def test_a_wrong_choice_of_inputs(
    package: Workspace, wrong: dict[str, Any], words: str
) -> None:
    """A name that is no input is an error, not an input less or a backbone unused."""
    with pytest.raises(ValueError, match=words):
        package.module("two", "model").build_model(**wrong)


@pytest.mark.slow
def test_forgetting_adapt_is_an_error(
    several: tf.data.Dataset, package: Workspace
) -> None:
    """A model that has not been adapted says so, naming inputs; adapting fixes it."""
    module = package.module("several", "model")
    model = module.build_model()
    words = r"not been adapted to data for 'a', 'b': call adapt\(model, dataset\)"
    with pytest.raises(RuntimeError, match=words):
        model.fit(several, verbose=0)
    ((features, _, _),) = several.take(1)
    with pytest.raises(RuntimeError, match=words):
        model(features)
    module.adapt(model, several)
    model.fit(several, verbose=0)


@pytest.mark.slow
def test_weights_remember_that_adapt_has_run(
    several: tf.data.Dataset, package: Workspace, tmp_path: Path
) -> None:
    """A new model works with saved weights, which hold the normalizations."""
    module = package.module("several", "model")
    model = module.build_model()
    module.adapt(model, several)
    model.save_weights(tmp_path / "model.weights.h5")
    other = module.build_model()
    other.load_weights(tmp_path / "model.weights.h5")
    ((features, _, _),) = several.take(1)
    expected = model(features)
    for name, found in other(features).items():
        np.testing.assert_array_equal(found, expected[name])


@pytest.mark.slow
def test_another_encoder(trained: Trained) -> None:
    """An encoder of one's own takes the place of one, and `adapt` leaves it alone."""
    module = trained.model_module

    def lengths(value: Any) -> Any:
        known = keras.ops.cast(keras.ops.not_equal(value, 0), "float32")
        return keras.ops.sum(known, axis=1, keepdims=True)

    model = module.build_model(inputs=["tokens"], encoders={"tokens": lengths})
    assert "tokens_vocabulary" not in {layer.name for layer in model.layers}
    module.adapt(model, trained.dataset)
    assert model.layers[-1].kernel.shape == (64, 3)
    ((features, _),) = trained.dataset.take(1)
    assert np.isfinite(model(features)).all()


@pytest.mark.slow
def test_a_record_without_targets(package: Workspace, tmp_path: Path) -> None:
    """Without targets the model gives features to build on, and can be exported."""
    rows = [{"a": float(n), "text": f"word {n}"} for n in range(5)]
    package.module("features", "serializer").write_dataset(rows, tmp_path, "all")
    dataset = package.module("features", "pipeline").make_dataset(
        tmp_path, batch_size=5
    )
    module = package.module("features", "model")
    model = module.build_model()
    module.adapt(model, dataset)
    (batch,) = dataset
    found = model(batch)
    assert found.shape == (5, 64)
    assert np.isfinite(found).all()
    module.export_serving(model, tmp_path / "served")
    served = tf.saved_model.load(str(tmp_path / "served")).signatures["serving_default"]
    serialize = package.module("features", "serializer").serialize
    examples = tf.constant([serialize(**row) for row in rows])
    np.testing.assert_allclose(served(examples=examples)["features"], found, atol=1e-5)
