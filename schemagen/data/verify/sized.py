"""Values whose sizes are stored under keys of their own: tensors and raw pictures."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from ...kinds.storage import Entry
from ...runtime.shared.values import item_size, shape_text
from ..columns import Column, Rows
from ..message import BYTES
from .causes import cause_of_size
from .faults import Fault, Passed, Units, refused, sizes_of, stored

Known = NDArray[np.bool_]


def stored_sizes(
    units: Units,
    sizes: Sequence[int | Entry],
    expected: Callable[[Entry], str],
    column: Column | None = None,
) -> Generator[Fault, None, tuple[Rows, Known]]:
    """Read the sizes of values.

    Args:
        units: what to check.
        sizes: the size of each axis, or where the sizes of one or more are stored.
        expected: what should be stored there.
        column: the values. Sizes that these lack are missing; without it they are 0.

    Returns:
        The sizes of each unit, int64 [units, rank], and which are known.
    """
    known, axes = units.live.copy(), []
    for size in sizes:
        if not isinstance(size, Entry):
            axes.append(np.full((len(known), 1), size, np.int64))
            continue
        text = expected(size)
        found = yield from stored(units, size, text)
        width = size.count or 1
        axis = np.zeros((len(known), width), np.int64)
        axis[found.rows] = found.values.reshape(-1, width)
        axes.append(axis)
        right = units.among(found.rows)
        if units.optional:
            absent = ~units.present(size.key)
            if column is None:
                right |= absent
            else:
                lacking = np.flatnonzero(units.among(column.rows) & absent)
                yield _missing(size.key, lacking, text)
        known &= right
    return np.concatenate(axes, axis=1), known


def _missing(key: str, rows: NDArray[np.intp], expected: str) -> Fault:
    what = "the sizes of a tensor are missing"
    return Fault("SG522", what, expected, rows, lambda at: "a tensor alone", key=key)


def of_sizes(
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
    raw = column.kind == BYTES
    item, unit = (item_size(dtype), "bytes") if raw else (1, "numbers")
    have = sizes_of(column) if raw else column.lengths
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
