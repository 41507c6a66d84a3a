"""The class of generated models, which refuses scaled pixels where it takes stored ones.

Keras casts what a model is given to the dtypes of its inputs without an error: pixels
that were scaled to [0, 1] all become 0 or 1 where the input takes uint8.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared.requirements import keras, tf


@keras.saving.register_keras_serializable("schemagen")
class RecordModel(keras.Model):  # type: ignore[misc]
    """A functional model that knows scaled pixels from stored ones.

    `fit`, `evaluate` and `predict` refuse arrays of them. Single batches may happen to be
    dark pictures: those of a dataset, and what the model is called with, cause a warning.
    """

    def fit(self, x: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Train the model."""
        return super().fit(_checked(self, x), *args, **kwargs)

    def evaluate(self, x: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Return the loss and the metrics."""
        return super().evaluate(_checked(self, x), *args, **kwargs)

    def predict(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """Return predictions as arrays."""
        return super().predict(_checked(self, x), *args, **kwargs)

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Return predictions as tensors."""
        _warn(self, inputs)
        return super().__call__(inputs, *args, **kwargs)


def _checked(model: Any, x: Any) -> Any:
    """Return what a model is to read; a dataset with a check of its batches.

    Raises:
        ValueError: it is arrays, some of them scaled pixels.
    """
    if isinstance(x, tf.data.Dataset):
        return _watched(model, x)
    for problem in _problems(model, x):
        raise ValueError(problem)
    return x


def _watched(model: Any, dataset: tf.data.Dataset) -> tf.data.Dataset:
    """Return a dataset that warns of its scaled pixels; itself if it cannot have any."""

    def features_of(element: Any) -> Any:
        return element[0] if isinstance(element, tuple) and element else element

    def watch(*element: Any) -> Any:
        whole = element if len(element) > 1 else element[0]
        suspects = list(_suspects(model, features_of(whole)))
        names = [tensor.name for tensor, _ in suspects]

        def look(*batch: NDArray[Any]) -> bool:
            _warn(model, dict(zip(names, batch, strict=True)))
            return True

        looked = tf.numpy_function(look, [values for _, values in suspects], tf.bool)
        with tf.control_dependencies([looked]):
            return tf.nest.map_structure(tf.identity, whole, expand_composites=True)

    if any(_suspects(model, features_of(dataset.element_spec))):
        return dataset.map(watch)
    return dataset


def _warn(model: Any, x: Any) -> None:
    for problem in _problems(model, x):
        warnings.warn(problem, stacklevel=1)  # equal warnings of one line show once


def _problems(model: Any, x: Any) -> Iterator[str]:
    """Yield what is wrong with arrays for a model's inputs."""
    for tensor, values in _suspects(model, x):
        try:
            found = np.asarray(values)
        except (TypeError, ValueError, RuntimeError):
            continue  # a function is being traced: there are no values yet
        if not _is_scaled(found):
            continue
        advice = "give it whole numbers"
        if tensor.dtype.startswith("uint"):
            advice = (
                "the model scales pixels by itself, so give it those that are stored, "
                f"from 0 to {np.iinfo(tensor.dtype).max}, as make_dataset does"
            )
        yield (
            f"input {tensor.name!r}: found {found.dtype} within [-1, 1], expected "
            f"{tensor.dtype}, to which Keras would cut all of them as 0 or 1; {advice}"
        )


def _suspects(model: Any, x: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the integer inputs that are given floats, and these."""
    if isinstance(x, Mapping):
        inputs = {tensor.name: tensor for tensor in model.inputs}
        pairs = [(inputs[name], x[name]) for name in x if name in inputs]
    else:
        given = x if isinstance(x, (list, tuple)) else [x]
        pairs = list(zip(model.inputs, given, strict=False))
    for tensor, values in pairs:
        if "int" in tensor.dtype and "float" in str(getattr(values, "dtype", "")):
            yield tensor, getattr(values, "flat_values", values)


def _is_scaled(numbers: NDArray[Any]) -> bool:
    """Tell whether numbers lie within [-1, 1] and are more than -1, 0 and 1."""
    return bool(
        numbers.size
        and np.abs(numbers).max() <= 1
        and np.any(numbers != np.rint(numbers))
    )
