"""The blocks of generated models: a small encoder for each kind of field.

An encoder is a function from a Keras input to features [B, D]. Layers that have to
see data before training are named after their field; `adapt_*` find them by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import keras
import tensorflow as tf
from keras import layers, ops

DEFAULT_UNITS = 64
DEFAULT_TOKENS = 20_000


@keras.saving.register_keras_serializable("schemagen")
class Densify(layers.Layer):  # type: ignore[misc]
    """Pads a ragged batch to its longest row."""

    def __init__(self, padding_value: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.padding_value = padding_value

    def call(self, inputs: Any) -> Any:
        """Return [B, T, ...] from ragged [B, (T), ...]; dense input is kept."""
        if isinstance(inputs, tf.RaggedTensor):
            return inputs.to_tensor(tf.constant(self.padding_value, inputs.dtype))
        return inputs

    def compute_output_spec(self, inputs: Any) -> Any:
        """Return the same shape and dtype, dense."""
        return keras.KerasTensor(inputs.shape, dtype=inputs.dtype)

    def get_config(self) -> dict[str, Any]:
        """Return what `__init__` takes."""
        return {**super().get_config(), "padding_value": self.padding_value}


def image(pixels: Any, *, scale: float, units: int = DEFAULT_UNITS) -> Any:
    """Encode images [B, H, W, C] by convolutions that halve them until they are small.

    Args:
        pixels: the images, of any numeric dtype.
        scale: what brings a pixel to about [0, 1].
        units: the size of the result.
    """
    features = layers.Rescaling(scale)(pixels)
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
    flat = layers.Reshape((size,))(ops.cast(values, "float32"))
    features = layers.Normalization(name=f"{name}_normalization")(flat)
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


def tokens(
    ids: Any, *, name: str, padding_value: Any, units: int = DEFAULT_UNITS
) -> Any:
    """Encode sequences of ids or strings [B, T] by the mean of their embeddings.

    `adapt` learns which ids there are; others share one embedding.
    """
    dense = Densify(padding_value, name=f"{name}_dense")(ids)
    options = {
        "max_tokens": DEFAULT_TOKENS,
        "mask_token": padding_value,
        "name": f"{name}_lookup",
    }
    if ids.dtype == "string":
        indices = layers.StringLookup(**options)(dense)
    else:
        indices = layers.IntegerLookup(**options)(ops.cast(dense, "int64"))
    embedded = layers.Embedding(DEFAULT_TOKENS, units)(indices)
    return masked_mean(embedded, ops.not_equal(indices, 0))


def items(
    values: Any, *, name: str, padding_value: Any, units: int = DEFAULT_UNITS
) -> Any:
    """Encode sequences of numbers [B, T, ...]: each item, then the mean of all."""
    size = prod(values.shape[2:])
    dense = Densify(padding_value, name=f"{name}_dense")(values)
    flat = layers.Reshape((-1, size))(ops.cast(dense, "float32"))
    mask = ops.any(ops.not_equal(flat, float(padding_value)), axis=-1)
    features = layers.Normalization(name=f"{name}_normalization")(flat)
    features = layers.Dense(units, activation="relu")(features)
    return masked_mean(features, mask)


def text(strings: Any, *, name: str, units: int = DEFAULT_UNITS) -> Any:
    """Encode text [B] by the mean of its words' embeddings; `adapt` learns the words."""
    vectorization = layers.TextVectorization(
        max_tokens=DEFAULT_TOKENS, name=f"{name}_vectorization"
    )
    indices = vectorization(strings)
    embedded = layers.Embedding(DEFAULT_TOKENS, units)(indices)
    return masked_mean(embedded, ops.not_equal(indices, 0))


def flag(present: Any) -> Any:
    """Encode a mask [B] of present values as one number."""
    return layers.Reshape((1,))(ops.cast(present, "float32"))


def masked_mean(sequences: Any, mask: Any) -> Any:
    """Average [B, T, D] over the steps that `mask` [B, T] keeps; 0 if there are none."""
    weights = ops.expand_dims(ops.cast(mask, sequences.dtype), -1)
    total = ops.sum(sequences * weights, axis=1)
    return total / ops.maximum(ops.sum(weights, axis=1), 1.0)


def combine(features: Sequence[Any], units: int = DEFAULT_UNITS) -> Any:
    """Join the encodings of all inputs: [B, units]."""
    joined = features[0] if len(features) == 1 else layers.Concatenate()(list(features))
    return layers.Dense(units, activation="relu")(layers.Dropout(0.2)(joined))


def head(features: Any, *, name: str, units: int, activation: str | None) -> Any:
    """Map features [B, D] to a target's predictions, in float32 at any precision."""
    return layers.Dense(units, activation, dtype="float32", name=name)(features)


def adapt_numbers(model: Any, features: tf.data.Dataset, name: str) -> None:
    """Let a field's Normalization see its rows, without those that are not finite."""

    def rows(batch: dict[str, Any]) -> tf.Tensor:
        values = tf.cast(batch[name], tf.float32)
        flat = tf.reshape(values, (-1, prod(batch[name].shape[1:])))
        return tf.boolean_mask(flat, tf.reduce_all(tf.math.is_finite(flat), axis=-1))

    _adapt(model, f"{name}_normalization", features.map(rows).unbatch().batch(1024))


def adapt_items(
    model: Any, features: tf.data.Dataset, name: str, padding_value: Any
) -> None:
    """Let a field's Normalization see the items of its sequences, without padding."""

    def items_of(batch: dict[str, Any]) -> tf.Tensor:
        values = tf.cast(_dense(batch[name], padding_value), tf.float32)
        flat = tf.reshape(values, (-1, prod(batch[name].shape[2:])))
        known = tf.reduce_all(tf.math.is_finite(flat), axis=-1)
        padding = tf.reduce_all(flat == float(padding_value), axis=-1)
        return tf.boolean_mask(flat, known & ~padding)

    _adapt(model, f"{name}_normalization", features.map(items_of).unbatch().batch(1024))


def adapt_tokens(
    model: Any, features: tf.data.Dataset, name: str, padding_value: Any
) -> None:
    """Let a field's lookup see which tokens there are."""

    def tokens_of(batch: dict[str, Any]) -> tf.Tensor:
        dense = _dense(batch[name], padding_value)
        return dense if dense.dtype == tf.string else tf.cast(dense, tf.int64)

    _adapt(model, f"{name}_lookup", features.map(tokens_of))


def adapt_text(model: Any, features: tf.data.Dataset, name: str) -> None:
    """Let a field's TextVectorization see which words there are."""
    _adapt(model, f"{name}_vectorization", features.map(lambda batch: batch[name]))


def _adapt(model: Any, layer_name: str, values: tf.data.Dataset) -> None:
    """Adapt a layer; a model whose encoder was replaced does not have it."""
    if layer_name in {layer.name for layer in model.layers}:
        model.get_layer(layer_name).adapt(values)


def _dense(batch: Any, padding_value: Any) -> tf.Tensor:
    if isinstance(batch, tf.RaggedTensor):
        return batch.to_tensor(tf.constant(padding_value, batch.dtype))
    return batch
