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
from schemagen.runtime.models import blocks
from schemagen.runtime.models.adaptation import Moments

if TYPE_CHECKING:
    from conftest import PackageOf, Workspace

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
        "odd": ["a\nb", " ", "x\0", "é\u2028"][: length + 1],
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


def test_integers_are_looked_up_as_keras_would(adapted: Any) -> None:
    """The same numbers for the same ids, known or not, and 0 for padding."""
    ids = _column("ids")
    other = keras.layers.IntegerLookup(mask_token=7)
    other.adapt(ids)
    asked = np.array([[7, 1, 2, 3], [40, 2**40, 2**40 + 1, -1], [99, 0, 7, 1]])
    layer = adapted.get_layer("ids_vocabulary")
    np.testing.assert_array_equal(layer(asked), other(asked))
    assert set(np.unique(layer(asked))) == {0, 1, 2, 3, 4, 5, 6}


def test_strings_are_looked_up_as_keras_would(adapted: Any) -> None:
    """The same vocabulary in the same order, ties included."""
    other = keras.layers.StringLookup(mask_token="")
    other.adapt(_column("words"))
    layer = adapted.get_layer("words_vocabulary")
    assert layer.get_vocabulary() == other.get_vocabulary()
    asked = np.array([["red", "", "pink", "black"]])
    np.testing.assert_array_equal(layer(asked), other(asked))


def test_a_weight_of_the_only_loss_is_refused(package: Workspace) -> None:
    """Keras would take no notice of it."""
    with pytest.raises(ValueError, match="'answer' is the only target of the record"):
        package.module("seen", "model").build_model(loss_weights={"answer": 2.0})


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


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_tokens": 2}, "max_tokens=2: expected an int from 3 on"),
        ({"max_tokens": None}, "max_tokens=None: expected an int from 3 on"),
        ({"sequence_length": 0}, "sequence_length=0: expected a positive int"),
        ({"sequence_length": -1}, "sequence_length=-1: expected a positive int"),
        ({"sequence_length": 2.5}, "sequence_length=2.5: expected a positive int"),
    ],
)
def test_a_size_out_of_range_is_refused(
    package: Workspace, options: dict[str, Any], words: str
) -> None:
    """Padding and unknown tokens take two indices; a negative length would cut ends."""
    with pytest.raises(ValueError, match=words):
        package.module("seen", "model").build_model(**options)


def test_a_block_with_the_name_of_no_input_cannot_be_adapted(
    package: Workspace, make_dataset: Callable[..., tf.data.Dataset]
) -> None:
    """A vocabulary of one's own is left alone, whatever its name."""
    module = package.module("seen", "model")

    def wrong(ids: Any) -> Any:
        return blocks.tokens(ids, name="idz", padding_value=7)

    model = module.build_model(inputs=["ids"], encoders={"ids": wrong})
    with pytest.raises(
        ValueError, match=r"'idz_vocabulary' cannot be adapted: .* 'idz'"
    ):
        module.adapt(model, make_dataset())
    words = keras.layers.TextVectorization(vocabulary=["red"], name="own_vocabulary")

    def own(note: Any) -> Any:
        indices = keras.ops.cast(words(note), "float32")
        return keras.ops.sum(indices, axis=1, keepdims=True)

    model = module.build_model(inputs=["note"], encoders={"note": own})
    module.adapt(model, make_dataset())
    assert words.get_vocabulary() == ["", "[UNK]", "red"]


def test_very_long_tokens_are_unknown(package: Workspace) -> None:
    """Keras saves a vocabulary as an array in which each token is as long as the longest."""
    blocks_model = {
        "words": lambda value: blocks.tokens(value, name="words", padding_value=""),
        "note": lambda value: blocks.text(value, name="note"),
    }
    inputs = {
        "words": keras.Input((None,), dtype="string", name="words"),
        "note": keras.Input((), dtype="string", name="note"),
    }
    outputs = [encode(inputs[name]) for name, encode in blocks_model.items()]
    model = keras.Model(inputs, outputs)
    long = "a" * 100_000
    features = {"words": tf.constant([[long, "b"]]), "note": tf.constant([f"{long} b"])}
    package.module("seen", "model").adapt(model, tf.data.Dataset.from_tensors(features))
    for name in ("words", "note"):
        found = model.get_layer(f"{name}_vocabulary").get_vocabulary()
        assert found == ["", "[UNK]", "b"]


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


