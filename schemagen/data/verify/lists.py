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
from ..message import BYTES, INT64
from .faults import (
    Fault,
    Passed,
    Rows,
    Units,
    amount,
    counted,
    only,
    refused,
    refused_values,
    sizes_of,
    stored,
)
from .numbers import (
    finite_bytes,
    fixed_numbers,
    list_kind,
    of_dtype,
    raw_sizes,
    single_bytes,
)
from .texts import utf8

# Lengths beyond this are the work of damage; sums of them must not wrap around.
_MOST = 1 << 40


def var_len(spec: FieldSpec[VarLen], units: Units) -> Passed:
    """Check a sequence."""
    raw, strings = spec.kind.dtype in RAW_ONLY, spec.kind.dtype in ("string", "bytes")
    if spec.kind.pad_on_disk:
        shape = (spec.kind.max_length or 0, *spec.kind.item_shape)
        if not strings:
            return (
                yield from fixed_numbers(
                    units,
                    spec.key,
                    spec.kind.dtype,
                    shape,
                    raw=raw,
                    optional=spec.optional,
                    finite=spec.kind.finite,
                )
            )
        text = f"{amount(prod(shape), BYTES)}, filled up on disk"
        column = yield from stored(
            units, spec.key, BYTES, optional=spec.optional, expected=text
        )
        column = yield from counted(column, prod(shape), text)
        return (yield from utf8(column)) if spec.kind.dtype == "string" else column
    column = yield from values_of(spec, units)
    size = prod(spec.kind.item_shape)
    lengths = sizes_of(column) // item_size(spec.kind.dtype) if raw else column.lengths
    if size != 1:
        column = yield from refused(
            column,
            lengths % size != 0,
            "SG524",
            "values that are not a whole number of items",
            f"items of {size} values (shape {shape_text(spec.kind.item_shape)})",
            lambda wrong, at: f"{_numbers_in(wrong, at, spec.kind.dtype)} values",
        )
        lengths = (
            sizes_of(column) // item_size(spec.kind.dtype) if raw else column.lengths
        )
        lengths = lengths // max(1, size)
    if spec.kind.max_length is None or spec.kind.too_long != "error":
        return column
    return (
        yield from at_most(
            column, lengths, spec.kind.max_length, "items", size, spec.kind.dtype
        )
    )


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
            "a list that is too long",
            f"at most {most} {noun}",
            lambda wrong, at: f"{_numbers_in(wrong, at, dtype) // max(1, size)} {noun}",
        )
    )


def values_of(spec: FieldSpec[VarLen | Ragged], units: Units) -> Passed:
    """Check the values of a list of any length, and return those that are right."""
    dtype = spec.kind.dtype
    if dtype in RAW_ONLY:
        item = item_size(dtype)
        text = f"raw {dtype} numbers of {item} bytes"
        optional = spec.optional
        column = yield from single_bytes(
            units, spec.key, optional=optional, expected=text
        )
        right = sizes_of(column) % item == 0
        column = yield from raw_sizes(column, right, text, dtype, None)
        return (yield from finite_bytes(column, dtype)) if spec.kind.finite else column
    kind = list_kind(dtype)
    column = yield from stored(
        units,
        spec.key,
        kind,
        optional=spec.optional,
        expected=f"{amount(None, kind)} ({dtype})",
    )
    if dtype == "string":
        return (yield from utf8(column))
    if dtype == "bytes":
        return column
    return (yield from of_dtype(column, dtype, finite=spec.kind.finite))


def ragged(spec: FieldSpec[Ragged], units: Units) -> Passed:
    """Check a list of lists: its values, and row lengths that add up to their number."""
    column = yield from values_of(spec, units)
    lengths = yield from stored(
        units,
        spec.kind.lengths_key,
        INT64,
        optional=spec.optional,
        expected="int64 values, the length of each inner list",
    )
    lengths = yield from refused_values(
        lengths,
        lengths.values < 0,
        "SG529",
        "a row length below 0",
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
            "row lengths that do not add up",
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
    kind = list_kind(spec.kind.dtype)
    column = yield from stored(
        units,
        spec.key,
        kind,
        optional=spec.optional,
        expected=f"{amount(None, kind)} ({spec.kind.dtype})",
    )
    column = yield from of_dtype(column, spec.kind.dtype, finite=spec.kind.finite)
    whole = _rows(units, column) | (~units.present(spec.key) & units.live)
    counts = _dense(units, column, column.lengths)
    axes: list[Column] = []
    for axis, (key, size) in enumerate(
        zip(spec.kind.index_keys, spec.kind.shape, strict=True)
    ):
        # Without values there need be no indices: readers take both for empty.
        indices = yield from stored(
            Units(units.live & (counts > 0), units.by_key, units.known),
            key,
            INT64,
            optional=spec.optional,
            expected="int64 values, the index of each value",
        )
        where = f" of dimension {axis}" if len(spec.kind.shape) > 1 else ""
        bad = (indices.values < 0) | (indices.values >= size)
        indices = yield from refused_values(
            indices,
            bad,
            "SG529",
            "an index outside of the shape",
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
        "another number of indices than of values",
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
        "an index that stands twice",
        "each index once",
        wrong,
        lambda number: f"{places[number]} twice",
        key=spec.kind.index_keys[0],
    )
