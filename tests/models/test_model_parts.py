"""Models in parts: some of the fields, other encoders and heads, weights, files."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import pytest
import tensorflow as tf

if TYPE_CHECKING:
    from conftest import PackageOf, Workspace

SCHEMA = """
from typing import Annotated
import numpy as np
from schemagen import Image, Label, Mask, Record, Scalar, VarLen, Vector

class Parts(Record):
    place: Annotated[np.ndarray, Vector(shape=(3,))]
    steps: Annotated[np.ndarray, VarLen("float32", item_shape=(2,), padding_value=-1)]
    tokens: list[int]
    words: list[str]
    note: str | None = None
    kind: Annotated[int, Label(num_classes=3)]
    size: Annotated[np.ndarray, Vector(shape=(2, 2), role="target")]
    alive: Annotated[bool, Scalar("bool", role="target")]

class Single(Record):
    place: Annotated[np.ndarray, Vector(shape=(3,))]
    height: float | None = None
    kind: Annotated[int, Label(num_classes=3)]

class Scene(Record):
    photo: Annotated[np.ndarray, Image((4, 4, 1))]
    place: Annotated[np.ndarray, Vector(shape=(3,))]
    mask: Annotated[np.ndarray, Mask((4, 4), num_classes=2)]
"""

_WORDS = ["a\nb", "[UNK]", "x\0", "é\u2028", "plain", "\r"]


def _row(number: int) -> dict[str, Any]:
    noise = np.random.default_rng(number)
    length = number % 5
    return {
        "place": noise.normal(7, 3, 3).astype(np.float32),
        "steps": noise.random((length, 2), np.float32),
        "tokens": noise.integers(1, 9, length),
        "words": noise.choice(_WORDS, length).tolist(),
        "note": f"word{number % 3} \u2028 and {_WORDS[length]}" if number % 2 else None,
        "kind": number % 3,
        "size": noise.random((2, 2), np.float32),
        "alive": number % 2 == 0,
    }


@pytest.fixture(scope="module")
def data(package: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of the record with everything."""
    path = tmp_path_factory.mktemp("parts")
    package.module("parts", "serializer").write_dataset(map(_row, range(12)), path, "t")
    return path


@pytest.fixture(scope="module")
def dataset(package: Workspace, data: Path) -> tf.data.Dataset:
    """Batches of 4 of all its fields."""
    return package.module("parts", "pipeline").make_dataset(data, batch_size=4)


def _adapted(package: Workspace, dataset: tf.data.Dataset, **options: Any) -> Any:
    module = package.module("parts", "model")
    model = module.build_model(**options)
    model.run_eagerly = True  # compiling takes longer than a few batches
    module.adapt(model, dataset)
    return model


# Some of the fields.


def test_a_model_of_some_fields_has_their_inputs(package: Workspace) -> None:
    """With the masks of those that have one, in the order of the record."""
    module = package.module("parts", "model")
    model = module.build_model(fields=["note", "place"])
    assert list(model.input) == ["place", "note", "note_present"]
    assert list(module.make_inputs(("tokens",))) == ["tokens"]
    everything = {"place", "steps", "tokens", "words", "note", "note_present"}
    assert set(module.make_inputs()) == everything


_FLATTEN = keras.layers.Flatten()

# a record; what is wrong for it; and what the error names
_WRONG: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [
    ("parts", {"fields": ["place", "token"]}, ("'token'", "'tokens'")),
    ("parts", {"fields": ["note_present"]}, ("'note_present'", "place")),
    ("parts", {"fields": "place"}, ("fields='place'",)),
    ("parts", {"fields": ()}, ("fields=()", "place")),
    ("parts", {"inputs": "place"}, ("inputs='place'",)),
    ("parts", {"inputs": []}, ("inputs=[]", "place")),
    ("parts", {"fields": ["place"], "inputs": ["tokens"]}, ("'tokens'", "place")),
    ("parts", {"encoders": {"token": _FLATTEN}}, ("'token'", "'tokens'")),
    (
        "parts",
        {"fields": ["place"], "encoders": {"tokens": _FLATTEN}},
        ("'tokens'", "place"),
    ),
    ("parts", {"encoders": {"place": lambda value: value[..., None]}}, ("'place'",)),
    ("parts", {"head": {"kinds": keras.layers.Dense(3)}}, ("'kinds'", "'kind'")),
    ("parts", {"head": keras.layers.Dense(3)}, ("kind, size, alive",)),
    (
        "parts",
        {"head": {"size": keras.layers.Dense(4)}},
        ("'size'", "float32 [None, 4]", "float32 [B, 2, 2]"),
    ),
    (
        "single",
        {"head": keras.layers.Dense(3, dtype="float16")},
        ("'kind'", "float16", "float32 [B, 3]"),
    ),
    ("single", {"head": lambda features: [features]}, ("'kind'", "list", "[B, 3]")),
    ("parts", {"loss_weights": {"sizes": 2.0}}, ("'sizes'", "'size'")),
    ("parts", {"loss_weights": [1, 2]}, ("list", "'kind'")),
    ("parts", {"loss_weights": {"kind": "a"}}, ("'a'", "'kind'")),
    ("single", {"loss_weights": {"kind": 2.0}}, ("'kind'",)),
    ("scene", {"fields": ["place"]}, ("'mask'", "photo")),
    ("parts", {"max_tokens": 2}, ("max_tokens=2",)),
    ("parts", {"max_tokens": None}, ("max_tokens=None",)),
    ("parts", {"sequence_length": 0}, ("sequence_length=0",)),
    ("parts", {"sequence_length": 2.5}, ("sequence_length=2.5",)),
]


