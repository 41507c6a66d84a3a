"""Adapting: what a model learns of data before training, batch by batch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from numpy.typing import NDArray

if TYPE_CHECKING:
    from conftest import Workspace

SCHEMA = """
from typing import Annotated
import numpy as np
from schemagen import Label, Record, Scalar, VarLen, Vector

class Seen(Record):
    place: Annotated[np.ndarray, Vector(shape=(3,))]
    height: float | None = None
    track: Annotated[np.ndarray, VarLen("float32", item_shape=(2,), padding_value=-1)]
    loose: Annotated[np.ndarray, VarLen("float32", item_shape=(2,), ragged=True)]
    ids: Annotated[np.ndarray, VarLen("int64", padding_value=7)]
    words: Annotated[list[str], VarLen("string", ragged=True)]
    odd: list[str]
    note: str
    answer: Annotated[int, Label(num_classes=2)]
"""

_WORDS = ("red", "green", "blue", "grey", "black", "white")


def _row(number: int) -> dict[str, Any]:
    noise = np.random.default_rng(number)
    length = number % 4
    row: dict[str, Any] = {
        "place": noise.normal(100, (1, 2, 3)).astype(np.float32),
        "track": noise.random((length, 2), np.float32),
        "loose": noise.normal(5, 2, (length, 2)).astype(np.float32),
        "ids": noise.choice([1, 2, 3, 40, 2**40], length),
        "words": noise.choice(_WORDS, length).tolist(),
        "odd": ["a\nb", " ", "x\0", "é\u2028", "a" * 100_000][: length + 2],
        "note": f"The {_WORDS[number % 6]}, {_WORDS[number % 3]} one!",
        "answer": number % 2,
    }
    if number % 3:
        row["height"] = float(noise.normal(180, 9))
    return row


_ROWS = [_row(number) for number in range(25)]


@pytest.fixture(scope="module")
def data(package: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the rows above."""
    directory = tmp_path_factory.mktemp("seen")
    package.module("seen", "serializer").write_dataset(_ROWS, directory, "train")
    return directory


@pytest.fixture(scope="module")
def make_dataset(package: Workspace, data: Path) -> Callable[..., tf.data.Dataset]:
    """Read them, in batches of 4 if not told otherwise."""
    make = package.module("seen", "pipeline").make_dataset

    def dataset(batch_size: int = 4) -> tf.data.Dataset:
        return make(data, batch_size=batch_size)

    return dataset


@pytest.fixture(scope="module")
def adapted(package: Workspace, make_dataset: Callable[..., tf.data.Dataset]) -> Any:
    """A model that has seen them."""
    module = package.module("seen", "model")
    model = module.build_model()
    module.adapt(model, make_dataset())
    return model


def _column(name: str) -> NDArray[Any]:
    """All rows' items of a field, one after the other."""
    values = [np.asarray(row[name]) for row in _ROWS if name in row]
    return np.concatenate(values) if values[0].ndim else np.stack(values)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("place", np.stack([row["place"] for row in _ROWS])),
        ("height", _column("height")[:, np.newaxis]),
        ("track", _column("track")),
        ("loose", _column("loose")),
    ],
)
def test_numbers_are_normalized_as_keras_would(
    adapted: Any, name: str, values: NDArray[Any]
) -> None:
    """Mean and variance are those of Keras's own adapt on all rows at once.

    What is missing, and what only fills sequences up, is no part of them.
    """
    layer = adapted.get_layer(f"{name}_normalization")
    other = keras.layers.Normalization()
    other.adapt(values.astype(np.float32))
    np.testing.assert_allclose(layer.adapt_mean, other.adapt_mean, rtol=1e-5)
    np.testing.assert_allclose(layer.adapt_variance, other.adapt_variance, rtol=1e-4)
    some = values[:3].astype(np.float32)
    found = layer(some if name in ("place", "height") else some[np.newaxis])
    np.testing.assert_allclose(np.reshape(found, some.shape), other(some), atol=1e-4)


