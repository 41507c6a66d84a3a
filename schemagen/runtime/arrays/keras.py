"""Batches for `model.fit` of Keras, on any of its backends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..codecs.decoder import Batch
from ..shared.errors import DatasetError
from .order import Order


@dataclass(frozen=True)
class Roles:
    """Which part of a batch each field is for models.

    Attributes:
        features: the names of inputs, masks included.
        targets: the names of targets.
        weights: the name of sample weights, if there are any.
        missing_targets: the value of a missing target that has a mask, by name.
    """

    features: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    weights: tuple[str, ...] = ()
    missing_targets: Mapping[str, float] = field(default_factory=dict)

    def element(self, batch: Batch) -> Any:
        """Return a batch as (inputs, targets, weights), without what is not there."""
        inputs = {name: _input(batch[name]) for name in self.features if name in batch}
        element: list[Any] = [inputs]
        targets = {n: self._target(batch, n) for n in self.targets if n in batch}
        if targets:
            single = len(targets) == 1
            element.append(next(iter(targets.values())) if single else targets)
            element += [batch[name] for name in self.weights if name in batch]
        return tuple(element)

    def _target(self, batch: Batch, name: str) -> Any:
        missing = self.missing_targets.get(name)
        if missing is None:
            return batch[name]
        present = batch[f"{name}_present"][:, np.newaxis]
        return np.where(present, batch[name], np.float32(missing))


def _input(values: Any) -> Any:
    """Return an input as Keras takes it: texts are tensors of TensorFlow."""
    if isinstance(values, list):
        raise DatasetError(
            "an input whose rows are lists of different lengths, which Keras does not "
            "take; open the split with ragged='padded'"
        )
    if isinstance(values, np.ndarray) and values.dtype.kind == "O":
        from ..shared.requirements import tf

        return tf.constant(values.tolist(), tf.string)
    return values


def dataset_of(
    read: Callable[[Any], Batch],
    records: int,
    roles: Roles,
    batch_size: int,
    seed: int | None,
    **options: Any,
) -> Any:
    """Return a `keras.utils.PyDataset`.

    Args:
        read: returns the records of some numbers.
        records: how many there are.
        roles: what models take of them.
        batch_size: records in a batch.
        seed: of the order; None for that in which they are stored.
        **options: of `PyDataset`.
    """
    from keras.utils import PyDataset  # type: ignore[import-not-found, import-untyped, unused-ignore]

    from ..codecs.nesting import flattened

    class Batches(PyDataset):  # type: ignore[misc]
        """Batches by position, in another order each epoch."""

        def __init__(self) -> None:
            super().__init__(**options)
            self._epoch = 0

        def __len__(self) -> int:
            return -(-records // batch_size)

        def __getitem__(self, index: int) -> Any:
            start = index * batch_size
            stop = min(records, start + batch_size)
            order = Order(records, seed, self._epoch)
            numbers = order.at(np.arange(start, stop))
            return roles.element(flattened(read(numbers)))

        def on_epoch_end(self) -> None:
            self._epoch += 1

    return Batches()
