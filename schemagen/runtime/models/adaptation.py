"""Adapting the layers of a generated model to data before training, in one pass.

`layer.adapt` of Keras reads the dataset once for each layer, takes padding and missing
values for data, and keeps words that it cannot save.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import warn
from ..shared.requirements import keras, layers, tf
from .agreement import check_features
from .blocks import is_padding
from .layers import Normalization, densify

# Keras saves a vocabulary as lines of text. These characters end a line (a NUL is lost):
# after loading, all tokens after one of them would have the index of another.
_LINE_ENDS = r"[\x00\n\v\f\r\x1c-\x1e\x{85}\x{2028}\x{2029}]"

# Keras also makes an array of a vocabulary whose items are all as long as the longest.
_LONGEST = 1000

# The indices of padding and of unknown tokens, which every vocabulary has.
_SPECIAL = 2

# The vocabulary of a field without any token. Keras has no empty one.
_NO_TOKENS = {"string": ["[NO TOKENS]"], "int64": [2**63 - 1]}


def adaptable_layers(model: Any) -> dict[Any, str]:
    """Return the layers that have to be adapted, and the input that each one reads.

    Lookups are found by class and name: `<field>_vocabulary`. Others are a user's own,
    and so are those of other names that have a vocabulary.

    Raises:
        ValueError: a layer has the name of no input.
    """
    lookups = (layers.StringLookup, layers.IntegerLookup, layers.TextVectorization)
    names = {tensor.name for tensor in model.inputs}
    found: dict[Any, str] = {}
    for layer in model.layers:
        if isinstance(layer, Normalization):
            found[layer] = layer.name.removesuffix("_normalization")
        elif isinstance(layer, lookups) and layer.name.endswith("_vocabulary"):
            name = layer.name.removesuffix("_vocabulary")
            if name in names or layer.vocabulary_size() == _SPECIAL:
                found[layer] = name
    for layer, name in found.items():
        if name not in names:
            raise ValueError(
                f"the layer {layer.name!r} cannot be adapted: the model has no input "
                f"{name!r}; the name= of a block is that of its field"
            )
    return found


def unadapted_inputs(model: Any) -> list[str]:
    """Return the inputs that have a layer which has not been adapted."""
    return [
        name
        for layer, name in adaptable_layers(model).items()
        if not (
            layer.adapted
            if isinstance(layer, Normalization)
            else layer.vocabulary_size() > _SPECIAL
        )
    ]


def adapt(
    model: Any, dataset: tf.data.Dataset, targets: Mapping[str, bool] | None = None
) -> None:
    """Adapt a model's normalizations and vocabularies to a dataset.

    Args:
        model: a generated one.
        dataset: of features by name, or of tuples that begin with them.
        targets: the targets of one value a record, by name, and whether they are
            classes, of which -1 is a missing one.

    An input that has the same value in all records is only shifted to 0, and is named
    by a RuntimeWarning. So is a target that has one value, or is mostly missing.

    Raises:
        ValueError: the dataset is empty or endless, or its features do not fit.
    """
    check_features(model, dataset)
    found = adaptable_layers(model)
    if not found:
        return
    if dataset.cardinality() == tf.data.INFINITE_CARDINALITY:
        raise ValueError(
            "adapt reads a dataset to its end, and this one has none: make it with "
            "repeat=False, or take a part of it, such as dataset.take(1000)"
        )
    moments = {layer: Moments() for layer in found if isinstance(layer, Normalization)}
    some_missing = set()  # whether a value is there tells a model something
    for layer in found.keys() - moments.keys():
        layer.reset_state()
    empty = True
    answers = {name: Answers(classes) for name, classes in (targets or {}).items()}
    for element in dataset:
        features = element[0] if isinstance(element, tuple) else element
        if isinstance(element, tuple) and len(element) > 1:
            _add_answers(answers, element[1])
        _check_integers(features)
        for layer, name in found.items():
            if layer in moments:
                rows, finite = _rows(layer, features[name])
                moments[layer].add(rows[finite])
                if not finite.all():
                    some_missing.add(layer)
            else:
                layer.update_state(_tokens(layer, features[name]))
        empty = False
    if empty:
        raise ValueError(
            "adapt has nothing to learn from, the dataset is empty: expected at least "
            "one batch; drop_remainder=True leaves none of fewer records than "
            "batch_size, and take, skip or shard may leave none either"
        )
    for layer in found:
        if layer in moments:
            layer.learn(moments[layer].mean, moments[layer].variance)
            if moments[layer].is_constant and layer not in some_missing:
                warn(
                    f"input {found[layer]!r} has the same value in all records that "
                    "adapt has read, so the model learns nothing from it; leave it out "
                    "by build_model(fields=...), or train with data that has several"
                )
            continue
        layer.finalize_state()
        if layer.vocabulary_size() == _SPECIAL:
            numbers = isinstance(layer, layers.IntegerLookup)
            layer.set_vocabulary(_NO_TOKENS["int64" if numbers else "string"])
    for name, answer in answers.items():
        if problem := answer.problem:
            warn(f"target {name!r} {problem}")
    # Functions that were traced before have the old tables as constants.
    model.train_function = model.test_function = model.predict_function = None


class Answers:
    """The values of a target that come batch by batch.

    Args:
        classes: whether they are classes, of which -1 is a missing one.
    """

    def __init__(self, classes: bool) -> None:
        self._classes = classes
        self._count = self._missing = 0
        self._least, self._greatest = np.inf, -np.inf

    def add(self, values: NDArray[Any]) -> None:
        """Add the values of a batch."""
        self._count += len(values)
        if self._classes:
            self._missing += int((values == -1).sum())
            values = values[values != -1]
        if len(values):
            self._least = min(self._least, values.min())
            self._greatest = max(self._greatest, values.max())

    @property
    def problem(self) -> str:
        """What is wrong with them, in words; "" for nothing."""
        if 2 * self._missing > self._count:
            return (
                f"is missing (-1) in {self._missing:,} of {self._count:,} records that "
                "adapt has read, which the loss leaves out; if files store -1 for a class, "
                "declare it with Label(values=...)"
            )
        if self._least != self._greatest:
            return ""
        what = "class id" if self._classes else "value"
        return (
            f"has the {what} {self._least:g} in all {self._count - self._missing:,} "
            "records that adapt has read and that have one, so the model learns nothing "
            "but that; train with data that has several"
        )


def _add_answers(answers: Mapping[str, Answers], found: Any) -> None:
    """Add the targets of a batch: a tensor of one target, or a dict by name."""
    if not isinstance(found, Mapping):
        found = dict.fromkeys(answers, found) if len(answers) == 1 else {}
    for name, answer in answers.items():
        values = found.get(name)
        if isinstance(values, tf.Tensor) and values.shape.rank == 1:
            answer.add(values.numpy())


def _rows(layer: Normalization, batch: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return rows without padding, [N, D], and which of them are finite, and learned from."""
    values = tf.cast(densify(_flat_values(batch), 0), tf.float32)
    rows = values.numpy().reshape(-1, layer.adapt_mean.shape[0])
    if layer.padding_value is not None:
        rows = rows[~np.asarray(is_padding(rows, layer.padding_value))]
    return rows, np.isfinite(rows).all(axis=1)