_ASKED = {
    "ids": [[7, 1, 2, 3], [40, 2**40, 2**40 + 1, -1], [99, 0, 7, 1]],
    "words": [["red", "", "pink", "black"]],
    "note": [row["note"] for row in _ROWS],
}


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("ids", keras.layers.IntegerLookup(mask_token=7)),
        ("words", keras.layers.StringLookup(mask_token="")),
        ("note", keras.layers.TextVectorization()),
    ],
)
def test_tokens_are_looked_up_as_keras_would(
    adapted: Any, name: str, other: Any
) -> None:
    """The same vocabulary in the same order, ties included, and 0 for padding."""
    other.adapt(_ASKED[name] if name == "note" else _column(name))
    layer = adapted.get_layer(f"{name}_vocabulary")
    asked = np.array(_ASKED[name])
    np.testing.assert_array_equal(layer(asked), other(asked))
    if name == "ids":
        assert set(np.unique(layer(asked))) == set(range(7))
    else:
        assert layer.get_vocabulary() == other.get_vocabulary()


def _vocabularies(model: Any) -> dict[str, list[Any]]:
    names = ("ids", "words", "odd", "note")
    found = {name: model.get_layer(f"{name}_vocabulary") for name in names}
    return {name: layer.get_vocabulary() for name, layer in found.items()}


def test_vocabularies_have_the_size_that_is_asked_for(
    package: Workspace, make_dataset: Callable[..., tf.data.Dataset]
) -> None:
    """The most frequent tokens have an index each, and the others share one."""
    module = package.module("seen", "model")
    model = module.build_model(max_tokens=4)
    module.adapt(model, make_dataset())
    sizes = {name: len(words) for name, words in _vocabularies(model).items()}
    assert sizes == {"ids": 4, "words": 4, "odd": 3, "note": 4}
    ids = tf.constant([[1, 2, 3, 40, 7]], tf.int64)
    found = np.sort(np.ravel(model.get_layer("ids_vocabulary")(ids)))
    assert found.tolist() == [0, 1, 1, 2, 3]
    ((features, _), *_) = make_dataset()
    assert np.isfinite(model.predict(features, verbose=0)).all()


def test_only_the_first_tokens_are_read(
    package: Workspace, make_dataset: Callable[..., tf.data.Dataset]
) -> None:
    """`sequence_length` cuts ids, strings and words; what comes later has no effect."""
    module = package.module("seen", "model")
    inputs = ["ids", "words", "note"]
    model = module.build_model(inputs=inputs, sequence_length=2)
    module.adapt(model, make_dataset())
    ((features, _), *_) = make_dataset()

    def predicted(*lengths: int) -> Any:
        ids, words, text = (
            np.array([[1, 2, 3]]),
            ["red", "green", "blue"],
            "red blue one",
        )
        changed = {
            "ids": tf.constant(ids[:, : lengths[0]], tf.int64),
            "words": tf.ragged.constant([words[: lengths[1]]]),
            "note": tf.constant([" ".join(text.split()[: lengths[2]])]),
        }
        first = {
            name: batch[:1] for name, batch in features.items() if name not in changed
        }
        return model({**first, **changed}).numpy()

    np.testing.assert_array_equal(predicted(3, 3, 3), predicted(2, 2, 2))
    for lengths in ((1, 2, 2), (2, 1, 2), (2, 2, 1)):
        assert np.abs(predicted(*lengths) - predicted(2, 2, 2)).max() > 0


def test_tokens_that_keras_cannot_save_are_unknown(
    adapted: Any, tmp_path: Path
) -> None:
    """Line breaks would shift all tokens behind, and long ones make all as long."""
    words = adapted.get_layer("odd_vocabulary").get_vocabulary()
    assert words == ["", "[UNK]", " "]
    adapted.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert _vocabularies(loaded) == _vocabularies(adapted)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("batch_size", [1, 25])
