"""The blocks of generated models: a small encoder for each kind of field.

An encoder is a function from a Keras input to features [B, D]. Layers that have to be
adapted before training are named after their field: `adaptation` finds them by name.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isnan, prod
from typing import Any

from ..shared.requirements import keras, layers, ops
from .layers import Densify, EachItem, Normalization

# From a sequence's steps [B, T, D] and their mask, [B, T], to features [B, D].
Pool = Callable[[Any, Any], Any]

DEFAULT_UNITS = 64

# The size of a vocabulary.
DEFAULT_TOKENS = 20_000

# The index of padding in a vocabulary. That of unknown tokens is 1.
_PADDING = 0


def image(pixels: Any, *, scale: float, units: int = DEFAULT_UNITS) -> Any:
    """Encode images [B, H, W, C] by convolutions that halve them until they are small.

    Args:
        pixels: the images, of any numeric dtype.
        scale: the factor that brings pixels to about [0, 1].
        units: the size of an encoding, before pooling.
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
        scale: the factor that brings pixels to about [0, 1].
        padding_value: the value of padding; items of nothing else are left out.
        units: the size of an encoding, before pooling.
    """
    dense = Densify(padding_value)(pixels)
    is_nan = isinstance(padding_value, float) and isnan(padding_value)
    empty = ops.isnan(dense) if is_nan else ops.equal(dense, padding_value)
    seen = ops.logical_not(ops.all(empty, axis=(2, 3, 4)))
    kept = ops.expand_dims(seen, (2, 3, 4))
    shown = ops.where(kept, dense, ops.zeros_like(dense))
    item = keras.Input(pixels.shape[2:], dtype=pixels.dtype)
    encoder = keras.Model(item, image(item, scale=scale, units=units))
    return masked_mean(EachItem(encoder)(shown), seen)


def sounds(samples: Any, *, scale: float = 1.0, units: int = DEFAULT_UNITS) -> Any:
    """Encode sound [B, T, C] by convolutions, then the mean of frames of 128 samples.

    Frames of zeros alone are left out: they are padding, or silent.

    Args:
        samples: the sound, of any numeric dtype.
        scale: the factor that brings samples to [-1, 1].
        units: the size of an encoding, before pooling.
    """
    features = layers.Rescaling(scale, dtype="float32")(Densify(0)(samples))
    frames = layers.MaxPooling1D(128, padding="same")(ops.abs(features))
    heard = ops.any(ops.greater(frames, 0), axis=-1)
    for filters, size, stride in ((32, 64, 8), (64, 16, 4), (128, 16, 4)):
        convolution = layers.Conv1D(
            filters, size, stride, padding="same", activation="relu"
        )
        features = convolution(features)
    features = layers.Dropout(0.3)(masked_mean(features, heard))
    return layers.Dense(units, activation="relu")(features)


def numbers(
    values: Any, *, name: str, missing: bool = False, units: int = DEFAULT_UNITS
) -> Any:
    """Encode numbers [B, ...]: normalized by `adapt`, then a dense layer.

    Args:
        values: the numbers, of any numeric dtype or bool.
        name: the field's name.
        missing: whether values may be missing, as NaN; the encoder gets a mask.
        units: the size of an encoding, before pooling.
    """
    size = prod(values.shape[1:])
    flat = layers.Reshape((size,), dtype="float32")(ops.cast(values, "float32"))
    features = Normalization(name=f"{name}_normalization", dtype="float32")(flat)
    if missing:
        known = ops.logical_not(ops.isnan(flat))
        filled = ops.where(known, features, ops.zeros_like(features))
        features = ops.concatenate([filled, ops.cast(known, "float32")], axis=-1)
    return layers.Dense(units, activation="relu")(features)


def category(
    ids: Any, *, num_classes: int, missing: bool = False, units: int = DEFAULT_UNITS
) -> Any:
    """Encode class ids [B] by an embedding; -1 is a missing class."""
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

    The last feature is the number of steps, as log(1 + n).
    """
    weights = ops.expand_dims(ops.cast(mask, "float32"), -1)
    total = ops.sum(ops.cast(sequences, "float32") * weights, axis=1)
    count = ops.sum(weights, axis=1)
    return ops.concatenate([total / ops.maximum(count, 1.0), ops.log1p(count)], axis=-1)


