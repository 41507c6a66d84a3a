"""The class of generated models, which refuses what Keras would train on silently.

Keras trains a model whose normalizations and vocabularies have seen no data. It casts
features to the dtypes of the inputs: pixels that were scaled to [0, 1] all become 0 or 1
where the input takes uint8. It pairs features with inputs by position if a dict has more
names than the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any

import numpy as np

from ..faults.calls import plain_errors
from ..shared.requirements import keras, tf
from .adaptation import unadapted_inputs
from .agreement import check_learnable, unknown_names


def _checking(
    method: Callable[..., Any], *, batches: bool = False, learns: bool = False
) -> Callable[..., Any]:
    """Return a method of Keras that checks the features, its argument `x`, first.

    Args:
        method: of `keras.Model`.
        batches: whether it divides arrays into batches.
        learns: whether it takes datasets of features and targets.
    """

    @wraps(method)
    def checking(self: RecordModel, *args: Any, **kwargs: Any) -> Any:
        x = args[0] if args else kwargs.get("x")
        self._check(x)
        if batches:
            _refuse_single_values(self, x)
        # Subclasses of users may learn from anything.
        if learns and type(self) is RecordModel:
            if not self.compiled:
                raise RuntimeError(
                    "the model is not compiled, and learns nothing: if the record has "
                    "no target, give a field role='target' and generate again, or add "
                    "your own head to `model.output`; else call model.compile"
                )
            for dataset in (x, kwargs.get("validation_data")):
                if hasattr(dataset, "element_spec"):
                    check_learnable(self, dataset)
        with plain_errors():
            return method(self, *args, **kwargs)

    return checking


@wraps(keras.Model.fit)
def _fit(model: RecordModel, x: Any = None, *args: Any, **kwargs: Any) -> Any:
    if hasattr(x, "element_spec"):
        kwargs.setdefault("shuffle", False)  # Keras would warn that datasets shuffle
    return keras.Model.fit(model, x, *args, **kwargs)


@keras.saving.register_keras_serializable("schemagen")
class RecordModel(keras.Model):  # type: ignore[misc]
    """A functional model that has to be adapted, and takes pixels as they are stored.

    Raises:
        RuntimeError: `adapt` has not run.
        ValueError: features have a name that is not an input, or values that the dtype
            of their input cannot hold; or a dataset has nothing to learn from.
    """

    _is_adapted = False

    fit = _checking(_fit, batches=True, learns=True)
    evaluate = _checking(keras.Model.evaluate, batches=True, learns=True)
    predict = _checking(keras.Model.predict, batches=True)
    train_on_batch = _checking(keras.Model.train_on_batch)
    test_on_batch = _checking(keras.Model.test_on_batch)
    predict_on_batch = _checking(keras.Model.predict_on_batch)

    def save(self, filepath: Any, *args: Any, **kwargs: Any) -> None:
        """Save the model; Keras writes one without a vocabulary, and cannot load it."""
        self._check(None)
        super().save(filepath, *args, **kwargs)

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
                    "before training, predicting or saving; a file of weights has no "
                    "vocabularies, and is loaded after that"
                )
            self._is_adapted = True
        for problem in _problems(self, getattr(x, "element_spec", x)):
            raise ValueError(problem)


def _is_symbolic(inputs: Any) -> bool:
    return any(isinstance(part, keras.KerasTensor) for part in tf.nest.flatten(inputs))


def _problems(model: Any, x: Any) -> Iterator[str]:
    """Yield what is wrong with features: arrays, tensors, or the specs of a dataset."""
    inputs = {tensor.name: tensor for tensor in model.inputs}
    features = x[0] if isinstance(x, tuple) and x else x
    if isinstance(features, list):
        features = dict(zip(inputs, features, strict=False))
    elif not isinstance(features, Mapping):
        return  # a generator, or what Keras refuses
    # Keras pairs a dict with inputs by position if it has more names.
    yield from unknown_names("feature", "input", features, inputs, "leave it out")
    for name, tensor in inputs.items():
        values = features.get(name)
        dtype = getattr(values, "dtype", tensor.dtype)
        if "int" not in tensor.dtype or getattr(dtype, "name", dtype) == tensor.dtype:
            continue
        if isinstance(values, tf.TypeSpec):
            found = (
                f"a dataset of {values.dtype.name}" if values.dtype.is_floating else ""
            )
        else:
            found = _beyond(getattr(values, "flat_values", values), tensor.dtype)
        if not found:
            continue
        advice = "give it whole numbers in the range of that dtype"
        if tensor.dtype.startswith("uint"):
            advice = (
                "the model scales pixels by itself, so give it those that are stored, "
                f"whole numbers from 0 to {np.iinfo(tensor.dtype).max}, as make_dataset "
                "does"
            )
        yield (
            f"input {name!r}: found {found}, expected {tensor.dtype}, to which Keras "
            f"would cast it silently; {advice}"
        )


def _refuse_single_values(model: Any, x: Any) -> None:
    """Refuse what Keras cannot divide into batches, and has no clear words for.

    Raises:
        ValueError: a feature is one value instead of a batch, or an array of objects.
    """
    if not isinstance(x, Mapping):
        return
    for tensor in model.inputs:
        values = x.get(tensor.name)
        if isinstance(values, (str, bytes)) or getattr(values, "ndim", None) == 0:
            sizes = ", ".join(["B", *(str(side or "?") for side in tensor.shape[1:])])
            raise ValueError(
                f"input {tensor.name!r}: found one value, of {type(values).__name__}, "
                f"expected a batch, {tensor.dtype} [{sizes}]; to predict from rows, "
                "give parse_batch a list of what serialize returns for each"
            )
        if isinstance(values, np.ndarray) and values.dtype == object:
            raise ValueError(
                f"input {tensor.name!r}: found a NumPy array of objects, expected a "
                "tensor, the only form in which Keras takes strings here: give "
                "tf.constant(array), or the dataset itself"
            )


def _beyond(values: Any, dtype: str) -> str:
    """Return a number that an integer dtype cannot hold, as text; "" if there is none."""
    try:
        numbers = np.asarray(values)
    except (TypeError, ValueError, RuntimeError):
        return ""  # a function is being traced: there are no values yet
    if numbers.dtype.kind not in "iuf":
        return ""
    with np.errstate(invalid="ignore"):
        beyond = numbers != numbers.astype(dtype)
    return f"{numbers[beyond][0]} in {numbers.dtype}" if beyond.any() else ""