def test_the_size_of_batches_changes_nothing(
    package: Workspace,
    make_dataset: Callable[..., tf.data.Dataset],
    adapted: Any,
    batch_size: int,
) -> None:
    """Nor does their order, or what was adapted to before, but for the last digits."""
    module = package.module("seen", "model")
    model = module.build_model()
    batches = list(make_dataset(batch_size))[::-1]
    spec = make_dataset(batch_size).element_spec
    reverse = tf.data.Dataset.from_generator(
        lambda: iter(batches), output_signature=spec
    )
    module.adapt(model, make_dataset().take(1))  # is forgotten
    module.adapt(model, reverse)
    assert _vocabularies(model) == _vocabularies(adapted)
    for name in ("place", "height", "track", "loose"):
        layer, other = (m.get_layer(f"{name}_normalization") for m in (model, adapted))
        np.testing.assert_allclose(layer.adapt_mean, other.adapt_mean, rtol=1e-6)
        np.testing.assert_allclose(
            layer.adapt_variance, other.adapt_variance, rtol=1e-6
        )


# What cannot be adapted to.


def test_wrong_datasets_are_refused(
    package: Workspace, make_dataset: Callable[..., tf.data.Dataset]
) -> None:
    """Endless ones and those of another record at once; empty ones teach nothing."""
    module = package.module("seen", "model")
    model = module.build_model()
    other = tf.data.Dataset.from_tensors(({"image": tf.zeros([1, 8, 8])}, [1]))
    dataset = make_dataset()
    for wrong, words in (
        (dataset.repeat(), "repeat=False"),
        (dataset.take(0), None),
        (other, "image"),
    ):
        with pytest.raises(ValueError, match=words):
            module.adapt(model, wrong)
    ((features, _),) = dataset.take(1)
    with pytest.raises(RuntimeError, match="adapt"):
        model(features)


def test_an_input_with_one_value_is_named_and_not_scaled(
    package: Workspace, make_dataset: Callable[..., tf.data.Dataset]
) -> None:
    """Another value would be divided by nearly 0, and a model would see millions."""

    def constant(features: Any, answer: Any) -> Any:
        features["height"] = tf.fill(tf.shape(features["height"]), 0.1)
        return features, answer

    module = package.module("seen", "model")
    model = module.build_model()
    with pytest.warns(RuntimeWarning, match="'height'"):
        module.adapt(model, make_dataset().map(constant))
    layer = model.get_layer("height_normalization")
    found = np.asarray(layer(np.array([[0.1], [1.1]], np.float32)))
    np.testing.assert_allclose(found, [[0], [1]], atol=1e-6)


def test_a_field_without_any_value_is_adapted(
    package: Workspace, make_dataset: Callable[..., tf.data.Dataset]
) -> None:
    """Its numbers stay as they are, and all its tokens are unknown."""

    def bare(features: Any, answer: Any) -> Any:
        features = {
            **features,
            "height": tf.fill(tf.shape(features["height"]), np.nan),
            "place": tf.fill(tf.shape(features["place"]), np.inf),
            "track": tf.fill(tf.shape(features["track"]), -1.0),
            "ids": tf.fill(tf.shape(features["ids"]), tf.constant(7, tf.int64)),
            "note": tf.fill(tf.shape(features["note"]), ""),
        }
        return features, answer

    module = package.module("seen", "model")
    model = module.build_model()
    dataset = make_dataset().map(bare)
    module.adapt(model, dataset)
    for name in ("height", "place", "track"):
        layer = model.get_layer(f"{name}_normalization")
        np.testing.assert_array_equal(layer.adapt_mean, np.zeros_like(layer.adapt_mean))
        np.testing.assert_array_equal(layer.adapt_variance, 1)
    ids = model.get_layer("ids_vocabulary")
    np.testing.assert_array_equal(ids(np.array([[7, 1, -(2**63)]])), [[0, 1, 1]])
    np.testing.assert_array_equal(model.get_layer("note_vocabulary")(["a b"]), [[1, 1]])
    assert np.isfinite(model.predict(make_dataset(), verbose=0)).all()


