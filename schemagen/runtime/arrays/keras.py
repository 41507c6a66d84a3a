"""Batches for `model.fit` of Keras, on any of its backends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..codecs.decoder import Batch
from ..codecs.roles import Roles
from ..shared.errors import DatasetError
from .order import Order


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
            inputs, *rest = roles.element(flattened(read(numbers)), np.where)
            return {name: _input(value) for name, value in inputs.items()}, *rest

        def on_epoch_end(self) -> None:
            self._epoch += 1

    return Batches()
