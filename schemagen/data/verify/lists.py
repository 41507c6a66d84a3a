"""Lists of any length: VarLen, Ragged and Sparse."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod

import numpy as np

from ...kinds.field import FieldSpec
from ...kinds.ragged import Ragged
from ...kinds.sparse import Sparse
from ...kinds.varlen import VarLen
from ...runtime.shared.values import RAW_ONLY, item_size, shape_text
from ..columns import Column, Rows
from ..message import BYTES
from .faults import (
    Fault,
    Passed,
    Units,
    amount,
    kind_of,
    only,
    refused,
    refused_values,
    sizes_of,
    stored,
    sums_of,
)
from .values import (
    fixed_values,
    listed_values,
    outside,
    raw_values,
    single_bytes,
)

_MOST = 1 << 40


def var_len(spec: FieldSpec[VarLen], units: Units) -> Passed:
    """Check a sequence."""
    kind, (entry,) = spec.kind, spec.storage
    if kind.pad_on_disk and entry.stored == "bytes" and entry.encoding == "list":
        text = f"{amount(entry.count, BYTES)}, filled up on disk"
        return (yield from listed_values(units, entry, text, kind.finite))
    if kind.pad_on_disk:
        shape = (kind.max_length or 0, *kind.item_shape)
        return (yield from fixed_values(units, entry, shape, finite=kind.finite))
    column = yield from values_of(spec, units)
    size = prod(kind.item_shape)
    if size != 1:
        counts = counts_of(column, kind.dtype)
        bad = counts % size != 0
        wrong = counts[bad]
        column = yield from refused(
            column,
            bad,
            "SG524",
            "values are not a whole number of items",
            f"items of {size} values (shape {shape_text(kind.item_shape)})",
            lambda _, at: f"{wrong[at]} values",
        )
    if kind.max_length is None or kind.too_long != "error":
        return column
    lengths = counts_of(column, kind.dtype) // max(1, size)
    return (yield from at_most(column, lengths, kind.max_length, "items"))


def counts_of(column: Column, dtype: str) -> Rows:
    """Return how many numbers or strings each row has: int64 [rows]."""
    return sizes_of(column) // item_size(dtype) if dtype in RAW_ONLY else column.lengths


def at_most(column: Column, lengths: Rows, most: int, noun: str) -> Passed:
    """Refuse rows that have too many items."""
    bad = lengths > most
    wrong = lengths[bad]
    return (
        yield from refused(
            column,
            bad,
            "SG524",
            "list is too long",
            f"at most {most} {noun}",
            lambda _, at: f"{wrong[at]} {noun}",
        )
    )


def values_of(spec: FieldSpec[VarLen | Ragged | Sparse], units: Units) -> Passed:
    """Check the values of a list of any length, and return those that are right."""
    entry, dtype, finite = spec.storage[0], spec.kind.dtype, spec.kind.finite
    if entry.encoding == "raw":
        item = item_size(dtype)
        text = f"raw {dtype} numbers of {item} bytes"
        column = yield from single_bytes(units, entry, text)
        return (yield from raw_values(column, text, dtype, None, finite=finite))
    text = f"{amount(None, kind_of(entry))} ({dtype})"
    return (yield from listed_values(units, entry, text, finite))


def ragged(spec: FieldSpec[Ragged], units: Units) -> Passed:
    """Check a list of lists: its values, and row lengths that add up to their number."""
    _, entry = spec.storage
    column = yield from values_of(spec, units)
    text = "int64 values, the length of each inner list"
    lengths = yield from stored(units, entry, text)
    lengths = yield from refused_values(
        lengths,
        lengths.values < 0,
        "SG529",
        "negative row length",
        "row lengths from 0",
    )
    counts = units.spread(column.rows, counts_of(column, spec.kind.dtype))
    # Numbers beyond these are the work of damage; sums of them must not wrap around.
    totals = sums_of(lengths.lengths, np.minimum(lengths.values, _MOST))
    sums = units.spread(lengths.rows, totals)
    right = units.among(column.rows), units.among(lengths.rows)
    both = right[0] & right[1]
    if spec.optional:  # what is not there at all reads as empty
        absent = ~units.present(spec.key), ~units.present(spec.kind.lengths_key)
        nothing = units.live & (absent[0] | absent[1])
        both |= nothing & (right[0] | absent[0]) & (right[1] | absent[1])
    wrong = np.flatnonzero(both & (sums != counts))
    text = "row lengths that add up to"
    yield Fault(
        "SG529",
        "row lengths do not add up",
        f"{text} the number of values",
        wrong,
        lambda at: f"{text} {sums[wrong[at]]}, and {counts[wrong[at]]} values",
        key=spec.kind.lengths_key,
    )
    if spec.kind.max_length is not None:
        yield from at_most(lengths, lengths.lengths, spec.kind.max_length, "lists")
    return column


def sparse(spec: FieldSpec[Sparse], units: Units) -> Passed:
    """Check values and indices: as many of each, in the shape, none twice."""
    column = yield from values_of(spec, units)
    whole = units.among(column.rows) | (~units.present(spec.key) & units.live)
    counts = units.spread(column.rows, column.lengths)
    axes: list[Column] = []
    for axis, entry in enumerate(spec.storage[1:]):
        key, size = entry.key, spec.kind.shape[axis]
        # Without values there need be no indices: readers take both for empty.
        indices = yield from stored(
            replace(units, live=units.live & (counts > 0)),
            entry,
            "int64 values, the index of each value",
        )
        where = f" of dimension {axis}" if len(spec.kind.shape) > 1 else ""
        indices = yield from refused_values(
            indices,
            outside(indices.values, 0, size - 1),
            "SG529",
            "index out of range",
            f"indices{where} from 0 to {size - 1}",
        )
        there = units.among(indices.rows)
        lacking = units.live & ~units.present(key)
        whole &= there | (lacking if spec.optional else lacking & (counts == 0))
        have = units.spread(indices.rows, indices.lengths)
        unequal = np.flatnonzero(whole & (have != counts))
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
    places = [[int(axis.values[again[each]]) for axis in kept] for each in at.tolist()]
    yield Fault(
        "SG529",
        "duplicate index",
        "each index once",
        wrong,
        lambda number: f"{places[number]} twice",
        key=spec.kind.index_keys[0],
    )
