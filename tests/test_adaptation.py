"""Adapting: what a model learns of data before training, batch by batch."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from numpy.typing import NDArray
from schemagen.runtime.models import blocks
from schemagen.runtime.models.adaptation import Items, Moments, TokenCounts, Tokens
from schemagen.runtime.models.vocabularies import (
    IntegerVocabulary,
    StringVocabulary,
    Words,
)

if TYPE_CHECKING:
    from conftest import PackageOf, Workspace

_SCHEMA = """
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
        "odd": ["a\nb", "\0", "x\0", "é\u2028", "\r", " "][: length + 1],
        "note": f"The {_WORDS[number % 6]}, {_WORDS[number % 3]} one!",
        "answer": number % 2,
    }
    if number % 3:
        row["height"] = float(noise.normal(180, 9))
    return row


_ROWS = [_row(number) for number in range(25)]


@pytest.fixture(scope="module")
def package(package_of: PackageOf) -> Workspace:
    """The generated package for the schema above."""
    return package_of(_SCHEMA)


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
    np.testing.assert_allclose(layer(some), other(some), atol=1e-4)


def test_integers_are_looked_up_as_keras_would(adapted: Any) -> None:
    """The same numbers for the same ids, known or not, and 0 for padding."""
    ids = _column("ids")
    other = keras.layers.IntegerLookup(mask_token=7)
    other.adapt(ids)
    asked = np.array([[7, 1, 2, 3], [40, 2**40, 2**40 + 1, -1], [99, 0, 7, 1]])
    layer = adapted.get_layer("ids_lookup")
    np.testing.assert_array_equal(layer(asked), other(asked))
    assert set(np.unique(layer(asked))) == {0, 1, 2, 3, 4, 5, 6}


def test_strings_are_looked_up_as_keras_would(adapted: Any) -> None:
    """The same vocabulary in the same order, ties included."""
    other = keras.layers.StringLookup(mask_token="")
    other.adapt(_column("words"))
    layer = adapted.get_layer("words_lookup")
    assert layer.get_vocabulary() == other.get_vocabulary()
    asked = np.array([["red", "", "pink", "black"]])
    np.testing.assert_array_equal(layer(asked), other(asked))


def test_a_weight_of_the_only_loss_is_refused(package: Workspace) -> None:
    """Keras would take no notice of it."""
    with pytest.raises(ValueError, match="'answer' is the only target of the record"):
        package.module("seen", "model").build_model(loss_weights={"answer": 2.0})


def test_vocabularies_have_the_size_that_is_asked_for(
    package: Workspace, make_dataset: Callable[..., tf.data.Dataset]
) -> None:
    """The most frequent tokens have an index each, and the others share one."""
    encoders = {
        "ids": lambda v: blocks.tokens(v, name="ids", padding_value=7, max_tokens=4),
        "words": lambda v: blocks.tokens(
            v, name="words", padding_value="", max_tokens=4
        ),
        "note": lambda v: blocks.text(v, name="note", max_tokens=4),
    }
    module = package.module("seen", "model")
    model = module.build_model(inputs=[*encoders], encoders=encoders)
    module.adapt(model, make_dataset())
    for name in ("words_lookup", "note_vectorization"):
        assert len(model.get_layer(name).known()) == 2
    ids = tf.constant([[1, 2, 3, 40, 7]], tf.int64)
    found = np.sort(np.ravel(model.get_layer("ids_lookup")(ids)))
    assert found.tolist() == [0, 1, 1, 2, 3]
    ((features, _), *_) = make_dataset()
    assert np.isfinite(model.predict(features, verbose=0)).all()


def test_words_are_those_of_text_vectorization(adapted: Any) -> None:
    """Small letters, without punctuation, the same in the same order."""
    notes = [row["note"] for row in _ROWS]
    other = keras.layers.TextVectorization()
    other.adapt(notes)
    layer = adapted.get_layer("note_vectorization")
    assert isinstance(layer, keras.layers.TextVectorization)
    assert layer.get_vocabulary() == other.get_vocabulary()
    np.testing.assert_array_equal(layer(notes), other(notes))


def test_tokens_may_be_anything(adapted: Any) -> None:
    """Also a line break, or a NUL at the end: each has an index of its own."""
    tokens = sorted({token for row in _ROWS for token in row["odd"]})
    indices = adapted.get_layer("odd_lookup")(tf.constant([tokens]))
    assert sorted(indices.numpy()[0]) == [2, 3, 4, 5]


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
    for name in ("ids", "words", "odd"):
        layer, other = (m.get_layer(f"{name}_lookup") for m in (model, adapted))
        if name == "ids":
            np.testing.assert_array_equal(layer.tokens, other.tokens)
            np.testing.assert_array_equal(layer.indices, other.indices)
        else:
            assert layer.known() == other.known()
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
    for name in ("words_lookup", "note_vectorization"):
        assert model.get_layer(name).known() == other.get_layer(name).known()
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
    with pytest.raises(RuntimeError, match="has not seen data"):
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