@pytest.mark.parametrize(("record", "options", "words"), _WRONG)
def test_a_wrong_choice_is_named(
    package: Workspace, record: str, options: dict[str, Any], words: tuple[str, ...]
) -> None:
    """What was given, what there is, and the nearest name."""
    with pytest.raises((ValueError, TypeError)) as caught:
        package.module(record, "model").build_model(**options)
    assert [word for word in words if word not in str(caught.value)] == []


# Other encoders and heads.


@pytest.mark.slow
def test_heads_are_replaced_by_name(
    package: Workspace, dataset: tf.data.Dataset
) -> None:
    """One's own predicts in place of the one, the others stay as they are."""

    def kinds(features: Any) -> Any:
        return keras.layers.Dense(3, "softmax", name="my_head")(features)

    model = _adapted(package, dataset, head={"kind": kinds})
    names = {layer.name for layer in model.layers}
    assert "my_head" in names
    assert {"size", "alive"} <= names
    found = model.fit(dataset, verbose=0).history
    assert np.isfinite(list(found.values())).all()
    assert {"kind_loss", "alive_auc", "alive_binary_accuracy"} <= set(found)


def test_the_head_of_one_target_is_a_function(package: Workspace) -> None:
    """By name or not, whichever is easier to write."""
    build = package.module("single", "model").build_model
    for head in (keras.layers.Dense(3, name="mine"), None):
        model = build(head=head and {"kind": head})
        assert model.output_shape == (None, 3)
    model = build(head=lambda x: keras.layers.Dense(3, name="mine")(x))
    assert model.layers[-1].name == "mine"


def test_the_head_of_a_mask_sees_the_inputs(package: Workspace) -> None:
    """For pixels the features of the whole record are not enough."""

    def pixels(features: Any, values: Any) -> Any:
        assert set(values) == {"photo"}
        photo = keras.layers.Rescaling(1 / 255)(values["photo"])
        maps = keras.layers.Conv2D(2, 1, activation="softmax")(photo)
        return maps + 0 * features[:, :1, None, None]

    module = package.module("scene", "model")
    model = module.build_model(inputs=["photo"], head=pixels)
    assert model.output_shape == (None, 4, 4, 2)


def test_losses_are_weighted_by_name(
    package: Workspace, dataset: tf.data.Dataset
) -> None:
    """The whole is the sum of the parts, each times its weight, 1 if none is given."""
    weights = {"size": 10.0, "alive": 0.0}
    model = _adapted(package, dataset, loss_weights=weights)
    found = model.evaluate(dataset, verbose=0, return_dict=True)
    expected = found["kind_loss"] + 10 * found["size_loss"]
    assert found["loss"] == pytest.approx(expected, rel=1e-5)


def _recurrent(package: Workspace) -> dict[str, Callable[[Any], Any]]:
    """Encoders that read sequences in their order."""
    blocks = importlib.import_module("schemagen.runtime.models.blocks")

    def tokens(value: Any) -> Any:
        return blocks.tokens(
            value, name="tokens", padding_value=0, pool=blocks.recurrent
        )

    def steps(value: Any) -> Any:
        return blocks.items(
            value, name="steps", padding_value=-1, pool=blocks.recurrent
        )

    return {"tokens": tokens, "steps": steps}


