"""What generated models have for masks: an encoder, a head, its loss and its metric."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..shared.requirements import keras, layers, ops
from . import blocks
from .metrics import of_each_pixel

DEFAULT_FILTERS = 32


def encode(
    ids: Any, *, num_classes: int, ignore: int | None = None, units: int = 8
) -> Any:
    """Encode masks [B, H, W]: an embedding of each pixel's class, then convolutions.

    Pixels to be ignored have an embedding of their own.
    """
    classes = ops.cast(ids, "int32")
    if ignore is not None:
        classes = ops.where(ops.equal(classes, ignore), num_classes, classes)
    embedded = layers.Embedding(num_classes + 1, units)(classes)
    return blocks.image(embedded, scale=1.0)


def head(
    features: Any,
    values: Mapping[str, Any],
    *,
    pictures: Mapping[str, float],
    name: str,
    num_classes: int,
    filters: int = DEFAULT_FILTERS,
) -> Any:
    """Predict the class of each pixel, in float32 at any precision: [B, H, W, classes].

    Convolutions see more and more of each pixel's surroundings; what all inputs say
    of the record is added at every pixel.

    Args:
        features: of all inputs, [B, D].
        values: the inputs to learn from, by name.
        pictures: the names of those of the masks' size, [B, H, W, C] of any numeric
            dtype; each with what brings a pixel to about [0, 1].
        name: the target's name.
        num_classes: how many classes there are.
        filters: how many numbers describe a pixel.

    Raises:
        ValueError: none of the pictures is among the values.
    """
    scaled = [
        layers.Rescaling(scale, dtype="float32")(values[picture])
        for picture, scale in pictures.items()
        if picture in values
    ]
    if not scaled:
        raise ValueError(
            f"the head of {name!r} predicts pixels from those of a picture: found none "
            f"among the inputs to learn from, expected {' or '.join(pictures)}; name "
            "it in fields and inputs, or pass your own head"
        )
    maps = scaled[0] if len(scaled) == 1 else layers.Concatenate()(scaled)
    for reach in (1, 2, 4):
        convolution = layers.Conv2D(
            filters, 3, padding="same", dilation_rate=reach, activation="relu"
        )
        maps = convolution(maps)
    everywhere = layers.Reshape((1, 1, filters))(layers.Dense(filters)(features))
    joined = layers.Activation("relu")(layers.Conv2D(filters, 1)(maps) + everywhere)
    return layers.Conv2D(
        num_classes, 1, activation="softmax", dtype="float32", name=name
    )(joined)


@keras.saving.register_keras_serializable("schemagen")
class PixelCrossentropy(keras.losses.SparseCategoricalCrossentropy):  # type: ignore[misc]
    """The mean crossentropy of the pixels that count."""

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """Return the loss; a record's weight is that of each of its pixels."""
        return super().__call__(y_true, y_pred, of_each_pixel(sample_weight, y_true))
