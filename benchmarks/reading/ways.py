"""Ways of reading, each of which can be timed and looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from ..measure import Way
from ..shapes import Columns
from .shapes import TARGET


@dataclass(frozen=True)
class Reading:
    """A way of reading all records once.

    Attributes:
        epoch: reads them and lets each batch go.
        batches: reads them and yields arrays by field.
        shuffled: whether they come in another order than they are stored in.
    """

    epoch: Way
    batches: Callable[[], Iterable[Columns]]
    shuffled: bool


def of_dataset(
    dataset: tf.data.Dataset,
    named: Callable[[Any], Columns],
    *,
    shuffled: bool,
) -> Reading:
    """Return the way of a dataset, which a traced function consumes.

    This is how `model.fit` takes batches: inside of a graph, so that none of them is
    handed to Python. Whoever delivers few tensors has no advantage from it.

    Args:
        dataset: of batches.
        named: from an element to tensors by field.
        shuffled: whether it shuffles.
    """

    def consumed() -> tf.Tensor:
        return dataset.reduce(np.int64(0), lambda batches, _: batches + 1)

    def batches() -> Iterator[Columns]:
        for element in dataset:
            yield {name: value.numpy() for name, value in named(element).items()}

    epoch = tf.function(consumed, autograph=False).get_concrete_function()
    return Reading(epoch, batches, shuffled)


def fields_of(element: Any) -> Columns:
    """Return the tensors of (features, label), or of features alone, by field."""
    if not isinstance(element, tuple):
        return dict(element)
    features, label = element
    return {**features, TARGET: label}


def element_of(fields: Columns) -> Any:
    """Return (features, label), or the features alone if there is no label."""
    features = dict(fields)
    label = features.pop(TARGET, None)
    return features if label is None else (features, label)
