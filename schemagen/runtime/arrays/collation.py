"""From rows to columns: values of records that functions have changed, or that are mixed.

And columns of one shape: lists that are padded to the lengths that the schema allows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cells.columns import Rows
from ..native import padded
from ..records.decoder import Batch, Collator, Decoder, Row
from ..shared.errors import NO_LIMIT, DatasetError

Collators = Mapping[str, Collator]
"""What makes columns of the fields of a schema, by their labels."""


def columns_of(rows: Sequence[Row], collators: Collators, prefix: str = "") -> Batch:
    """Return rows as columns by name, with masks `<name>_present` for missing values.

    Fields of the schema have the masks that its batches have, others one if a value is
    missing.

    Args:
        rows: at least one.
        collators: of the fields of the schema.
        prefix: of the labels of the rows' fields, where they are nested.

    Raises:
        DatasetError: rows do not have the same fields, or values make no column.
    """
    columns: Batch = {}
    for name in _names(rows, prefix):
        values, label = [row[name] for row in rows], prefix + name
        if any(isinstance(value, Mapping) for value in values):
            columns[name] = columns_of(values, collators, f"{label}.")
            continue
        known = collators.get(label)
        present = np.array([value is not None for value in values])
        columns[name] = _column(values, present, known, label)
        if known.masked if known else not present.all():
            columns.setdefault(f"{name}_present", present)
    return columns


def _names(rows: Sequence[Row], prefix: str) -> list[str]:
    names = list(rows[0])
    for at, row in enumerate(rows):
        if row.keys() != rows[0].keys():
            odd = sorted(row.keys() ^ rows[0].keys())[0]
            raise DatasetError(
                f"field {prefix + odd!r}: row 0 has the fields {', '.join(names)}, and row "
                f"{at} has {', '.join(row)}; return the same fields for each record, and "
                "None for a value that is missing"
            )
    return names


def _column(
    values: Sequence[Any],
    present: NDArray[np.bool_],
    known: Collator | None,
    label: str,
) -> Any:
    """Return a value for each row; missing ones are filled."""
    if any(isinstance(value, tuple) for value in values):  # sparse: (indices, values)
        return list(values)
    if known and known.listed and known.codec.delivered.batchable:
        return [known.nothing() if value is None else value for value in values]
    deep = known and None in known.codec.delivered.shape[1:]
    if known and deep and known.codec.delivered.padded and not known.listed:
        given = [value for value in values if value is not None]
        return known.filled(np.flatnonzero(present), given, len(values))
    arrays = [array_of(value, label) for value in values if value is not None]
    if not arrays:
        if known is None:
            raise DatasetError(
                f"field {label!r}: missing in all {len(values)} rows of a batch, so its "
                "type is unknown; return a value in place of None"
            )
        return known.missing(len(values))
    shapes = {array.shape for array in arrays}
    if len(shapes) == 1:
        dtype = _dtype_of(arrays, known)
        column = np.empty((len(values), *arrays[0].shape), dtype)
        if len(arrays) < len(values):
            column[:] = known.absent if known else _zero(dtype)
        for row, array in zip(np.flatnonzero(present).tolist(), arrays, strict=True):
            column[row] = array[()]
        return column
    if known and known.listed:
        rest, nothing = iter(arrays), arrays[0][:0]
        return [next(rest) if there else nothing for there in present.tolist()]
    ranks = {array.ndim for array in arrays}
    if len(ranks) > 1 or (
        ranks != {1} and not (known and known.codec.delivered.padded)
    ):
        found = " and ".join(map(str, sorted(shapes)[:2]))
        raise DatasetError(
            f"field {label!r}: rows have the shapes {found}, which cannot be batched; bring "
            "them to one shape, or to lists of numbers, which are padded"
        )
    return _padded(arrays, present, known)


def _padded(
    arrays: Sequence[NDArray[Any]], present: NDArray[np.bool_], known: Collator | None
) -> NDArray[Any]:
    """Pad arrays of one rank to the largest of each size."""
    dtype = _dtype_of(arrays, known)
    padding = known.filler if known else _zero(dtype)
    if arrays[0].ndim == 1 and dtype.kind != "O":
        lengths = np.zeros(len(present), np.int64)
        lengths[present] = list(map(len, arrays))
        flat = np.concatenate(
            [each.astype(dtype, copy=False) for each in arrays if each.size]
        )
        return padded(flat, lengths, int(lengths.max(initial=0)), padding)
    shape = np.max([array.shape for array in arrays], axis=0)
    column = np.full((len(present), *shape), padding, dtype)
    for row, array in zip(np.flatnonzero(present).tolist(), arrays, strict=True):
        column[row][tuple(map(slice, array.shape))] = array
    return column


def _dtype_of(
    arrays: Sequence[NDArray[Any]], known: Collator | None = None
) -> np.dtype[Any]:
    """Return the dtype that holds all values; empty lists have that of the schema."""
    dtypes = {array.dtype for array in arrays if array.size}
    if not dtypes:
        dtypes = {known.dtype} if known else {array.dtype for array in arrays}
    return np.result_type(*dtypes)


def _zero(dtype: np.dtype[Any]) -> Any:
    return "" if dtype.kind == "O" else np.zeros((), dtype)[()]


def array_of(value: Any, label: str) -> NDArray[Any]:
    """Return a value as an array; texts and bytes are objects.

    Raises:
        DatasetError: it is none.
    """
    if isinstance(value, np.ndarray) and value.dtype.kind not in "US":
        return value
    try:
        array = np.asarray(value)
    except ValueError:  # lists of different lengths
        array = np.empty((), object)
    if array.dtype.kind in "US":
        array = np.array(value, object)
    known = array.dtype.kind != "O" or all(
        isinstance(each, (str, bytes)) for each in array.flat
    )
    if not known:
        raise DatasetError(
            f"field {label!r}: found {type(value).__name__}, expected a number, a text, "
            "bytes, an array, a list of one length in each dimension, or None"
        )
    return array


def flat_items(values: Sequence[Any]) -> Any:
    """Return the items of all rows in one array."""
    if not values:
        return np.empty(0, np.int64)
    return np.concatenate([np.asarray(value) for value in values])


def merged(
    parts: Sequence[tuple[Rows, Batch]],
    count: int,
    collators: Collators,
    prefix: str = "",
) -> Batch:
    """Return the columns of some rows as one.

    Args:
        parts: which rows, int64 [N], and their columns.
        count: how many rows there are.
        collators: of the fields of the schema.
        prefix: of the labels of the columns, where they are nested.
    """
    found: Batch = {}
    masks = {
        name
        for _, batch in parts
        for name in batch
        if name.removesuffix("_present") in batch and name.endswith("_present")
    }
    for rows, batch in parts:
        batch |= {name: np.ones(len(rows), np.bool_) for name in masks - batch.keys()}
        if odd := sorted(batch.keys() ^ parts[0][1].keys()):
            raise DatasetError(
                f"mix: field {prefix + odd[0]!r} is in some splits and not in others; "
                "change all of them with map, or none"
            )
    for name, first in parts[0][1].items():
        columns = [(rows, batch[name]) for rows, batch in parts]
        if isinstance(first, Mapping):
            found[name] = merged(columns, count, collators, f"{prefix}{name}.")
        elif all(isinstance(column, np.ndarray) for _, column in columns):
            known = collators.get(prefix + name)
            if len({(column.dtype.kind, column.ndim) for _, column in columns}) > 1:
                each = {
                    f"{column.dtype} {list(column.shape[1:])}" for _, column in columns
                }
                raise DatasetError(
                    f"mix: field {prefix + name!r} is {' and '.join(sorted(each))} in "
                    "different splits; "
                    "change all of them with map, or none"
                )
            found[name] = _merged_arrays(columns, count, known)
        else:
            values: list[Any] = [None] * count
            for rows, column in columns:
                for row, value in zip(rows.tolist(), column, strict=True):
                    values[row] = value
            found[name] = values
    return found


def _merged_arrays(
    columns: Sequence[tuple[Rows, NDArray[Any]]], count: int, known: Collator | None
) -> NDArray[Any]:
    """Return the rows of arrays as one, padded to the largest of each size."""
    shapes = [column.shape[1:] for _, column in columns]
    dtype = np.result_type(*{column.dtype for _, column in columns})
    shape = tuple(np.max(shapes, axis=0).astype(int).tolist())
    if set(shapes) == {shape}:
        merged = np.empty((count, *shape), dtype)
        for rows, column in columns:
            merged[rows] = column
        return merged
    padding = known.filler if known else _zero(dtype)
    merged = np.full((count, *shape), padding, dtype)
    for rows, column in columns:
        inside: Any = (rows, *map(slice, column.shape[1:]))
        merged[inside] = column
    return merged


def padded_to_limits(decoder: Decoder) -> Callable[[Batch], Batch]:
    """Return what pads the lists of a batch to the lengths that the schema allows.

    Raises:
        DatasetError: no list that is read has a maximum length.
    """
    limits = {
        tuple(each.codec.label.split(".")): (limit, each.filler)
        for name, limit in decoder.record.max_lengths.items()
        for each in (decoder.collators.get(decoder.record[name].label),)
        if each and not each.listed
    }
    if not limits:
        raise DatasetError(NO_LIMIT)

    def padded(batch: Batch) -> Batch:
        found = dict(batch)
        for (*outer, last), (limit, filler) in limits.items():
            place = found
            for name in outer:
                place[name] = dict(place[name])
                place = place[name]
            if last in place:
                place[last] = _lengthened(place[last], limit, filler)
        return found

    return padded


def _lengthened(column: Any, limit: int, filler: Any) -> Any:
    """Pad a column [rows, length, ...] to a length; what is longer stays."""
    missing = limit - column.shape[1]
    if missing <= 0:
        return column
    ends = [(0, 0)] * column.ndim
    ends[1] = (0, missing)
    return np.pad(column, ends, constant_values=filler)
