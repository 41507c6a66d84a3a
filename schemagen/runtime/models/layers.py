"""The layers that generated models have beside those of Keras."""

from __future__ import annotations

from typing import Any

import numpy as np

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
    """Pads a ragged batch to its longest row, and fills up a sparse one."""

    def __init__(self, padding_value: Any, **kwargs: Any) -> None:
        # Half precision would change the numbers, and padding would not be known again.
        super().__init__(autocast=False, **kwargs)
        self.padding_value = padding_value

    def call(self, inputs: Any) -> Any:
        """Return what `densify` returns."""
        return densify(inputs, self.padding_value)

    def compute_output_spec(self, inputs: Any) -> Any:
        """Return the same shape and dtype, dense."""
        return keras.KerasTensor(inputs.shape, dtype=inputs.dtype)

    def get_config(self) -> dict[str, Any]:
        """Return what `__init__` takes."""
        return {**super().get_config(), "padding_value": self.padding_value}


@keras.saving.register_keras_serializable("schemagen")
class Singly(layers.Layer):  # type: ignore[misc]
    """Lays out the items of all sequences one after the other, as a batch of items.

    An item of zeros comes last: convolutions cannot do with none at all.
    """

    def call(self, sequences: Any) -> Any:
        """Return [B * T + 1, ...] from [B, T, ...]."""
        item = tuple(sequences.shape[2:])
        zeros = ops.zeros((1, *item), sequences.dtype)
        return ops.concatenate([ops.reshape(sequences, (-1, *item)), zeros])

    def compute_output_spec(self, sequences: Any) -> Any:
        """Return the same dtype."""
        return keras.KerasTensor((None, *sequences.shape[2:]), dtype=sequences.dtype)


@keras.saving.register_keras_serializable("schemagen")
class Together(layers.Layer):  # type: ignore[misc]
    """Undoes `Singly`, once each item has been encoded."""

    def call(self, inputs: tuple[Any, Any]) -> Any:
        """Return [B, T, D] from items [B * T + 1, D], and sequences [B, T, ...]."""
        items, sequences = inputs
        sizes = ops.shape(sequences)
        return ops.reshape(items[:-1], (sizes[0], sizes[1], items.shape[-1]))

    def compute_output_spec(self, inputs: tuple[Any, Any]) -> Any:
        """Return the items' dtype."""
        items, sequences = inputs
        shape = (*sequences.shape[:2], items.shape[-1])
        return keras.KerasTensor(shape, dtype=items.dtype)


@keras.saving.register_keras_serializable("schemagen")
class Adapted(layers.Layer):  # type: ignore[misc]
    """Lets values pass once `adapt` has run, and refuses them before.

    A normalization that has seen nothing would train on raw numbers without a word.
    Whether it has is saved with the weights, as what it has learned is: a copy made of
    the configuration alone is not ready.
    """

    def __init__(self, field: str, **kwargs: Any) -> None:
        super().__init__(autocast=False, name=f"{field}_adapted", **kwargs)
        self.field = field
        self.ready = False

    def call(self, inputs: Any) -> Any:
        """Return the inputs.

        Raises:
            RuntimeError: `adapt` has not run.
        """
        if not self.ready:
            raise RuntimeError(
                f"the model has not seen data for its input {self.field!r}: call "
                "adapt(model, dataset) once, before training or predicting"
            )
        return inputs

    def compute_output_spec(self, inputs: Any) -> Any:
        """Return the same shape and dtype."""
        return keras.KerasTensor(inputs.shape, dtype=inputs.dtype)

    def get_config(self) -> dict[str, Any]:
        """Return what `__init__` takes."""
        config = super().get_config()
        del config["name"]
        return {**config, "field": self.field}

    def save_own_variables(self, store: Any) -> None:
        """Save with the weights whether `adapt` has run."""
        store["ready"] = np.array(self.ready)

    def load_own_variables(self, store: Any) -> None:
        """Load what `save_own_variables` saved."""
        self.ready = bool(np.array(store["ready"]))


@keras.saving.register_keras_serializable("schemagen")
class Normalization(layers.Normalization):  # type: ignore[misc]
    """Subtracts the mean and divides by the standard deviation, of each number.

    They are variables: that of Keras makes constants of them, which functions that
    were traced before keep when other weights are loaded.

    Args:
        padding_value: items of nothing else stand for none; None if there are no such.
    """

    def __init__(self, padding_value: float | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.padding_value = padding_value

    def get_config(self) -> dict[str, Any]:
        """Return what `__init__` takes."""
        return {**super().get_config(), "padding_value": self.padding_value}

    @property
    def mean_shape(self) -> tuple[int, ...]:
        """The shape of the mean."""
        return tuple(self.adapt_mean.shape)

    def learn(self, mean: Any, variance: Any) -> None:
        """Take these for the mean and the variance."""
        self.adapt_mean.assign(mean)
        self.adapt_variance.assign(variance)
        self.finalize_state()

    def call(self, inputs: Any) -> Any:
        """Return the inputs normalized, of the layer's dtype."""
        deviation = ops.maximum(ops.sqrt(self.adapt_variance), keras.config.epsilon())
        return (ops.cast(inputs, self.compute_dtype) - self.adapt_mean) / deviation
