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
    refused_values,
    shown_bytes,
    stored,
)
from .values import outside

_SHOWN_CLASSES = 5


def classes(field: FieldSpec[Label | MultiLabel], units: Units) -> Passed:
    """Check the classes of a field: ids or names."""
    single = isinstance(field.kind, Label)
    none = single and field.optional and field.default is None
    (entry,) = field.storage
    text = amount(entry.count, kind_of(entry))
    column = yield from stored(units, entry, text)
    if entry.bounds is None:
        return (yield from _names(field.kind, column, none=none))
    first, last = entry.bounds
    bad = outside(column.values, first, last)
    expected = f"class ids from {first} to {last}"
    if none:
        bad &= column.values != -1
        expected += ", or -1 for none"
    what, cause = "class id out of range", _cause_of_id(field.kind)
    return (yield from refused_values(column, bad, "SG527", what, expected, cause))


def _cause_of_id(kind: Label | MultiLabel) -> Callable[[Any], str]:
    def cause(value: Any) -> str:
        if kind.offset == 0 and value == kind.count:
            return "ids that count from 1? then declare offset=1"
        if kind.offset and value == kind.offset - 1:
            return f"ids that count from {value}? then declare offset={value}"
        if value == -1:
            return "no class: declare it optional with the default None"
        return ""

    return cause


def _names(kind: Label | MultiLabel, column: Column, *, none: bool) -> Passed:
    known = {name.encode() for name in kind.class_names}
    if none:
        known.add(b"")
    wrong = [name not in known for name in column.bytes_values()]
    shown = ", ".join(map(repr, kind.class_names[:_SHOWN_CLASSES]))
    more = ", ..." if len(kind.class_names) > _SHOWN_CLASSES else ""

    def cause(value: bytes) -> str:
        name = value.decode(errors="replace")
        if name.isdigit():
            return "an id written as text"
        return near(name, kind.class_names)

    return (
        yield from refused_values(
            column,
            np.array(wrong, np.bool_),
            "SG527",
            "class id out of range",
            f"one of {len(kind.class_names)} classes, {shown}{more}",
            cause,
            shown_bytes,
        )
    )
