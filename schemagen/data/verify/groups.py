"""Groups: fields that have equally many items in every record."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from ...kinds.field import FieldSpec
from ...kinds.steps import Steps
from ...runtime.shared.values import item_size
from ..columns import Columns, Rows, column_of
from .faults import Fault, Units, kind_of, sizes_of, sums_of

_NONE = np.empty(0, np.int64)


def groups_of(fields: Iterable[FieldSpec]) -> dict[str, list[FieldSpec]]:
    """Return the fields of each group whose lengths are to be compared.

    Those that are filled up on disk have one length there.
    """
    found: dict[str, list[FieldSpec]] = {}
    for field in fields:
        group = getattr(field.kind, "group", None)
        if group is not None and not getattr(field.kind, "pad_on_disk", False):
            found.setdefault(group, []).append(field)
    return {group: some for group, some in found.items() if len(some) > 1}


def group_faults(
    group: str, fields: Sequence[FieldSpec], columns: Columns, units: Units
) -> Generator[Fault, None, None]:
    """Find the records in which the fields of a group are not equally long."""
    measured = [_measured(field, columns, units) for field in fields]
    lengths = np.stack([each[0] for each in measured], axis=1)
    there = np.stack([each[1] for each in measured], axis=1)
    optional = np.array([field.optional for field in fields])
    longest = lengths.max(axis=1, keepdims=True)
    # A feature that is missing or of another type is an error of its own.
    whole = units.live & (there | optional).all(axis=1)
    unequal = (lengths != longest) & ~(optional & ~there)
    rows = np.flatnonzero(whole & unequal.any(axis=1))

    def found(at: int) -> str:
        row = int(rows[at])
        most, other = int(lengths[row].argmax()), int(unequal[row].argmax())
        words = (
            f"{fields[each].label!r} with {lengths[row, each]}"
            for each in (most, other)
        )
        return ", ".join(words)

    yield Fault(
        "SG529",
        f"fields of the group {group!r} differ in length",
        "equally many items of each field in a record",
        rows,
        found,
    )


def _measured(
    field: FieldSpec, columns: Columns, units: Units
) -> tuple[Rows, NDArray[np.bool_]]:
    """Return how many items each record has of a field, and whether it is there."""
    if isinstance(field.kind, Steps):
        steps = columns.steps.get(field.key)
        rows, lengths = (steps.rows, steps.steps) if steps else (_NONE, _NONE)
        return units.spread(rows, lengths), units.among(rows)
    entry = field.storage[-1]  # of Ragged the row lengths
    column = column_of(units.by_key, entry.key, kind_of(entry))
    lengths = column.lengths
    if entry.encoding == "raw":
        lengths = sums_of(lengths, sizes_of(column)) // item_size(entry.dtype)
    lengths = lengths // prod(getattr(field.kind, "item_shape", ()))
    return units.spread(column.rows, lengths), units.among(column.rows)
