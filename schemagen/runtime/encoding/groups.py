"""Groups: fields that have equally many items in every record."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import RecordError
from .base import Column, Feature


def check_lengths(
    group: str, *fields: tuple[Feature, Any], row: int | None = None
) -> None:
    """Refuse a row whose fields of one group are not equally long.

    Args:
        group: the group's name.
        fields: pairs of a feature and its value. None does not count, nor does a
            value that is no sequence, which its own field refuses.
        row: the row's position in its batch, for the error.

    Raises:
        RecordError: naming two fields and their lengths.
    """
    first: tuple[str, int] | None = None
    for feature, value in fields:
        length = item_count(value)
        if length is None:
            continue
        if first is None:
            first = (feature.name, length)
        elif length != first[1]:
            raise RecordError(
                feature.name,
                f"{length} items",
                f"{first[1]}, as many as {first[0]!r} has: both are in the group "
                f"{group!r}",
                row=row,
            )


def check_column_lengths(group: str, *columns: tuple[Feature, Column | None]) -> None:
    """Refuse a batch with a row that `check_lengths` refuses.

    Args:
        group: the group's name.
        columns: pairs of a feature and its column; None is a column of None.

    Raises:
        RecordError: naming the first such row, two fields and their lengths.
    """
    counted = [
        (feature, column, lengths)
        for feature, column in columns
        if column is not None and (lengths := _row_lengths(column)) is not None
    ]
    if len({len(lengths) for _, _, lengths in counted}) != 1:
        return  # columns of different lengths are an error of their own
    table = np.stack([lengths for _, _, lengths in counted])
    unequal = (table >= 0) & (table != table.max(axis=0))
    wrong = unequal.any(axis=0)
    if wrong.any():
        row = int(wrong.argmax())
        pairs = [(feature, column[row]) for feature, column, _ in counted]
        check_lengths(group, *pairs, row=row)


def item_count(value: object) -> int | None:
    """Return how many items a row's value has, or None if it is no sequence."""
    if isinstance(value, np.ndarray):
        return len(value) if value.ndim else None
    return len(value) if isinstance(value, (list, tuple)) else None


def _row_lengths(column: Column) -> NDArray[np.int64] | None:
    """Return how many items each row has, -1 for none: int64 [rows]."""
    if isinstance(column, np.ndarray) and column.ndim > 1:
        return np.full(len(column), column.shape[1], np.int64)
    if isinstance(column, (str, bytes)) or not hasattr(column, "__len__"):
        return None  # no column at all, which is an error of its own
    if {*map(type, column)} <= {list, tuple}:
        return np.fromiter(map(len, column), np.int64, len(column))
    counts = map(item_count, column)
    return np.array([-1 if n is None else n for n in counts], np.int64)
