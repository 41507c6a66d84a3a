"""Values whose sizes are stored under keys of their own: tensors and raw pictures."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..reading.columns import Column, Rows
from ..shared.values import item_size, shape_text
from .decoded import split_rows
from .faults import Fault, Features, Passed, refused
from .part import Part
from .values import cause_of_size

Table = tuple[Rows, NDArray[np.bool_]]


def stored_sizes(
    features: Features,
    sizes: Sequence[int | Part],
    expected: Callable[[Part], str],
    column: Column | None = None,
) -> Generator[Fault, None, Table]:
    """Read the sizes of values.

    Args:
        features: the records.
        sizes: the size of each axis, or the part in which one or more are stored.
        expected: what should be stored there.
        column: the values. Missing sizes of these are faults; without it they are 0.

    Returns:
        The sizes in each record, int64 [records, rank], and which are known.
    """
    known, axes = features.live.copy(), []
    for size in sizes:
        if not isinstance(size, Part):
            axes.append(np.full((len(known), 1), size, np.int64))
            continue
        text = expected(size)
        found = yield from size.column(features, text)
        width = size.count or 1
        axis = np.zeros((len(known), width), np.int64)
        axis[found.rows] = found.values.reshape(-1, width)
        axes.append(axis)
        right = features.among(found.rows)
        if features.optional:
            absent = ~features.present(size.key)
            if column is None:
                right |= absent
            else:
                lacking = np.flatnonzero(features.among(column.rows) & absent)
                yield _missing(size.key, lacking, text)
        known &= right
    return np.concatenate(axes, axis=1), known


def _missing(key: str, rows: NDArray[np.intp], expected: str) -> Fault:
    what = "the sizes of a tensor are missing"
    return Fault("SG522", what, expected, rows, lambda at: "a tensor alone", key=key)


def counted(
    column: Column, sizes: Rows, dtype: str, expected: str, least: int, noun: str
) -> Passed:
    """Check that rows have as many numbers as their sizes ask for.

    Args:
        column: raw bytes, or lists of numbers.
        sizes: int64 [rows, rank].
        dtype: of the numbers.
        expected: what should be there.
        least: the smallest size.
        noun: "size" or "sizes".
    """
    raw = column.kind == "bytes"
    item, unit = (item_size(dtype), "bytes") if raw else (1, "numbers")
    have = column.sizes if raw else column.lengths
    # In float64, so that sizes which no memory holds do not wrap around.
    wanted = np.prod(sizes.astype(np.float64), axis=1) * item
    bad = (sizes < least).any(axis=1) | (wanted != have)
    held, shapes = have[bad], sizes[bad].tolist()

    def cause(wrong: Column, at: int) -> str:
        size = max(0, prod(shapes[at])) * item
        return cause_of_size(wrong.bytes_at(at), dtype, size) if raw else ""

    return (
        yield from refused(
            column,
            bad,
            "SG530",
            f"{unit} do not match the stored {noun}",
            expected,
            lambda _, at: f"{held[at]} {unit} and the {noun} {shape_text(shapes[at])}",
            cause,
        )
    )


def shaped(numbers: NDArray[Any], sizes: Rows, shape: Sequence[int | None]) -> Any:
    """Return numbers in their shapes.

    Args:
        numbers: those of all rows, one after the other.
        sizes: int64 [rows, rank].
        shape: of all values; None for a size that varies.

    Returns:
        An array [rows, *shape] if no size varies; otherwise an array for each row.
    """
    if None not in shape:
        return numbers.reshape(-1, *[size or 0 for size in shape])
    rows = split_rows(numbers, np.prod(sizes, axis=1))
    return [row.reshape(size) for row, size in zip(rows, sizes.tolist(), strict=True)]
