"""Batches for `model.fit` of Keras, on any of its backends."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..kinds.kind import Kind
from ..records.codec import RecordCodec
from ..records.decoder import Batch
from ..records.roles import Roles
from ..shared.errors import DatasetError
from .collation import fitting
from .order import Epoch
from .views import View


def _input(name: str, values: Any) -> Any:
    """Return an input as Keras takes it: texts are tensors of TensorFlow."""
    if isinstance(values, list):
        raise DatasetError(
            f"field {name!r}: an input whose rows are lists of different lengths, which "
            "Keras does not take; open the split with ragged='padded'"
        )
    if isinstance(values, np.ndarray) and values.dtype.kind == "O":
        from ..shared.requirements import tf

        return tf.constant(values.tolist(), tf.string)
    return values


def _lengthened(values: Any, codec: Kind, odd: bool) -> Any:
    """Pad lists that have no fixed length to an odd or an even one.

    Keras takes a length that the first two batches have in common for that of all, so
    they must differ.
    """
    delivered = codec.delivered
    if not delivered.padded or not isinstance(values, np.ndarray):
        return values
    if values.ndim != 1 + len(delivered.shape):  # a function has changed it
        return values
    ends = [(0, 0)] * values.ndim
    for axis, size in enumerate(delivered.shape, 1):
        if size is None:
            ends[axis] = (0, (values.shape[axis] + odd) % 2)
    filler = fitting(delivered.filler, values.dtype)
    return np.pad(values, ends, constant_values=filler)


def with_added(roles: Roles, batch: Batch, record: RecordCodec) -> Roles:
    """Return roles in which the fields that functions have added are features.

    Args:
        roles: of the fields of the schema.
        batch: columns by name, not nested.
        record: the codecs of the fields of the schema.
    """
    masks = (f"{name}_present" for name in record.fields)
    known = {*record.fields, *masks, *record.sizes}
    added = (name for name in batch if name not in known)
    return replace(roles, features=(*roles.features, *added))


def dataset_of(
    view: View, roles: Roles, batch_size: int, seed: int | None, **options: Any
) -> Any:
    """Return a `keras.utils.PyDataset`.

    Args:
        view: the records.
        roles: what models take of them.
        batch_size: records in a batch.
        seed: of the order; None for that in which they are stored.
        **options: of `PyDataset`.
    """
    from keras.utils import PyDataset  # type: ignore[import-not-found, import-untyped, unused-ignore]

    from ..records.nesting import flattened

    records, record = len(view), view.decoder.record

    class KerasBatches(PyDataset):  # type: ignore[misc]
        """Batches by position, in another order each epoch."""

        def __init__(self) -> None:
            super().__init__(**options)
            self._epoch = 0

        def __len__(self) -> int:
            return -(-records // batch_size)

        def __getitem__(self, index: int) -> Any:
            start = index * batch_size
            stop = min(records, start + batch_size)
            epoch = Epoch(seed, self._epoch)
            numbers = view.numbers(np.arange(start, stop), epoch)
            loaded = view.read(numbers, epoch)
            batch = flattened(loaded.batch(0, len(loaded.numbers)) or {})
            for name in batch.keys() & record.fields.keys():
                batch[name] = _lengthened(batch[name], record[name], index == 0)
            inputs, *rest = with_added(roles, batch, record).element(batch, np.where)
            return {name: _input(name, value) for name, value in inputs.items()}, *rest

        def on_epoch_end(self) -> None:
            self._epoch += 1

    return KerasBatches()
