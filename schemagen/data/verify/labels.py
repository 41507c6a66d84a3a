"""Classes: ids with their offset, and names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...kinds.field import FieldSpec
from ...kinds.label import Label
from ...kinds.multilabel import MultiLabel
from ..columns import Column
from .faults import (
    Passed,
    Units,
    amount,
    kind_of,
    near,
    refused,
    refused_values,
    shown_bytes,
    stored,
)

_SHOWN_CLASSES = 5


def classes(field: FieldSpec[Label | MultiLabel], units: Units) -> Passed:
    """Check the classes of a field: ids or names."""
    single = isinstance(field.kind, Label)
    none = single and field.optional and field.default is None
    (entry,) = field.storage
    text = amount(entry.count, kind_of(entry))
    column = yield from stored(units, entry, optional=field.optional, expected=text)
    if entry.bounds is None:
        return (yield from _names(field.kind, column, none=none))
    first, last = entry.bounds
    values = column.values
    if not len(values) or (values.min() >= first and values.max() <= last):
        return column
    bad = (values < first) | (values > last)
    expected = f"class ids from {first} to {last}"
    if none:
        bad &= values != -1
        expected += ", or -1 for none"
    what, cause = "class id out of range", _cause_of_id(field.kind)
    return (yield from refused_values(column, bad, "SG527", what, expected, cause))


def _cause_of_id(kind: Label | MultiLabel) -> Callable[[Any], str]:
    def cause(value: Any) -> str:
        if kind.offset == 0 and value == kind.count:
            return "ids that count from 1? then declare offset=1"
        if kind.offset and value == kind.offset - 1:
            return (
                f"ids that count from {kind.offset - 1}? then declare offset="
                f"{kind.offset - 1}"
            )
        if value == -1:
            return "no class: declare it optional with the default None"
        return ""

    return cause


def _names(kind: Label | MultiLabel, column: Column, *, none: bool) -> Passed:
    known = {name.encode() for name in kind.class_names}
    if none:
        known.add(b"")
    view = column.data.data
    right = np.fromiter(
        (bytes(view[a:b]) in known for a, b in column.values.tolist()),
        np.bool_,
        len(column.values),
    )
    if right.all():
        return column
    wrong_rows = np.zeros(len(column), np.bool_)
    owners = np.repeat(np.arange(len(column)), column.lengths)
    wrong_rows[owners[~right]] = True
    shown = ", ".join(map(repr, kind.class_names[:_SHOWN_CLASSES]))
    more = ", ..." if len(kind.class_names) > _SHOWN_CLASSES else ""

    def wrong_name(wrong: Column, at: int) -> bytes:
        names = wrong.row_values(at)
        return next((name for name in names if name not in known), b"")

    def found(wrong: Column, at: int) -> str:
        return shown_bytes(wrong_name(wrong, at)) if wrong.lengths[at] else "''"

    def cause(wrong: Column, at: int) -> str:
        name = wrong_name(wrong, at).decode(errors="replace")
        if name.isdigit():
            return "an id written as text"
        return near(name, kind.class_names)

    return (
        yield from refused(
            column,
            wrong_rows,
            "SG527",
            "class id out of range",
            f"one of {len(kind.class_names)} classes, {shown}{more}",
            found,
            cause,
        )
    )