def test_words_are_those_of_text_vectorization(adapted: Any) -> None:
    """Small letters, without punctuation, the same in the same order."""
    notes = [row["note"] for row in _ROWS]
    other = keras.layers.TextVectorization()
    other.adapt(notes)
    layer = adapted.get_layer("note_vocabulary")
    assert isinstance(layer, keras.layers.TextVectorization)
    assert layer.get_vocabulary() == other.get_vocabulary()
    np.testing.assert_array_equal(layer(notes), other(notes))


def test_tokens_that_keras_cannot_save_are_unknown(
    adapted: Any, tmp_path: Path
) -> None:
    """Keras writes a vocabulary as lines: line breaks would shift all tokens behind."""
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
    """Vocabularies are equal, and means to the last digits, in another order too."""
    module = package.module("seen", "model")
    model = module.build_model()
    batches = list(make_dataset(batch_size))[::-1]
    spec = make_dataset(batch_size).element_spec
    reverse = tf.data.Dataset.from_generator(
        lambda: iter(batches), output_signature=spec
    )
    module.adapt(model, reverse)
    assert _vocabularies(model) == _vocabularies(adapted)
    for name in ("place", "height", "track", "loose"):
        layer, other = (m.get_layer(f"{name}_normalization") for m in (model, adapted))
        np.testing.assert_allclose(layer.adapt_mean, other.adapt_mean, rtol=1e-6)
        np.testing.assert_allclose(
            layer.adapt_variance, other.adapt_variance, rtol=1e-6
        )


@pytest.mark.slow
def test_adapting_again_starts_anew(
    package: Workspace, make_dataset: Callable[..., tf.data.Dataset]
) -> None:
    """What another dataset taught is forgotten."""
    module = package.module("seen", "model")
    model, other = module.build_model(), module.build_model()
    module.adapt(model, make_dataset())
    module.adapt(model, make_dataset().take(1))
    module.adapt(other, make_dataset().take(1))
    assert _vocabularies(model) == _vocabularies(other)
    for found, expected in zip(
        model.non_trainable_variables, other.non_trainable_variables, strict=True
    ):
        if "seed" not in found.path:
            np.testing.assert_array_equal(found, expected)


# What cannot be adapted to.


def test_an_endless_dataset_is_refused(
    package: Workspace, make_dataset: Callable[..., tf.data.Dataset]
) -> None:
    """It would never come to an end."""
    module = package.module("seen", "model")
    words = r"reads a dataset to its end, and this one has none: .*repeat=False"
    with pytest.raises(ValueError, match=words):
        module.adapt(module.build_model(), make_dataset().repeat())


@pytest.mark.slow
def test_an_empty_dataset_is_refused(
    package: Workspace, make_dataset: Callable[..., tf.data.Dataset]
) -> None:
    """A model that has learned nothing is not ready."""
    module = package.module("seen", "model")
    model = module.build_model()
    with pytest.raises(ValueError, match="nothing to learn from, the dataset is empty"):
        module.adapt(model, make_dataset().take(0))
    ((features, _),) = make_dataset().take(1)
    with pytest.raises(RuntimeError, match="has not been adapted"):
        model(features)


def test_another_records_dataset_is_refused(package: Workspace) -> None:
    """Before anything is read of it."""
    module = package.module("seen", "model")
    other = tf.data.Dataset.from_tensors(({"image": tf.zeros([1, 8, 8])}, [1]))
    with pytest.raises(ValueError, match="the dataset of another record"):
        module.adapt(module.build_model(), other)


# The parts.