def recurrent(sequences: Any, mask: Any, units: int = DEFAULT_UNITS) -> Any:
    """Read the steps [B, T, D] that `mask` [B, T] keeps one after the other: [B, units].

    Use it in place of a mean where the order matters: `pool=blocks.recurrent`.
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
    sequence_length: int | None = None,
    pool: Pool = masked_mean,
    units: int = DEFAULT_UNITS,
) -> Any:
    """Encode sequences of ids or strings [B, T] by embeddings, and those by their mean.

    `adapt` learns the vocabulary; unknown tokens share one embedding.

    Args:
        ids: the ids, of any integer dtype, or the strings.
        name: the field's name.
        padding_value: the value of padding; items of nothing else are left out.
        max_tokens: the size of the vocabulary, with padding and unknown tokens.
        sequence_length: the number of tokens to read of each sequence; None for all.
        pool: a function from steps [B, T, D] and their mask [B, T] to features [B, D];
            `recurrent` keeps the order.
        units: the size of an encoding, before pooling.

    Raises:
        ValueError: a size is out of range, or Keras has another backend than TensorFlow.
    """
    _check_sizes(max_tokens, sequence_length)
    if keras.backend.backend() != "tensorflow":
        raise ValueError(
            f"the generated encoder of {name!r} looks ids up in a table, which Keras has "
            f"with the backend 'tensorflow' only, found {keras.backend.backend()!r}: "
            f"pass your own, such as encoders={{{name!r}: ...}} with a "
            f"keras.layers.Embedding of the ids, or leave {name!r} out of fields"
        )
    dense = Densify(padding_value, name=f"{name}_dense")(ids)
    options = {"max_tokens": max_tokens, "name": f"{name}_vocabulary"}
    if ids.dtype == "string":
        lookup = layers.StringLookup(mask_token=padding_value, **options)
    else:
        padding = int(padding_value)
        # Keras takes an id that equals `oov_token`, -1 by default, for unknown.
        unknown = -(2**63) + (padding == -(2**63))
        lookup = layers.IntegerLookup(mask_token=padding, oov_token=unknown, **options)
        dense = ops.cast(dense, "int64")
    return _embedded(lookup(dense), max_tokens, sequence_length, pool, units)


def nested_tokens(lists: Any, *, name: str, padding_value: Any, **options: Any) -> Any:
    """Encode lists of ids or strings [B, T, N]: all of a record's as one sequence.

    Args:
        lists: the ids or strings.
        name: the field's name.
        padding_value: the value of padding; items of nothing else are left out.
        options: those of `tokens`.
    """
    dense = Densify(padding_value, name=f"{name}_flat")(lists)
    sequence = layers.Reshape((-1,), dtype=lists.dtype)(dense)
    return tokens(sequence, name=name, padding_value=padding_value, **options)


def text(
    strings: Any,
    *,
    name: str,
    max_tokens: int = DEFAULT_TOKENS,
    sequence_length: int | None = None,
    pool: Pool = masked_mean,
    units: int = DEFAULT_UNITS,
) -> Any:
    """Encode text [B] by its words' embeddings; `adapt` learns the words.

    Args:
        strings: the texts.
        name: the field's name.
        max_tokens: the size of the vocabulary, with padding and unknown tokens.
        sequence_length: the number of tokens to read of each sequence; None for all.
        pool: a function from steps [B, T, D] and their mask [B, T] to features [B, D];
            `recurrent` keeps the order.
        units: the size of an encoding, before pooling.

    Raises:
        ValueError: a size is out of range.
    """
    _check_sizes(max_tokens, sequence_length)
    words = layers.TextVectorization(max_tokens, name=f"{name}_vocabulary")
    return _embedded(words(strings), max_tokens, sequence_length, pool, units)


def _check_sizes(max_tokens: int, sequence_length: int | None) -> None:
    if type(max_tokens) is not int or max_tokens < 3:
        raise ValueError(
            f"max_tokens={max_tokens!r}: expected an int from 3 on, for padding, unknown "
            "tokens and a token"
        )
    if sequence_length is not None and (
        type(sequence_length) is not int or sequence_length < 1
    ):
        raise ValueError(
            f"sequence_length={sequence_length!r}: expected a positive int, or None for "
            "sequences of any length"
        )


def _embedded(
    indices: Any, max_tokens: int, sequence_length: int | None, pool: Pool, units: int
) -> Any:
    """Return features [B, D] of a vocabulary's indices [B, T]."""
    indices = indices[:, :sequence_length]
    embedded = layers.Embedding(max_tokens, units)(indices)
    return pool(embedded, ops.not_equal(indices, _PADDING))


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
        padding_value: the value of padding; items of nothing else are left out.
        size: the numbers of an item, where more dimensions than T vary; None for
            all that come after T.
        pool: a function from steps [B, T, D] and their mask [B, T] to features [B, D];
            `recurrent` keeps the order.
        units: the size of an encoding, before pooling.
    """
    size = size or prod(values.shape[2:])
    dense = Densify(padding_value, name=f"{name}_dense")(values)
    flat = layers.Reshape((-1, size), dtype="float32")(ops.cast(dense, "float32"))
    mask = ops.logical_not(is_padding(flat, float(padding_value)))
    normalization = Normalization(
        float(padding_value), name=f"{name}_normalization", dtype="float32"
    )
    features = normalization(flat)
    # The padding value may be NaN or infinite, and 0 times infinity is not 0.
    kept = ops.expand_dims(mask, -1)
    features = ops.where(kept, features, ops.zeros_like(features))
    features = layers.Dense(units, activation="relu")(features)
    return pool(features, mask)


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