def _tokens(layer: Any, batch: Any) -> tf.Tensor:
    """Return the tokens, or the texts, that a lookup learns from: [N]."""
    values = tf.reshape(_flat_values(batch), (-1,))
    saved = values
    if values.dtype == tf.string:
        saved = tf.strings.unicode_transcode(
            values, "UTF-8", "UTF-8", errors="replace", replacement_char=ord(" ")
        )
        saved = tf.strings.regex_replace(saved, _LINE_ENDS, " ")
        saved = tf.strings.regex_replace(saved, rf"\S{{{_LONGEST},}}", " ")
        if isinstance(layer, layers.TextVectorization):
            return saved
    else:
        values = saved = tf.cast(values, tf.int64)
    # Keras fails if a dataset has no token but these two.
    special = (values == layer.mask_token) | (values == layer.oov_token)
    return tf.boolean_mask(values, (values == saved) & ~special)


def _flat_values(batch: Any) -> Any:
    """Return the values of a batch, without the lengths of a ragged one's rows."""
    return batch.flat_values if isinstance(batch, tf.RaggedTensor) else batch


class Moments:
    """The mean and the variance of rows that come batch by batch.

    They are merged by the method of Chan, Golub and LeVeque in float64: sums of squares
    would lose the variance of large numbers.

    Attributes:
        count: how many rows were added.
        mean: their mean, [D].
        least: the least value, [D].
        greatest: the greatest value, [D].
    """

    def __init__(self) -> None:
        self.count = 0
        self.mean: Any = 0.0
        self.least: Any = np.inf
        self.greatest: Any = -np.inf
        self._squares: Any = 0.0  # of the differences from the mean

    def add(self, rows: NDArray[Any]) -> None:
        """Add finite rows [N, D]."""
        if not len(rows):
            return
        rows = rows.astype(np.float64)
        count = self.count + len(rows)
        mean = rows.mean(axis=0)
        shift = mean - self.mean
        self._squares += ((rows - mean) ** 2).sum(axis=0)
        self._squares += shift**2 * (self.count * len(rows) / count)
        self.mean = self.mean + shift * (len(rows) / count)
        self.count = count
        self.least = np.minimum(self.least, rows.min(axis=0))
        self.greatest = np.maximum(self.greatest, rows.max(axis=0))

    @property
    def variance(self) -> Any:
        """The mean square of the differences from the mean, [D]; 1 if all are equal.

        With the variance 0, each other value would be divided by Keras's epsilon, and
        a model would see millions.
        """
        if not self.count:
            return 1.0
        return np.where(self.least == self.greatest, 1.0, self._squares / self.count)

    @property
    def is_constant(self) -> bool:
        """Whether all rows are equal; False if there are none."""
        return bool(self.count) and bool(np.all(self.least == self.greatest))


def _check_integers(features: Mapping[str, Any]) -> None:
    """Refuse integers that Keras cuts to 32 bits silently, as JAX does by default.

    Raises:
        ValueError: there is one.
    """
    if keras.backend.backend() != "jax" or sys.modules["jax"].config.jax_enable_x64:
        return
    for name, batch in features.items():
        values = _flat_values(batch)
        if values.dtype not in (tf.int64, tf.uint64):
            continue
        beyond = values != tf.cast(tf.cast(values, tf.int32), values.dtype)
        if tf.reduce_any(beyond):
            found = tf.boolean_mask(values, beyond)[0].numpy()
            raise ValueError(
                f"input {name!r}: found {found}, expected integers of 32 bits: Keras "
                "cuts longer ones with this backend, which is JAX without "
                f"JAX_ENABLE_X64=1; set that, or leave {name!r} out of fields"
            )