def test_layers_of_users_are_left_alone(
    package: Workspace, make_dataset: Callable[..., tf.data.Dataset]
) -> None:
    """`adapt` adapts the generated layers, and no others, whatever their names."""
    words = keras.layers.TextVectorization(vocabulary=["red"], name="own_vocabulary")
    plain = keras.layers.BatchNormalization(name="place_normalization")

    def encode(note: Any) -> Any:
        indices = keras.ops.cast(words(note), "float32")
        return keras.ops.sum(indices, axis=1, keepdims=True)

    module = package.module("seen", "model")
    model = module.build_model(
        inputs=["note", "place", "height"], encoders={"note": encode, "place": plain}
    )
    module.adapt(model, make_dataset())
    assert words.get_vocabulary() == ["", "[UNK]", "red"]
    learned = model.get_layer("height_normalization")
    np.testing.assert_allclose(
        learned.adapt_mean, [_column("height").mean()], rtol=1e-5
    )
    model.run_eagerly = True
    assert np.isfinite(model.fit(make_dataset(), verbose=0).history["loss"]).all()


_SIGNS = """
from typing import Annotated
from schemagen import Label, Record, Scalar

class Signs(Record):
    x: float
    sign: Annotated[int | None, Label(num_classes=2)] = None
    high: Annotated[bool, Scalar("bool", role="target")]
    price: Annotated[float, Scalar("float32", role="target")]
"""


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (lambda i: (i % 2, i % 3 == 0, i), []),
        (lambda i: (1, i % 2 == 0, i), ["'sign' has the class id 1 in all 20 records"]),
        (
            lambda i: (1 if i < 9 else None, True, i),
            ["'sign' is missing (-1) in 11 of 20", "'high' has the value 1 in all 20"],
        ),
        (lambda i: (i % 2 if i < 10 else None, i > 3, 5), ["'price' has the value 5"]),
        (lambda i: (None, i > 3, i), ["'sign' is missing (-1) in 20 of 20"]),
    ],
)
def test_targets_without_an_alternative_are_named(
    make_package: Callable[[str], Workspace],
    tmp_path: Path,
    recwarn: pytest.WarningsRecorder,
    row: Callable[[int], tuple[Any, ...]],
    said: list[str],
) -> None:
    """Training on them gives a loss of nearly 0, and a model that says one thing."""
    package = make_package(_SIGNS)
    write, pipeline, model = (
        package.module("signs", each) for each in ("serializer", "pipeline", "model")
    )
    names = ("sign", "high", "price")
    rows = [{"x": i / 7, **dict(zip(names, row(i), strict=True))} for i in range(20)]
    write.write_dataset(rows, tmp_path, "train")
    built = model.build_model()
    recwarn.clear()
    model.adapt(built, pipeline.make_dataset(tmp_path, batch_size=8))
    found = [str(each.message) for each in recwarn if "target" in str(each.message)]
    assert len(found) == len(said)
    assert all(words in text for words, text in zip(said, found, strict=True))


_FLAGS = """
from schemagen import Record

class Flags(Record):
    flag: float | None = None
    one: float
    x: float
"""


def test_a_value_that_is_missing_in_some_records_tells_a_model_something(
    make_package: Callable[[str], Workspace],
    tmp_path: Path,
    recwarn: pytest.WarningsRecorder,
) -> None:
    """Even if it is the same where it is there; one that is in all records does not."""
    package = make_package(_FLAGS)
    write, pipeline, model = (
        package.module("flags", each) for each in ("serializer", "pipeline", "model")
    )
    rows = [{"flag": 1.0 if i % 2 else None, "one": 1.0, "x": i / 7} for i in range(20)]
    write.write_dataset(rows, tmp_path, "train")
    built = model.build_model()
    recwarn.clear()
    model.adapt(built, pipeline.make_dataset(tmp_path, batch_size=8))
    texts = [str(each.message) for each in recwarn]
    found = [text for text in texts if "same value in all records" in text]
    assert [text.split("'")[1] for text in found] == ["one"]