@pytest.mark.slow
def test_a_recurrent_encoder_knows_the_order(
    package: Workspace, dataset: tf.data.Dataset
) -> None:
    """The mean of the default does not; padding changes nothing for either."""
    fields, inputs = ["tokens", "steps"], {"steps": np.full((2, 1, 2), -1.0, "float32")}
    there = {"tokens": np.array([[1, 2, 3, 0], [3, 2, 1, 0]]), **inputs}
    longer = {name: np.pad(v, [(0, 0), (0, 2)], constant_values=0) for name, v in [
        ("tokens", there["tokens"])]} | inputs  # fmt: skip
    empty = {"tokens": np.zeros((2, 0), int), "steps": np.zeros((2, 0, 2), np.float32)}
    names = ("tokens", "steps")
    some = dataset.map(lambda x, y: ({name: x[name] for name in names}, y))
    for encoders, differs in ((None, False), (_recurrent(package), True)):
        model = _adapted(package, some, fields=fields, encoders=encoders)
        first, second = model(there)["kind"].numpy()
        assert (np.abs(first - second).max() > 1e-6) == differs
        np.testing.assert_allclose(model(longer)["kind"][0], first, atol=1e-6)
        assert np.isfinite(model(empty)["kind"]).all()


# Files.


def _assert_equal(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert set(found) == set(expected)
    for name, array in found.items():
        np.testing.assert_array_equal(array, expected[name])


@pytest.mark.slow
def test_weights_hold_normalizations_and_no_vocabularies(
    package: Workspace, dataset: tf.data.Dataset, tmp_path: Path
) -> None:
    """A model without vocabularies is ready; another one says what it lacks."""
    module = package.module("parts", "model")
    ((features, _),) = dataset.take(1)
    path = tmp_path / "model.weights.h5"
    for inputs, lacking in (
        (["place", "steps"], ""),
        (None, "'tokens', 'words', 'note'"),
    ):
        model, other = (module.build_model(inputs=inputs) for _ in range(2))
        model.save_weights(path)
        other.load_weights(path)
        with pytest.raises(RuntimeError, match="adapt"):
            other(features)
        module.adapt(model, dataset)
        model.save_weights(path)
        other.load_weights(path)
        if lacking:
            with pytest.raises(RuntimeError, match=lacking):
                other.predict(features, verbose=0)
            module.adapt(other, dataset)
            other.load_weights(path)
        _assert_equal(other(features), model(features))


@pytest.mark.slow
def test_weights_of_normalizations_reach_functions_that_were_traced(
    package: Workspace, dataset: tf.data.Dataset, tmp_path: Path
) -> None:
    """By `load_weights` and by `set_weights`, in a model and in a clone of it."""
    module = package.module("parts", "model")
    other = dataset.map(lambda x, y: ({**x, "place": x["place"] * 5 + 1}, y))
    first, second = (module.build_model(inputs=["place", "steps"]) for _ in range(2))
    module.adapt(first, dataset)
    module.adapt(second, other)
    second.predict(dataset, verbose=0)
    expected = first.predict(dataset, verbose=0)
    first.save_weights(tmp_path / "model.weights.h5")
    second.load_weights(tmp_path / "model.weights.h5")
    clone = keras.models.clone_model(first)
    clone.set_weights(first.get_weights())
    for model in (second, clone):
        _assert_equal(model.predict(dataset, verbose=0), expected)


@pytest.mark.slow
def test_a_model_that_has_not_been_adapted_is_not_ready(
    package: Workspace, dataset: tf.data.Dataset, tmp_path: Path
) -> None:
    """Nor is a clone; Keras would save a file that it cannot load."""
    model = package.module("parts", "model").build_model()
    with pytest.raises(RuntimeError, match="adapt"):
        model.save(tmp_path / "model.keras")
    assert not list(tmp_path.iterdir())
    clone = keras.models.clone_model(_adapted(package, dataset))
    ((features, _),) = dataset.take(1)
    for each in (model, clone):
        with pytest.raises(RuntimeError, match="'place'"):
            each(features)
        with pytest.raises(RuntimeError, match="'place'"):
            each.fit(dataset, verbose=0)


_LOOSE = """
from typing import Annotated
import numpy as np
from schemagen import Label, Record, VarLen

class Loose(Record):
    ids: Annotated[list[int], VarLen("int64", ragged=True)]
    words: Annotated[list[str], VarLen("string", ragged=True)]
    note: str
    kind: Annotated[int, Label(num_classes=3)]
"""


def test_ragged_fields_are_refused_by_a_keras_that_takes_none(
    package_of: PackageOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By name, with the fields that are left; those alone make a model."""
    module = package_of(_LOOSE).module("loose", "model")
    monkeypatch.setattr(keras, "__version__", "3.8.0")
    words = r"3\.8\.0.*'ids'.*'words'.*fields=\('note',\)"
    with pytest.raises(ValueError, match=words):
        module.build_model()
    assert list(module.make_inputs(fields=["note"])) == ["note"]
