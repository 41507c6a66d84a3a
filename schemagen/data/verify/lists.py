"""Lists of any length: VarLen, Ragged and Sparse."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np
from numpy.typing import NDArray

from ...kinds.field import FieldSpec
from ...kinds.ragged import Ragged
from ...kinds.sparse import Sparse
from ...kinds.varlen import VarLen
from ...runtime.shared.values import RAW_ONLY, item_size, shape_text
from ..columns import Column
from ..message import BYTES
from .faults import (
    Fault,
    Passed,
    Rows,
    Units,
    amount,
    kind_of,
    only,
    refused,
    refused_values,
    sizes_of,
    stored,
)
from .numbers import (
    finite_bytes,
    fixed_values,
    of_dtype,
    raw_sizes,
    single_bytes,
)

# Lengths beyond this are the work of damage; sums of them must not wrap around.
_MOST = 1 << 40


def var_len(spec: FieldSpec[VarLen], units: Units) -> Passed:
    """Check a sequence."""
    kind, dtype = spec.kind, spec.kind.dtype
    (entry,) = spec.storage
    if kind.pad_on_disk:
        if entry.stored == "bytes" and entry.encoding == "list":
            text = f"{amount(entry.count, BYTES)}, filled up on disk"
            column = yield from stored(
                units, entry, optional=spec.optional, expected=text
            )
            return (yield from of_dtype(column, entry, finite=kind.finite))
        return (
            yield from fixed_values(
                units,
                entry,
                (kind.max_length or 0, *kind.item_shape),
                optional=spec.optional,
                finite=kind.finite,
            )
        )
    column = yield from values_of(spec, units)
    raw = entry.encoding == "raw"
    size = prod(kind.item_shape)
    lengths = sizes_of(column) // item_size(dtype) if raw else column.lengths
    if size != 1:
        column = yield from refused(
            column,
            lengths % size != 0,
            "SG524",
            "values are not a whole number of items",
            f"items of {size} values (shape {shape_text(kind.item_shape)})",
            lambda wrong, at: f"{_numbers_in(wrong, at, dtype)} values",
        )
        lengths = sizes_of(column) // item_size(dtype) if raw else column.lengths
        lengths = lengths // max(1, size)
    if kind.max_length is None or kind.too_long != "error":
        return column
    return (yield from at_most(column, lengths, kind.max_length, "items", size, dtype))


def _numbers_in(column: Column, at: int, dtype: str) -> int:
    if dtype in RAW_ONLY:
        return int(sizes_of(column)[at]) // item_size(dtype)
    return int(column.lengths[at])


def at_most(
    column: Column, lengths: Rows, most: int, noun: str, size: int, dtype: str
) -> Passed:
    """Refuse rows that have too many items."""
    return (
        yield from refused(
            column,
            lengths > most,
            "SG524",
            "list is too long",
            f"at most {most} {noun}",
            lambda wrong, at: f"{_numbers_in(wrong, at, dtype) // max(1, size)} {noun}",
        )
    )


def values_of(spec: FieldSpec[VarLen | Ragged | Sparse], units: Units) -> Passed:
    """Check the values of a list of any length, and return those that are right."""
    entry, dtype, finite = spec.storage[0], spec.kind.dtype, spec.kind.finite
    if entry.encoding == "raw":
        item = item_size(dtype)
        text = f"raw {dtype} numbers of {item} bytes"
        optional = spec.optional
        column = yield from single_bytes(units, entry, optional=optional, expected=text)
        right = sizes_of(column) % item == 0
        column = yield from raw_sizes(column, right, text, dtype, None)
        return (yield from finite_bytes(column, dtype)) if finite else column
    text = f"{amount(None, kind_of(entry))} ({dtype})"
    column = yield from stored(units, entry, optional=spec.optional, expected=text)
    return (yield from of_dtype(column, entry, finite=finite))


def ragged(spec: FieldSpec[Ragged], units: Units) -> Passed:
    """Check a list of lists: its values, and row lengths that add up to their number."""
    _, entry = spec.storage
    column = yield from values_of(spec, units)
    lengths = yield from stored(
        units,
        entry,
        optional=spec.optional,
        expected="int64 values, the length of each inner list",
    )
    lengths = yield from refused_values(
        lengths,
        lengths.values < 0,
        "SG529",
        "negative row length",
        "row lengths from 0",
    )
    item = item_size(spec.kind.dtype) if spec.kind.dtype in RAW_ONLY else 0
    have = sizes_of(column) // item if item else column.lengths
    sums, counts = _dense(units, lengths, _sums(lengths)), _dense(units, column, have)
    both = _rows(units, lengths) & _rows(units, column)
    if spec.optional:  # what is not there at all reads as empty
        nothing = ~units.present(spec.key) | ~units.present(spec.kind.lengths_key)
        both |= units.live & nothing & _whole(units, spec, column, lengths)
    wrong = np.flatnonzero(both & (sums != counts))
    if len(wrong):
        yield Fault(
            "SG529",
            "row lengths do not add up",
            "row lengths that add up to the number of values",
            wrong,
            lambda at: (
                f"row lengths that add up to {sums[wrong[at]]}, and "
                f"{counts[wrong[at]]} values"
            ),
            key=spec.kind.lengths_key,
        )
    if spec.kind.max_length is not None:
        limited = lengths.lengths
        yield from at_most(lengths, limited, spec.kind.max_length, "lists", 1, "int64")
    return column


def _whole(
    units: Units, spec: FieldSpec[Ragged], column: Column, lengths: Column
) -> NDArray[np.bool_]:
    """Tell which rows have nothing wrong in either of the two features."""
    values = _rows(units, column) | ~units.present(spec.key)
    return values & (_rows(units, lengths) | ~units.present(spec.kind.lengths_key))


def _sums(column: Column) -> Rows:
    """Return the sum of the values of each row: int64 [rows]."""
    totals = np.concatenate([[0], np.cumsum(np.minimum(column.values, _MOST))])
    ends = np.cumsum(column.lengths)
    sums: Rows = totals[ends] - totals[ends - column.lengths]
    return sums


def _dense(units: Units, column: Column, values: Rows) -> Rows:
    found = np.zeros(len(units.live), np.int64)
    found[column.rows] = values
    return found


def _rows(units: Units, column: Column) -> NDArray[np.bool_]:
    found = np.zeros(len(units.live), np.bool_)
    found[column.rows] = True
    return found


def sparse(spec: FieldSpec[Sparse], units: Units) -> Passed:
    """Check values and indices: as many of each, in the shape, none twice."""
    column = yield from values_of(spec, units)
    whole = _rows(units, column) | (~units.present(spec.key) & units.live)
    counts = _dense(units, column, column.lengths)
    axes: list[Column] = []
    for axis, entry in enumerate(spec.storage[1:]):
        key, size = entry.key, spec.kind.shape[axis]
        # Without values there need be no indices: readers take both for empty.
        indices = yield from stored(
            Units(units.live & (counts > 0), units.by_key, units.known),
            entry,
            optional=spec.optional,
            expected="int64 values, the index of each value",
        )
        where = f" of dimension {axis}" if len(spec.kind.shape) > 1 else ""
        bad = (indices.values < 0) | (indices.values >= size)
        indices = yield from refused_values(
            indices,
            bad,
            "SG529",
            "index out of range",
            f"indices{where} from 0 to {size - 1}",
        )
        there = _rows(units, indices)
        lacking = units.live & ~units.present(key)
        whole &= there | (lacking if spec.optional else lacking & (counts == 0))
        have = _dense(units, indices, indices.lengths)
        unequal = np.flatnonzero(whole & (have != counts))
        if len(unequal):
            yield _other_numbers(key, unequal, have, counts)
            whole[unequal] = False
        axes.append(indices)
    yield from _twice(spec, axes, np.flatnonzero(whole))
    return column


def _other_numbers(key: str, rows: Rows, have: Rows, counts: Rows) -> Fault:
    return Fault(
        "SG529",
        "different numbers of indices and values",
        "as many indices as values",
        rows,
        lambda at: f"{have[rows[at]]} indices and {counts[rows[at]]} values",
        key=key,
    )


def _twice(spec: FieldSpec[Sparse], axes: list[Column], rows: Rows) -> Iterator[Fault]:
    """Find the rows in which an index stands twice."""
    kept = [only(axis, np.isin(axis.rows, rows)) for axis in axes]
    first = kept[0]
    if not len(first.values) or any(len(k.values) != len(first.values) for k in kept):
        return
    owners = np.repeat(first.rows, first.lengths)
    order = np.lexsort([*(axis.values for axis in reversed(kept)), owners])
    same = owners[order][1:] == owners[order][:-1]
    for axis in kept:
        same &= axis.values[order][1:] == axis.values[order][:-1]
    again = order[1:][same]
    wrong, at = np.unique(owners[again], return_index=True)
    if not len(wrong):
        return
    places = [[int(axis.values[again[each]]) for axis in kept] for each in at.tolist()]
    yield Fault(
        "SG529",
        "duplicate index",
        "each index once",
        wrong,
        lambda number: f"{places[number]} twice",
        key=spec.kind.index_keys[0],
    )