def test_rows_that_are_not_finite_are_left_out() -> None:
    """Also where a whole batch is."""
    moments = Moments()
    moments.add(np.array([[np.nan, 1], [np.inf, 2]]))
    assert moments.count == 0
    moments.add(np.array([[1.0, 1], [np.nan, 1], [3, 1]]))
    assert (moments.count, moments.mean.tolist()) == (2, [2, 1])
    assert moments.variance.tolist() == [1, 0]


def test_what_is_held_does_not_grow_with_the_data() -> None:
    """After a hundred batches a learner is as large as after one."""
    layer = keras.layers.Normalization()
    layer.build((None, None, 2))
    layer.mean_shape = (2,)
    batch = tf.random.stateless_uniform((50, 9, 2), (0, 1))
    ids = tf.constant(np.arange(450).reshape(50, 9) % 30)
    items, tokens = Items(-1), Tokens(0)
    sizes = []
    for _ in range(100):
        items.see(layer, batch)
        tokens.see(None, ids)
        tokens.counts[-1] = 10**12  # as long as any count
        sizes.append(len(pickle.dumps([items, dict.fromkeys(tokens.counts, 0)])))
    assert sizes[-1] == pytest.approx(sizes[1], abs=64)


def test_equally_frequent_tokens_have_one_order() -> None:
    """Whichever came first."""
    first, second = TokenCounts[bytes](10), TokenCounts[bytes](10)
    first.add([b"a", b"b", b"c", b"c"])
    second.add([b"c", b"b"])
    second.add([b"c", b"a"])
    assert first.most_frequent(set()) == second.most_frequent(set())
    assert first.most_frequent({b"b"}) == [b"c", b"a"]


def test_of_too_many_tokens_the_rare_ones_are_forgotten() -> None:
    """Never more than ten times the vocabulary is held, and the frequent ones stay."""
    counts: TokenCounts[int] = TokenCounts(10)
    for start in range(0, 5000, 50):
        counts.add([*range(start, start + 50), *range(-5, 0), *range(-5, 0)])
        assert len(counts) <= 100
    assert set(counts.most_frequent(set())[:5]) == set(range(-5, 0))
    assert len(counts.most_frequent(set())) == 8
    assert counts[-1] == 200


def test_a_vocabulary_without_tokens_knows_none() -> None:
    """It looks up all the same, whatever stands for padding."""
    numbers = IntegerVocabulary(0)
    numbers.learn([])
    np.testing.assert_array_equal(numbers(np.array([[0, 1, -5]])), [[0, 1, 1]])
    for padding in ("", "-"):
        strings = StringVocabulary(max_tokens=10, mask_token=padding)
        strings.learn([])
        asked = tf.constant([[padding, "a"]])
        np.testing.assert_array_equal(strings(asked), [[0, 1]])


def test_a_full_vocabulary_finds_its_ends() -> None:
    """The smallest and the greatest id are known; beyond them nothing is."""
    layer = IntegerVocabulary(0, max_tokens=5)
    layer.learn([9, -3, 4])
    asked = np.array([9, -3, 4, 0, 10, -4, 5])
    np.testing.assert_array_equal(layer(asked), [2, 3, 4, 0, 1, 1, 1])


def test_a_word_that_keras_keeps_for_itself_is_unknown() -> None:
    """`[UNK]` in a text is no word: Keras says so for what is not known."""
    words = Words(max_tokens=10)
    tokens = Tokens("")
    tokens.counts.add([b"[UNK]", b"a", b""])
    tokens.teach(words)
    assert words.known() == [b"a"]


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

    make, names = (
        keras.layers,
        ("text_vectorization", "string_lookup", "integer_lookup"),
    )
    words = make.TextVectorization(vocabulary=["red", "green"], name=names[0])
    strings = make.StringLookup(vocabulary=["red"], name=names[1])
    integers = make.IntegerLookup(vocabulary=[1, 2], name=names[2])
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
    """`adapt` teaches the generated layers, found by their class, and no others."""
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
    assert model.get_layer("text_vectorization").get_vocabulary()[2:] == [
        "red",
        "green",
    ]
    learned = model.get_layer("normalization_normalization")
    np.testing.assert_allclose(learned.adapt_mean, [5.0])
    model.run_eagerly = True
    assert np.isfinite(model.fit(dataset, verbose=0).history["loss"]).all()
