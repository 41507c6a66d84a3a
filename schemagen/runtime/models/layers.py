"""The layers that generated models need and Keras does not have."""

from __future__ import annotations

from typing import Any

from ..shared.requirements import keras, layers, ops, tf


def densify(batch: Any, padding_value: Any) -> Any:
    """Return a ragged batch padded, a sparse one with its zeros, a dense one as it is."""
    if isinstance(batch, tf.RaggedTensor):
        return batch.to_tensor(tf.constant(padding_value, batch.dtype))
    if isinstance(batch, tf.SparseTensor):
        return tf.ensure_shape(tf.sparse.to_dense(batch), batch.shape)
    return batch


@keras.saving.register_keras_serializable("schemagen")
class Densify(layers.Layer):  # type: ignore[misc]
    """Pads a ragged batch to its longest row, and fills a sparse one with zeros."""

    def __init__(self, padding_value: Any, **kwargs: Any) -> None:
        # Half precision would change the numbers, and padding would not be found.
        super().__init__(autocast=False, **kwargs)
        self.padding_value = padding_value

    def call(self, inputs: Any) -> Any:
        """Return the batch as a dense tensor."""
        return densify(inputs, self.padding_value)

    def compute_output_spec(self, inputs: Any) -> Any:
        """Return the same shape and dtype, dense."""
        return keras.KerasTensor(inputs.shape, dtype=inputs.dtype)

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of `__init__`."""
        return {**super().get_config(), "padding_value": self.padding_value}


@keras.saving.register_keras_serializable("schemagen")
class EachItem(layers.Layer):  # type: ignore[misc]
    """Applies a model to each item of sequences [B, T, ...]; returns [B, T, D].

    `keras.layers.TimeDistributed` fails if a batch has no item at all.

    Args:
        model: from items [N, ...] to features [N, D].
    """

    def __init__(self, model: keras.Model, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.model = model

    def call(self, sequences: Any, training: bool = False) -> Any:
        """Return the features of all items."""
        item = tuple(sequences.shape[2:])
        sizes = ops.shape(sequences)
        # Convolutions do not take an empty batch: an item of zeros is the last.
        zeros = ops.zeros((1, *item), sequences.dtype)
        items = ops.concatenate([ops.reshape(sequences, (-1, *item)), zeros])
        features = self.model(items, training=training)[:-1]
        return ops.reshape(features, (sizes[0], sizes[1], features.shape[-1]))

    def compute_output_spec(self, sequences: Any, training: bool = False) -> Any:
        """Return the shape [B, T, D]."""
        features = self.model.output
        shape = (*sequences.shape[:2], features.shape[-1])
        return keras.KerasTensor(shape, dtype=features.dtype)

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of `__init__`."""
        model = keras.saving.serialize_keras_object(self.model)
        return {**super().get_config(), "model": model}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> EachItem:
        """Return the layer of a configuration."""
        model = keras.saving.deserialize_keras_object(config.pop("model"))
        return cls(model, **config)


@keras.saving.register_keras_serializable("schemagen")
class Normalization(layers.Normalization):  # type: ignore[misc]
    """Returns NaN before it is adapted, where that of Keras returns raw numbers.

    That of Keras also makes constants of the mean and the variance: `set_weights` does
    not change them, and functions that were traced before keep the old ones.

    Args:
        padding_value: items that consist of it are not part of the mean and the
            variance; None if there is no padding.
    """

    def __init__(self, padding_value: float | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.padding_value = padding_value

    def build(self, input_shape: Any) -> None:
        """Create the mean and the variance."""
        super().build(input_shape)
        self.learn(float("nan"), float("nan"))

    def learn(self, mean: Any, variance: Any) -> None:
        """Set the mean and the variance, [D]."""
        self.adapt_mean.assign(ops.broadcast_to(mean, self.adapt_mean.shape))
        self.adapt_variance.assign(ops.broadcast_to(variance, self.adapt_mean.shape))
        self.finalize_state()

    def call(self, inputs: Any) -> Any:
        """Return the inputs normalized along their last dimension."""
        deviation = ops.maximum(ops.sqrt(self.adapt_variance), keras.config.epsilon())
        return (ops.cast(inputs, self.compute_dtype) - self.adapt_mean) / deviation

    @property
    def adapted(self) -> bool:
        """Whether it has a mean."""
        return not bool(ops.any(ops.isnan(self.adapt_mean)))

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of `__init__`."""
        return {**super().get_config(), "padding_value": self.padding_value}