def test_large_numbers_keep_their_variance() -> None:
    """A sum of squares in float64 would have none of it left."""
    moments = Moments()
    rows = np.random.default_rng(0).normal([1e9, -1e9], 1e-3, (1000, 2))
    for batch in np.split(rows, 10):
        moments.add(batch)
    np.testing.assert_allclose(moments.mean, rows.mean(axis=0), rtol=1e-14)
    np.testing.assert_allclose(moments.variance, rows.var(axis=0), rtol=1e-4)


def test_equal_values_have_the_variance_1() -> None:
    """Also where their mean is rounded, and only where they are equal."""
    moments = Moments()
    for _ in range(3):
        rows = np.full((7, 2), 0.1)
        rows[3, 1] = 0.2
        moments.add(rows)
    assert moments.variance[0] == 1
    assert moments.variance[1] == pytest.approx(0.1**2 * 6 / 49)
    assert not moments.is_constant
    moments = Moments()
    assert not moments.is_constant
    moments.add(np.full((3, 2), 0.1))
    assert moments.is_constant


def test_an_input_with_one_value_is_named_and_not_scaled(
    package: Workspace, make_dataset: Callable[..., tf.data.Dataset]
) -> None:
    """Another value would be divided by nearly 0, and a model would see millions."""

    def constant(features: Any, answer: Any) -> Any:
        features["height"] = tf.fill(tf.shape(features["height"]), 0.1)
        return features, answer

    module = package.module("seen", "model")
    model = module.build_model()
    with pytest.warns(RuntimeWarning, match="input 'height' has the same value"):
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


_NAMED_LIKE_LAYERS = """
from typing import Annotated
import numpy as np
from schemagen import Label, Record, Vector

class Named(Record):
    text: str
    string: list[str]
    integer: list[int]
    batch: Annotated[np.ndarray, Vector(shape=(2,))]
    normalization: float
    dense: float
    input: float
    image: float
    concatenate: float
    kind: Annotated[int, Label(num_classes=2)]
"""


def _plain_encoders() -> dict[str, Callable[[Any], Any]]:
    """Encoders of plain layers, with the names that Keras gives the first of each."""

    def embedded(layer: Any) -> Callable[[Any], Any]:
        def encode(value: Any) -> Any:
            indices = keras.layers.Embedding(10, 4)(layer(value))
            return keras.layers.GlobalAveragePooling1D()(indices)

        return encode

    make = keras.layers
    words = make.TextVectorization(vocabulary=["red", "green"])
    strings = make.StringLookup(vocabulary=["red"])
    integers = make.IntegerLookup(vocabulary=[1, 2])
    plain = make.BatchNormalization(name="batch_normalization")
    return {
        "text": embedded(words),
        "string": embedded(strings),
        "integer": embedded(integers),
        "batch": plain,
    }


def test_layers_of_users_that_are_named_like_those_of_fields_are_left_alone(
    package_of: PackageOf,
) -> None:
    """`adapt` adapts the generated layers, and no others."""
    package = package_of(_NAMED_LIKE_LAYERS)
    row = {
        **{"text": "red", "string": ["red"], "integer": [1], "batch": np.ones(2)},
        **dict.fromkeys(("dense", "input", "image", "concatenate"), 1.0),
        **{"normalization": 5.0, "kind": 1},
    }
    parser, serializer = (package.module("named", n) for n in ("parser", "serializer"))
    batch = parser.parse_batch(tf.constant([serializer.serialize(**row)]))
    kind = batch.pop("kind")
    dataset = tf.data.Dataset.from_tensors((batch, kind))
    module = package.module("named", "model")
    model = module.build_model(encoders=_plain_encoders())
    module.adapt(model, dataset)
    (words,) = (
        layer
        for layer in model.layers
        if isinstance(layer, keras.layers.TextVectorization)
    )
    assert words.get_vocabulary()[2:] == ["red", "green"]
    learned = model.get_layer("normalization_normalization")
    np.testing.assert_allclose(learned.adapt_mean, [5.0])
    model.run_eagerly = True
    assert np.isfinite(model.fit(dataset, verbose=0).history["loss"]).all()
