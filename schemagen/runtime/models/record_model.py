"""The class of generated models, which refuses what Keras would train on silently.

Keras trains a model whose normalizations and vocabularies have seen no data. It casts
what a model is given to the dtypes of its inputs: pixels that were scaled to [0, 1] all
become 0 or 1 where the input takes uint8.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..shared.requirements import keras, tf
from .adaptation import unadapted_inputs


@keras.saving.register_keras_serializable("schemagen")
class RecordModel(keras.Model):  # type: ignore[misc]
    """A functional model that has to be adapted, and takes pixels as they are stored.

    Raises:
        RuntimeError: `adapt` has not run.
        ValueError: an input of integers is given scaled pixels, or a dataset of floats.
    """

    _is_adapted = False

    def fit(self, x: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Train the model."""
        self._check(x)
        return super().fit(x, *args, **kwargs)

    def evaluate(self, x: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Return the loss and the metrics."""
        self._check(x)
        return super().evaluate(x, *args, **kwargs)

    def predict(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """Return predictions as arrays."""
        self._check(x)
        return super().predict(x, *args, **kwargs)

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Return predictions as tensors."""
        # Other backends have no values here while a function is traced.
        if keras.backend.backend() == "tensorflow" and not _is_symbolic(inputs):
            with tf.init_scope():
                self._check(inputs)
        return super().__call__(inputs, *args, **kwargs)

    def _check(self, x: Any) -> None:
        if not self._is_adapted:
            if missing := unadapted_inputs(self):
                raise RuntimeError(
                    "the model has not been adapted to data for "
                    f"{', '.join(map(repr, missing))}: call adapt(model, dataset) once, "
                    "before training or predicting; a file of weights has no "
                    "vocabularies"
                )
            self._is_adapted = True
        for problem in _scaled_pixels(self, getattr(x, "element_spec", x)):
            raise ValueError(problem)


def _is_symbolic(inputs: Any) -> bool:
    return any(isinstance(part, keras.KerasTensor) for part in tf.nest.flatten(inputs))


def _scaled_pixels(model: Any, x: Any) -> Iterator[str]:
    """Yield the integer inputs that are given scaled pixels, or a dataset of floats."""
    features = x[0] if isinstance(x, tuple) and x else x
    if not isinstance(features, Mapping):
        features = dict(zip(model.input_names, tf.nest.flatten(features), strict=False))
    for tensor in model.inputs:
        values = features.get(tensor.name)
        if "int" not in tensor.dtype or "float" not in str(
            getattr(values, "dtype", "")
        ):
            continue
        if isinstance(values, tf.TypeSpec):
            found = f"a dataset of {values.dtype.name}"
        elif _is_scaled(getattr(values, "flat_values", values)):
            found = f"{np.dtype(str(np.asarray(values).dtype))} within [-1, 1]"
        else:
            continue
        advice = "give it whole numbers"
        if tensor.dtype.startswith("uint"):
            advice = (
                "the model scales pixels by itself, so give it those that are stored, "
                f"from 0 to {np.iinfo(tensor.dtype).max}, as make_dataset does"
            )
        yield (
            f"input {tensor.name!r}: found {found}, expected {tensor.dtype}, to which "
            f"Keras would cut it silently; {advice}"
        )


def _is_scaled(values: Any) -> bool:
    """Tell whether numbers lie within [-1, 1] and are more than -1, 0 and 1."""
    try:
        numbers = np.asarray(values)
    except (TypeError, ValueError, RuntimeError):
        return False  # a function is being traced: there are no values yet
    return bool(
        numbers.size
        and np.abs(numbers).max() <= 1
        and np.any(numbers != np.rint(numbers))
    )
