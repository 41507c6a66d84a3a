"""Pixels that were scaled before they reach a model, which scales them by itself."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import pytest
import tensorflow as tf

if TYPE_CHECKING:
    from conftest import PackageOf

_SCHEMA = """
from typing import Annotated
import numpy as np
from schemagen import Image, Label, Record

class Shot(Record):
    photo: Annotated[np.ndarray, Image(shape=(4, 4, 1))]
    ready: Annotated[np.ndarray, Image(shape=(4, 4, 1), dtype="float32")]
    kind: Annotated[int, Label(num_classes=3)]
"""

_NOISE = np.random.default_rng(0)
_STORED = _NOISE.integers(0, 256, (6, 4, 4, 1)).astype(np.uint8)
_READY = _NOISE.random((6, 4, 4, 1), np.float32)
_KINDS = np.arange(6) % 3

# What is no scaled picture, in the dtypes that people cast pixels to.
_PASSING = {
    "stored": _STORED,
    "cast": _STORED.astype(np.float64),
    "wide": _STORED.astype(np.int64),
    "black": np.zeros((6, 4, 4, 1), np.float32),
    "black and white": (_STORED > 127).astype(np.float32),
}
_SCALED = {
    "float32": (_STORED / 255).astype(np.float32),
    "float64": _STORED / 255,
    "centred": _STORED / 127.5 - 1,
    "standardized": (_STORED / 255 - 0.45) / 0.22,
    "resized": _STORED * np.float32(0.77),
    "too large": _STORED.astype(np.int64) + 200,
    "NaN": np.full((6, 4, 4, 1), np.nan, np.float32),
    "a tensor": tf.constant(_STORED / 255),
}
_WORDS = r"'photo': .* (float|int)(32|64), .*uint8"


@pytest.fixture(scope="module")
def model(package_of: PackageOf) -> Any:
    """A generated model that takes stored pixels, and others as floats."""
    model = package_of(_SCHEMA).module("shot", "model").build_model()
    model.run_eagerly = True  # compiling takes longer than a few batches
    return model


def _features(photo: Any) -> dict[str, Any]:
    return {"photo": photo, "ready": _READY}


def test_scaled_pixels_are_refused(model: Any) -> None:
    """By predict, evaluate and fit; the error names the input and what it takes."""
    for photo in _SCALED.values():
        with pytest.raises(ValueError, match=_WORDS):
            model.predict(_features(photo), verbose=0)
    scaled = _features(_SCALED["float32"])
    for method in (model.fit, model.evaluate):
        with pytest.raises(ValueError, match=_WORDS):
            method(scaled, _KINDS, verbose=0)
    for method in (model.train_on_batch, model.test_on_batch):
        with pytest.raises(ValueError, match=_WORDS):
            method(scaled, _KINDS)
    with pytest.raises(ValueError, match=_WORDS):
        model.predict_on_batch(scaled)
    with pytest.raises(ValueError, match=_WORDS):  # eagerly, as in your own loop
        model(scaled)


def test_pixels_of_the_stored_range_pass(model: Any) -> None:
    """Whatever their dtype, and black pictures, without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = {
            name: model.predict(_features(photo), verbose=0)
            for name, photo in _PASSING.items()
        }
    np.testing.assert_array_equal(found["stored"], found["cast"])


def test_a_dataset_of_floats_is_refused(model: Any) -> None:
    """Keras would cut them to integers in every batch; nothing is read to know it."""
    photos = _PASSING["cast"].astype(np.float32)
    dataset = tf.data.Dataset.from_tensors((_features(photos), _KINDS))
    for method in (model.predict, model.fit, model.evaluate):
        with pytest.raises(ValueError, match=_WORDS):
            method(dataset, verbose=0)
    stored = dataset.map(
        lambda x, y: ({**x, "photo": tf.cast(x["photo"], tf.uint8)}, y)
    )
    assert np.isfinite(model.evaluate(stored, verbose=0)).all()


def test_the_check_is_saved_with_the_model(model: Any, tmp_path: Any) -> None:
    """A loaded model and a clone refuse the same, and predict the same."""
    model.save(tmp_path / "shot.keras")
    loaded = keras.models.load_model(tmp_path / "shot.keras")
    stored, scaled = _features(_STORED), _features(_SCALED["float32"])
    for other in (loaded, keras.models.clone_model(model)):
        with pytest.raises(ValueError, match=_WORDS):
            other.predict(scaled, verbose=0)
    np.testing.assert_array_equal(
        loaded.predict(stored, verbose=0), model.predict(stored, verbose=0)
    )


def test_a_feature_that_is_not_an_input_is_refused(model: Any) -> None:
    """Keras would pass the tensors to other inputs."""
    more = {"a": np.zeros((6, 1), np.float32), **_features(_STORED)}
    with pytest.raises(ValueError, match="feature 'a'"):
        model.predict(more, verbose=0)
