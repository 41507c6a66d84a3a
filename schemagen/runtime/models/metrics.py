"""The metrics of generated models that Keras does not have."""

from __future__ import annotations

from typing import Any

from ..shared.requirements import keras, ops


def of_each_pixel(sample_weight: Any, truth: Any) -> Any:
    """Return weights [B] of whole records as weights [B, 1, 1] of their pixels."""
    if sample_weight is None:
        return None
    weights = ops.convert_to_tensor(sample_weight)
    rank = len(truth.shape)
    if len(weights.shape) == rank:
        return weights
    return ops.reshape(weights, (ops.shape(weights)[0], *(1,) * (rank - 1)))


@keras.saving.register_keras_serializable("schemagen")
class Accuracy(keras.metrics.Mean):  # type: ignore[misc]
    """The share of right classes among those that count: of records, or of pixels.

    Args:
        ignore_class: the id of what does not count; None if all do.
        name: of the metric.
        dtype: of its result.
    """

    def __init__(
        self,
        ignore_class: int | None = None,
        name: str = "sparse_categorical_accuracy",
        dtype: Any = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        self.ignore_class = ignore_class

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """Count the classes of a batch, [B] or [B, H, W]."""
        truth = ops.reshape(ops.cast(y_true, "int32"), ops.shape(y_pred)[:-1])
        right = ops.equal(ops.cast(ops.argmax(y_pred, axis=-1), "int32"), truth)
        counted = ops.ones_like(truth, "float32")
        if self.ignore_class is not None:
            counted = ops.cast(ops.not_equal(truth, self.ignore_class), "float32")
        weights = of_each_pixel(sample_weight, truth)
        if weights is not None:
            counted = counted * ops.cast(weights, "float32")
        return super().update_state(ops.cast(right, "float32"), counted)

    def get_config(self) -> dict[str, Any]:
        """Return what `__init__` takes."""
        return {**super().get_config(), "ignore_class": self.ignore_class}
