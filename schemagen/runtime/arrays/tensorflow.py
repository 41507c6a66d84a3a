"""Batches as datasets of TensorFlow."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from ..faults.calls import with_plain_errors
from ..records.decoder import Batch
from ..records.nesting import flattened
from ..records.roles import Roles
from ..shared.errors import DatasetError, Problem
from ..shared.requirements import tf
from ..shared.tensors import array_of
from ..shared.values import described
from .keras import with_added
from .views import View

# The options that the shapes of batches follow from.
_SHAPING = ("pad_to_max_length", "pack", "too_long", "per_segment")

# How many records tell the dtypes and shapes of batches.
_SEVERAL = 32


def batches_as_dataset(
    split: Any,
    view: View,
    roles: Roles,
    batch_size: int,
    options: Mapping[str, Any],
) -> Any:
    """Return a `tf.data.Dataset` of the batches of a split.

    Args:
        split: the split.
        view: its records.
        roles: what models take of them.
        batch_size: records in a batch.
        options: of `Split.batches`.

    Raises:
        DatasetError: there is no record, or a field has no tensor of one shape.
    """
    given = dict(options)
    first = given.pop("epoch", 0)
    if "resume" in given:
        raise TypeError(
            "to_tf: it begins with an epoch; go on with batches(resume=...)"
        )
    whole = split.batches(batch_size, epoch=first, **given)
    prefetch = given.get("prefetch")
    if prefetch:  # TensorFlow makes one of them ahead, and the split the others
        given["prefetch"] = prefetch - 1
    shaping = {name: given[name] for name in _SHAPING if given.get(name) is not None}
    is_packed = "pack" in shaping
    # Of records as they are in files, one tells the shapes, and one row of packed ones.
    count = _SEVERAL if view.changed or view.skips else 1
    some = split.select(range(min(len(split), count)))
    shaping["prefetch"] = 0
    rows = split.batches(1, **shaping) if is_packed else None
    example = next(rows or some.batches(len(some) or 1, **shaping), None)
    if example is None:
        raise DatasetError(f"{view.where}: no record to make a dataset of")
    flat = flattened(example)
    record = view.decoder.record
    roles = with_added(roles, flat, record)
    epochs = itertools.count(first)

    def element(batch: Batch, of: Roles) -> Any:
        parts = of.element(batch, np.where)
        return parts if len(parts) > 1 else parts[0]

    def elements() -> Iterator[Any]:
        for batch in split.batches(batch_size, epoch=next(epochs), **given):
            columns = flattened(batch)
            for name, dtype in dtypes.items():
                found = columns.get(name)
                if not _is_alike(found, dtype, shapes[name]):
                    raise DatasetError(
                        f"to_tf: field {name!r} is {described(found)} in a batch, and "
                        f"{dtype} {shapes[name]} in the first records, without the number "
                        "of records; a function has to return one dtype and shape"
                    )
            yield element(columns, roles)

    varying = _varying(some) if view.changed and not is_packed else {}
    is_padded = bool(shaping.get("pad_to_max_length"))
    shapes = _shapes(view, flat, packed=is_packed, padded=is_padded)
    for name in shaping.get("per_segment", ()):
        own = {size for size, image in record.sizes.items() if image == name}
        for column in {name, f"{name}_present", *own} & shapes.keys():
            shapes[column][0] = None
    dtypes = {name: column.dtype for name, column in flat.items()}
    for name, sizes in varying.items():
        shapes[name] = [
            None if axis in sizes else n for axis, n in enumerate(shapes[name])
        ]
    rows = batch_size if given.get("drop_remainder") else None
    signature = tf.nest.map_structure(
        lambda name, found: tf.TensorSpec([rows, *shapes[name]], _dtype(found)),
        element({name: name for name in flat}, replace(roles, missing_targets={})),
        element(flat, roles),
    )
    dataset = tf.data.Dataset.from_generator(elements, output_signature=signature)
    # How many rows records are packed into depends on their order.
    is_known = given.get("shuffle_seed") is None and not view.is_random
    if is_known if is_packed else not view.skips:
        dataset = dataset.apply(tf.data.experimental.assert_cardinality(len(whole)))
    return with_plain_errors(dataset if prefetch == 0 else dataset.prefetch(1))


def _varying(split: Any) -> dict[str, set[int]]:
    """Return the sizes that differ among the rows of a split, by name."""
    shapes: dict[str, set[tuple[int, ...]]] = {}
    for row in split:
        for name, value in flattened(row).items():
            if value is None:
                continue
            with suppress(Problem):  # lists in lists
                shapes.setdefault(name, set()).add(array_of(value).shape)
    found = {}
    for name, several in shapes.items():
        if len(several) > 1 and len({*map(len, several)}) == 1:
            pairs = enumerate(zip(*several, strict=True))
            found[name] = {axis for axis, sizes in pairs if len({*sizes}) > 1}
    return found


def _is_alike(column: Any, dtype: np.dtype[Any], shape: list[int | None]) -> bool:
    """Tell whether a column has a dtype, and rows of a shape."""
    if not isinstance(column, np.ndarray) or column.dtype != dtype:
        return False
    sizes = column.shape[1:]
    return len(sizes) == len(shape) and all(
        size in (None, own) for size, own in zip(shape, sizes, strict=True)
    )


def _dtype(column: Any) -> Any:
    return tf.string if column.dtype.kind == "O" else tf.as_dtype(column.dtype)


def _shapes(
    view: View, example: Batch, *, packed: bool, padded: bool
) -> dict[str, list[int | None]]:
    """Return the shape of one row of each column.

    A size is that of the example where the schema or a function fixes it.

    Args:
        view: the records.
        example: columns of some.
        packed: whether they are packed, so that all sizes are fixed.
        padded: whether lists are padded to the length that the schema allows.
    """
    shapes: dict[str, list[int | None]] = {}
    for name, column in example.items():
        if not isinstance(column, np.ndarray):
            raise DatasetError(
                f"field {name!r}: its rows are lists, which make no tensor of one shape; "
                "open the split with ragged='padded', or leave it out with fields=..."
            )
        codec = view.decoder.record.fields.get(name)
        shape: list[int | None] = list(column.shape[1:])
        known = codec.delivered if codec else None
        if known and not packed and len(known.shape) == len(shape):
            for axis, size in enumerate(known.shape):
                if size is None and not (padded and axis == 0 and known.limit):
                    shape[axis] = None
        shapes[name] = shape
    return shapes
