"""The blocks of generated models: a small encoder for each kind of field.

An encoder is a function from a Keras input to features [B, D]. Layers that have to
see data before training are named after their field, so that `adaptation` finds them.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isnan, prod
from typing import Any

from ..shared.requirements import keras, layers, ops
from .layers import Adapted, Densify, Normalization, Singly, Together
from .vocabularies import (
    DEFAULT_TOKENS,
    PADDING,
    IntegerVocabulary,
    StringVocabulary,
    Words,
)

# From a sequence's steps [B, T, D] and which of them count, [B, T], to features [B, D].
Pool = Callable[[Any, Any], Any]

DEFAULT_UNITS = 64


def image(pixels: Any, *, scale: float, units: int = DEFAULT_UNITS) -> Any:
    """Encode images [B, H, W, C] by convolutions that halve them until they are small.

    Args:
        pixels: the images, of any numeric dtype.
        scale: what brings a pixel to about [0, 1].
        units: the size of the result.
    """
    features = layers.Rescaling(scale, dtype="float32")(pixels)
    sides = [side for side in pixels.shape[1:3] if side]
    smallest = min(sides) if len(sides) == 2 else 64
    for filters in (32, 64, 128):
        for _ in range(2):
            convolution = layers.Conv2D(filters, 3, padding="same", activation="relu")
            features = convolution(features)
        if smallest >= 4:
            features = layers.MaxPooling2D()(features)
            smallest //= 2
    if len(sides) == 2 and smallest <= 8:
        features = layers.Flatten()(features)  # small enough to keep where things are
    else:
        features = layers.GlobalAveragePooling2D()(features)
    features = layers.Dropout(0.3)(features)
    return layers.Dense(units, activation="relu")(features)


def images(
    pixels: Any, *, scale: float, padding_value: Any = 0, units: int = DEFAULT_UNITS
) -> Any:
    """Encode lists of images [B, T, H, W, C]: each by one encoder, then their mean.

    Args:
        pixels: the images, of any numeric dtype.
        scale: what brings a pixel to about [0, 1].
        padding_value: images of nothing else are left out.
        units: the size of an image's encoding.
    """
    dense = Densify(padding_value)(pixels)
    is_nan = isinstance(padding_value, float) and isnan(padding_value)
    empty = ops.isnan(dense) if is_nan else ops.equal(dense, padding_value)
    seen = ops.logical_not(ops.all(empty, axis=(2, 3, 4)))
    kept = ops.expand_dims(seen, (2, 3, 4))
    shown = ops.where(kept, dense, ops.zeros_like(dense))
    single = Singly()(shown)
    encoded = Together()([image(single, scale=scale, units=units), shown])
    return masked_mean(encoded, seen)


def numbers(
    values: Any, *, name: str, missing: bool = False, units: int = DEFAULT_UNITS
) -> Any:
    """Encode numbers [B, ...]: normalized by `adapt`, then a dense layer.

    Args:
        values: the numbers, of any numeric dtype or bool.
        name: the field's name.
        missing: NaN stands for a missing value; the encoder is told which are.
        units: the size of the result.
    """
    size = prod(values.shape[1:])
    flat = layers.Reshape((size,), dtype="float32")(ops.cast(values, "float32"))
    flat = Adapted(name)(flat)
    features = Normalization(name=f"{name}_normalization", dtype="float32")(flat)
    if missing:
        known = ops.logical_not(ops.isnan(flat))
        filled = ops.where(known, features, ops.zeros_like(features))
        features = ops.concatenate([filled, ops.cast(known, "float32")], axis=-1)
    return layers.Dense(units, activation="relu")(features)


def category(
    ids: Any, *, num_classes: int, missing: bool = False, units: int = DEFAULT_UNITS
) -> Any:
    """Encode class ids [B] by an embedding; -1 stands for a missing one."""
    shifted = ops.cast(ids, "int32") + int(missing)
    return layers.Embedding(num_classes + int(missing), units)(shifted)


def multi_hot(labels: Any, *, units: int = DEFAULT_UNITS) -> Any:
    """Encode classes [B, num_classes], 1 for those that are there, by a dense layer."""
    return layers.Dense(units, activation="relu")(ops.cast(labels, "float32"))


def sparse(values: Any, *, name: str, units: int = DEFAULT_UNITS) -> Any:
    """Encode sparse tensors [B, ...] as dense ones, by `numbers`."""
    return numbers(Densify(0, name=f"{name}_dense")(values), name=name, units=units)


def masked_mean(sequences: Any, mask: Any) -> Any:
    """Average [B, T, D] over the steps that `mask` [B, T] keeps; 0 if there are none.

    What a mean does not tell comes last: how many there are, as log(1 + n).
    """
    weights = ops.expand_dims(ops.cast(mask, "float32"), -1)
    total = ops.sum(ops.cast(sequences, "float32") * weights, axis=1)
    count = ops.sum(weights, axis=1)
    return ops.concatenate([total / ops.maximum(count, 1.0), ops.log1p(count)], axis=-1)


def recurrent(sequences: Any, mask: Any, units: int = DEFAULT_UNITS) -> Any:
    """Read the steps [B, T, D] that `mask` [B, T] keeps one after the other: [B, units].

    In place of a mean where their order matters: `pool=blocks.recurrent`.
    """
    # A step that does not count comes last: a batch may have none at all.
    steps = ops.pad(sequences, ((0, 0), (0, 1), (0, 0)))
    counted = ops.pad(ops.cast(mask, "int32"), ((0, 0), (0, 1)))
    return layers.GRU(units)(steps, mask=ops.not_equal(counted, 0))


def tokens(
    ids: Any,
    *,
    name: str,
    padding_value: Any,
    max_tokens: int = DEFAULT_TOKENS,
    pool: Pool = masked_mean,
    units: int = DEFAULT_UNITS,
) -> Any:
    """Encode sequences of ids or strings [B, T] by embeddings, and those by their mean.

    `adapt` learns which ids there are; others share one embedding.

    Args:
        ids: the ids, of any integer dtype, or the strings.
        name: the field's name.
        padding_value: what stands for no token.
        max_tokens: the size of the vocabulary, with padding and unknown tokens.
        pool: what makes features [B, D] of the embeddings; `recurrent` keeps the order.
        units: the size of an embedding.
    """
    dense = Adapted(name)(Densify(padding_value, name=f"{name}_dense")(ids))
    lookup: Any
    if ids.dtype == "string":
        lookup = StringVocabulary(
            max_tokens=max_tokens, mask_token=padding_value, name=f"{name}_lookup"
        )
    else:
        lookup = IntegerVocabulary(
            int(padding_value), max_tokens, name=f"{name}_lookup"
        )
    return _embedded(lookup(dense), max_tokens, pool, units)


def text(
    strings: Any,
    *,
    name: str,
    max_tokens: int = DEFAULT_TOKENS,
    pool: Pool = masked_mean,
    units: int = DEFAULT_UNITS,
) -> Any:
    """Encode text [B] by its words' embeddings; `adapt` learns the words.

    Args:
        strings: the texts.
        name: the field's name.
        max_tokens: the size of the vocabulary, with padding and unknown words.
        pool: what makes features [B, D] of the embeddings; `recurrent` keeps the order.
        units: the size of an embedding.
    """
    words = Words(max_tokens, name=f"{name}_vectorization")
    return _embedded(words(Adapted(name)(strings)), max_tokens, pool, units)


def _embedded(indices: Any, max_tokens: int, pool: Pool, units: int) -> Any:
    """Make features [B, D] of a vocabulary's indices [B, T]."""
    embedded = layers.Embedding(max_tokens, units)(indices)
    return pool(embedded, ops.not_equal(indices, PADDING))


