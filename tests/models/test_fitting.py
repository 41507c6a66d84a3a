"""What `fit`, `evaluate` and `predict` refuse before Keras fails, and what they take."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf

if TYPE_CHECKING:
    from conftest import PackageOf

SCHEMA = """
from typing import Annotated
import numpy as np
from schemagen import Label, Record, Scalar, Vector

class One(Record):
    sound: Annotated[np.ndarray, Vector(shape=(3,))]
    title: str
    genre: Annotated[int, Label(num_classes=3)]

class Two(Record):
    sound: Annotated[np.ndarray, Vector(shape=(3,))]
    genre: Annotated[int, Label(num_classes=3)]
    tempo: Annotated[float, Scalar("float32", role="target")]
"""

_COUNT = 6
_FEATURES = {
    "one": {"sound": np.eye(_COUNT, 3, dtype=np.float32), "title": ["a b"] * _COUNT},
    "two": {"sound": np.eye(_COUNT, 3, dtype=np.float32)},
}
_GENRE = np.arange(_COUNT) % 3
_TWO = {"genre": _GENRE, "tempo": np.arange(_COUNT, dtype=np.float32)}
_TARGETS: dict[str, Any] = {"one": _GENRE, "two": _TWO}
_ONE_HOT = np.eye(3, dtype=np.float32)[_GENRE]
_ONES = np.ones(_COUNT, np.float32)
_INFO = {"plays": np.arange(_COUNT)}


def _dataset(record: str, *parts: Any) -> tf.data.Dataset:
    return tf.data.Dataset.from_tensors((_FEATURES[record], *parts))


@pytest.fixture
def model_of(package_of: PackageOf) -> Callable[[str], Any]:
    """Make adapted models of a record."""
    package = package_of(SCHEMA)

    def made(record: str) -> Any:
        module = package.module(record, "model")
        model = module.build_model()
        model.run_eagerly = True  # compiling takes longer than one batch
        module.adapt(model, _dataset(record, _TARGETS[record]))
        return model

    return made


@pytest.mark.parametrize("record", ["one", "two"])
def test_what_nothing_can_be_learned_from_is_named(
    model_of: Callable[[str], Any], record: str
) -> None:
    """At once, so that the model can be trained with a correct dataset after it."""
    model = model_of(record)
    targets = _TARGETS[record]
    one_hot = _ONE_HOT if record == "one" else {**_TWO, "genre": _ONE_HOT}
    wrong: list[tuple[str, tuple[Any, ...]]] = [
        ("genre.*targets=False", ()),
        (r"'genre'.*float32 \[B, 3\].* class ids", (one_hot,)),
        ("plays.* info=True", (targets, _INFO)),
        ("plays.* info=True", (targets, _ONES, _INFO)),
    ]
    good = _dataset(record, targets)
    for words, parts in wrong:
        bad = _dataset(record, *parts)
        for attempt in (
            lambda bad=bad: model.fit(bad, verbose=0),
            lambda bad=bad: model.evaluate(bad, verbose=0),
            lambda bad=bad: model.fit(good, validation_data=bad, verbose=0),
        ):
            with pytest.raises(ValueError, match=words):
                attempt()
    model.run_eagerly = False
    assert np.isfinite(model.fit(good, verbose=0).history["loss"]).all()


@pytest.mark.parametrize(
    ("record", "parts", "options"),
    [
        ("one", (_GENRE[:, None],), {}),
        ("one", (_GENRE, _ONES), {}),
        ("one", (_GENRE, None), {}),
        ("one", (_ONE_HOT,), {"loss": "categorical_crossentropy"}),
        ("one", (_ONE_HOT,), {"loss": lambda true, found: (true - found) ** 2}),
        ("one", (_ONE_HOT[:, :2],), {"loss": lambda _, found: found[:, 0]}),
        ("two", ((_GENRE, _TWO["tempo"]),), {}),
        ("two", (_TWO, {"genre": _ONES, "tempo": _ONES}), {}),
        ("two", ({**_TWO, "genre": _ONE_HOT},), {"loss": "mean_squared_error"}),
    ],
)
def test_what_keras_learns_from_is_not_refused(
    model_of: Callable[[str], Any],
    record: str,
    parts: tuple[Any, ...],
    options: dict[str, Any],
) -> None:
    """Weights, other shapes of targets, and losses of one's own."""
    model = model_of(record)
    if options:
        model.compile("sgd", metrics=[], **options, run_eagerly=True)
    model.fit(_dataset(record, *parts), verbose=0)


def test_values_without_a_batch_are_refused(model_of: Callable[[str], Any]) -> None:
    """Keras fails on them too, in words that name no input."""
    model = model_of("one")
    good = {"sound": _ONE_HOT, "title": tf.constant(_FEATURES["one"]["title"])}
    assert model.predict(good, verbose=0).shape == (_COUNT, 3)
    for value in (b"a", "a", tf.constant("a"), np.array(["a"] * 6, object)):
        with pytest.raises(ValueError, match="'title'"):
            model.predict({**good, "title": value}, verbose=0)


def test_a_dataset_is_not_shuffled_by_keras(model_of: Callable[[str], Any]) -> None:
    """`make_dataset` shuffles, so `fit` does not ask Keras to, which would warn."""
    model = model_of("one")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(_dataset("one", _GENRE), verbose=0)
    with pytest.warns(UserWarning, match="shuffle"):
        model.fit(_dataset("one", _GENRE), verbose=0, shuffle=True)
