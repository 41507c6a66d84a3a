"""Groups: fields that have equally many items in every record."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from ...kinds.field import FieldSpec
from ...kinds.images import Images
from ...kinds.ragged import Ragged
from ...kinds.steps import Steps
from ...kinds.varlen import VarLen
from ...runtime.shared.values import RAW_ONLY, item_size
from ..columns import Columns, Rows, column_of
from ..message import BYTES, INT64
from .faults import Fault, Units, kind_of, sizes_of, sums_of

_NONE = np.empty(0, np.int64)


@dataclass(frozen=True)
class Member:
    """A field of a group, as it is stored.

    Attributes:
        name: the field's name.
        key: of the feature whose length tells how many items it has.
        kind: of that feature's list; "" for a feature list.
        size: how many values, or raw bytes, one item takes.
        raw: whether they are raw bytes.
        optional: whether it does not count where it is absent.
    """

    name: str
    key: str
    kind: str
    size: int = 1
    raw: bool = False
    optional: bool = False


def members_of(fields: Sequence[FieldSpec]) -> dict[str, tuple[Member, ...]]:
    """Return the members of each group whose lengths are to be compared."""
    found: dict[str, list[Member]] = {}
    for field in fields:
        group, member = getattr(field.kind, "group", None), _member(field)
        if group is not None and member is not None:
            found.setdefault(group, []).append(member)
    return {group: tuple(some) for group, some in found.items() if len(some) > 1}


def _member(field: FieldSpec) -> Member | None:
    """Return how long a field is to be found; None if on disk it has one length."""
    name, optional = field.label, field.optional
    if isinstance(field.kind, Steps):
        return Member(name, field.key, "", optional=optional)
    if isinstance(field.kind, Images):
        return Member(name, field.key, BYTES, optional=optional)
    if isinstance(field.kind, Ragged):
        return Member(name, field.kind.lengths_key, INT64, optional=optional)
    if not isinstance(field.kind, VarLen) or field.kind.pad_on_disk:
        return None
    raw = field.kind.dtype in RAW_ONLY
    size = prod(field.kind.item_shape) * (item_size(field.kind.dtype) if raw else 1)
    return Member(name, field.key, kind_of(field.storage[0]), size, raw, optional)


def group_faults(
    group: str, members: Sequence[Member], columns: Columns, units: Units
) -> Generator[Fault, None, None]:
    """Find the records in which the fields of a group are not equally long."""
    measured = [_measured(member, columns, units) for member in members]
    lengths = np.stack([each[0] for each in measured], axis=1)
    there = np.stack([each[1] for each in measured], axis=1)
    optional = np.array([member.optional for member in members])
    longest = lengths.max(axis=1, keepdims=True)
    # A feature that is missing or of another type is an error of its own.
    whole = units.live & (there | optional).all(axis=1)
    unequal = (lengths != longest) & ~(optional & ~there)
    rows = np.flatnonzero(whole & unequal.any(axis=1))

    def found(at: int) -> str:
        row = int(rows[at])
        most, other = int(lengths[row].argmax()), int(unequal[row].argmax())
        words = (
            f"{members[each].name!r} with {lengths[row, each]}"
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
    member: Member, columns: Columns, units: Units
) -> tuple[Rows, NDArray[np.bool_]]:
    """Return how many items each record has of a member, and whether it is there."""
    if not member.kind:
        steps = columns.steps.get(member.key)
        rows, lengths = (steps.rows, steps.steps) if steps else (_NONE, _NONE)
    else:
        column = column_of(units.by_key, member.key, member.kind)
        rows, lengths = column.rows, column.lengths
        if member.raw:
            lengths = sums_of(lengths, sizes_of(column))
    return units.spread(rows, lengths // member.size), units.among(rows)