def items(
    values: Any,
    *,
    name: str,
    padding_value: Any,
    size: int | None = None,
    pool: Pool = masked_mean,
    units: int = DEFAULT_UNITS,
) -> Any:
    """Encode sequences of numbers [B, T, ...]: each item, then the mean of all.

    Args:
        values: the numbers, of any numeric dtype or bool.
        name: the field's name.
        padding_value: items of nothing else are left out.
        size: the numbers of an item, where more dimensions than T vary; None for
            all that come after T.
        pool: what makes features [B, D] of the items; `recurrent` keeps the order.
        units: the size of an item's encoding.
    """
    size = size or prod(values.shape[2:])
    dense = Densify(padding_value, name=f"{name}_dense")(values)
    flat = layers.Reshape((-1, size), dtype="float32")(ops.cast(dense, "float32"))
    flat = Adapted(name)(flat)
    mask = ops.logical_not(is_padding(flat, float(padding_value)))
    normalization = Normalization(
        float(padding_value), name=f"{name}_normalization", dtype="float32"
    )
    features = normalization(flat)
    # What stands for padding may be NaN or far away, and 0 times infinity is no 0.
    kept = ops.expand_dims(mask, -1)
    features = ops.where(kept, features, ops.zeros_like(features))
    features = layers.Dense(units, activation="relu")(features)
    return pool(features, mask)


def joined_lists(values: Any, *, name: str, padding_value: Any) -> Any:
    """Join the inner lists of each row [B, T, N] to one: [B, T * N], padding between."""
    dense = Densify(padding_value, name=f"{name}_flat")(values)
    return layers.Reshape((-1,), dtype=values.dtype)(dense)


def is_padding(items: Any, padding_value: float) -> Any:
    """Tell which items [..., size] are nothing but the padding value."""
    if isnan(padding_value):
        return ops.all(ops.isnan(items), axis=-1)
    return ops.all(ops.equal(items, padding_value), axis=-1)


def flag(present: Any) -> Any:
    """Encode a mask [B] of present values as one number."""
    return layers.Reshape((1,))(ops.cast(present, "float32"))


def head(features: Any, *, name: str, units: int, activation: str | None) -> Any:
    """Map features [B, D] to a target's predictions, in float32 at any precision."""
    return layers.Dense(units, activation, dtype="float32", name=name)(features)


def _of_each_record(function: Any, truth: Any, predictions: Any) -> Any:
    """Apply a loss to targets of any shape: [B], as sample weights ask for."""
    rows = ops.shape(predictions)[0]
    return function(
        ops.reshape(truth, (rows, -1)), ops.reshape(predictions, (rows, -1))
    )


def mean_squared_error(truth: Any, predictions: Any) -> Any:
    """Return the mean squared error of each record."""
    return _of_each_record(keras.losses.mean_squared_error, truth, predictions)


def mean_absolute_error(truth: Any, predictions: Any) -> Any:
    """Return the mean absolute error of each record."""
    return _of_each_record(keras.losses.mean_absolute_error, truth, predictions)


def binary_crossentropy(truth: Any, predictions: Any) -> Any:
    """Return the mean crossentropy of each record."""
    return _of_each_record(keras.losses.binary_crossentropy, truth, predictions)


def binary_accuracy(truth: Any, predictions: Any) -> Any:
    """Return the share of each record's bools that are right."""
    return _of_each_record(keras.metrics.binary_accuracy, truth, predictions)


# Saved models name them, and find them again by these names.
for _function in (
    mean_squared_error,
    mean_absolute_error,
    binary_crossentropy,
    binary_accuracy,
):
    keras.saving.register_keras_serializable("schemagen")(_function)
