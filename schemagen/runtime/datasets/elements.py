"""From parsed batches to the elements of a dataset, and their augmentation."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..codecs.classes import Label
from ..codecs.images import Resized
from ..codecs.records import RecordCodec
from ..shared.requirements import tf
from .batching import PARALLEL, Padding, lengthened, with_seeds

Batch = dict[str, Any]
Augment = Callable[..., Any]
Change = Callable[[Batch, tf.Tensor], Batch]


@dataclass(frozen=True)
class Elements:
    """What an element holds, and how.

    Attributes:
        features: the names of the features.
        targets: the names of the targets.
        weights: the name of sample weights, if there are any.
        info: the names of what comes last, if that is asked for.
        missing_targets: the value that stands for a missing target, by name.
        max_lengths: the length that rows are padded to, by name.
        padding: the values that they are padded with, by name.
        images: the largest stored value of images that become floats, by name; None
            for floats, which are only cast.
        image_dtype: what these become.
        classes: how many there are of labels that become one-hot rows, by name.
    """

    features: tuple[str, ...]
    targets: tuple[str, ...] = ()
    weights: tuple[str, ...] = ()
    info: tuple[str, ...] = ()
    missing_targets: Mapping[str, float] = field(default_factory=dict)
    max_lengths: Mapping[str, int] = field(default_factory=dict)
    padding: Padding = field(default_factory=dict)
    images: Mapping[str, int | None] = field(default_factory=dict)
    image_dtype: tf.DType | None = None
    classes: Mapping[str, int] = field(default_factory=dict)

    def of(self, batch: Batch) -> Any:
        """Return the element of a parsed batch."""
        batch = lengthened(batch, self.max_lengths, self.padding)
        element: list[Any] = [
            {name: self._feature(batch, name) for name in self.features}
        ]
        values = {name: self._target(batch, name) for name in self.targets}
        if values:
            element.append(values if len(values) > 1 else next(iter(values.values())))
            element += [batch[name] for name in self.weights]
        if self.info:
            element.append({name: batch[name] for name in self.info})
        return element[0] if len(element) == 1 else tuple(element)

    def _feature(self, batch: Batch, name: str) -> Any:
        if name not in self.images:
            return batch[name]
        largest = self.images[name]
        pixels = tf.cast(batch[name], tf.float32)
        return tf.cast(
            pixels if largest is None else pixels / largest, self.image_dtype
        )

    def _target(self, batch: Batch, name: str) -> Any:
        if name in self.classes:
            return tf.one_hot(batch[name], self.classes[name])
        missing = self.missing_targets.get(name)
        if missing is None:
            return batch[name]
        present = batch[f"{name}_present"][:, tf.newaxis]
        return tf.where(present, batch[name], missing)


def images_of(
    record: RecordCodec, features: Mapping[str, str]
) -> dict[str, int | None]:
    """Return the largest stored value of each image among features; None for floats."""
    return {
        name: codec.largest
        for name, codec in record.fields.items()
        if name in features and isinstance(codec, Resized)
    }


def of_any_size(record: RecordCodec, names: Collection[str]) -> list[str]:
    """Return the images and masks among fields that can only be read one at a time.

    Their sizes differ, and the schema declares no size to resize them to.
    """
    return [name for name in record.keys if name in names and record[name].alone]


def classes_of(record: RecordCodec, targets: tuple[str, ...]) -> dict[str, int]:
    """Return how many classes each target has that is a label of one of them."""
    return {
        name: codec.num_classes
        for name, codec in record.fields.items()
        if name in targets and isinstance(codec, Label)
    }


def augmented(
    batches: tf.data.Dataset,
    arrange: Callable[[Batch], Any],
    change: Change | None,
    augment: Augment | None,
    seed: int | None,
) -> tf.data.Dataset:
    """Augment parsed batches, and arrange them as elements.

    Args:
        batches: dicts by name.
        arrange: from a batch to an element.
        change: the augmentation that the schema declares.
        augment: what the user wants to be done to features after that.
        seed: makes all draws the same in every run.
    """
    takes_seed = augment is not None and len(_parameters(augment)) > 1

    def changed(batch: Batch, seed: tf.Tensor) -> Any:
        element = arrange(batch if change is None else change(batch, seed))
        if augment is None:
            return element
        # Draws of the user's own, not those that the schema's were made with.
        own = (seed + 1,) if takes_seed else ()
        if isinstance(element, tuple):
            return (_features(augment(element[0], *own)), *element[1:])
        return _features(augment(element, *own))

    return with_seeds(batches, seed).map(changed, PARALLEL)


def _features(found: Any) -> Any:
    """Return what `augment` has returned, which has to be a dict of features."""
    if not isinstance(found, Mapping):
        raise TypeError(
            f"augment has returned {type(found).__name__}, expected a dict of features; "
            "its second parameter, if it has one, is a seed"
        )
    return found


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return the parameters that have to be given by position."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # of a builtin: it takes features
        return []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [
        parameter
        for parameter in parameters
        if parameter.kind in kinds and parameter.default is parameter.empty
    ]
