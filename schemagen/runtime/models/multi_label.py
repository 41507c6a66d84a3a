"""Loss and metric of several labels a record, for records that may have no labels.

Targets are zeros and ones, float32 [B, num_classes], with -1 throughout in the rows
of records whose labels no one has given.
"""

from __future__ import annotations

from typing import Any

from ..shared.requirements import keras, ops


def _known(truth: Any) -> Any:
    """Tell which records [B] have labels: 1 or 0."""
    return ops.cast(ops.all(ops.greater_equal(truth, 0), axis=-1), "float32")


def crossentropy(truth: Any, predictions: Any) -> Any:
    """Return the mean crossentropy of each record, so that their mean is right.

    Records without labels have none, and the others count for them.
    """
    known = _known(truth)
    losses = keras.losses.binary_crossentropy(ops.maximum(truth, 0), predictions)
    share = ops.mean(known)
    return losses * known / ops.where(ops.equal(share, 0), 1.0, share)


# Saved models find it again by this name.
keras.saving.register_keras_serializable("schemagen", "multi_label_crossentropy")(
    crossentropy
)


@keras.saving.register_keras_serializable("schemagen")
class AUC(keras.metrics.AUC):  # type: ignore[misc]
    """The area under precision and recall, over the records that have labels."""

    def __init__(self, name: str = "pr_auc", **kwargs: Any) -> None:
        super().__init__(name=name, **{"curve": "PR", **kwargs})

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Take in a batch: [B, num_classes] each, and weights [B]."""
        weights = _known(y_true)
        if sample_weight is not None:
            weights = weights * ops.reshape(ops.cast(sample_weight, "float32"), (-1,))
        super().update_state(
            ops.maximum(y_true, 0), y_pred, ops.expand_dims(weights, -1)
        )
