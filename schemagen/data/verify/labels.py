"""Classes: ids with their offset, and names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...kinds.field import FieldSpec
from ...kinds.label import Label
from ...kinds.multilabel import MultiLabel
from ..columns import Column
from ..message import BYTES, INT64
from .faults import (
    Passed,
    Units,
    amount,
    counted,
    near,
    refused,
    refused_values,
    shown_bytes,
    stored,
)

_SHOWN_CLASSES = 5


def label(spec: FieldSpec[Label], units: Units) -> Passed:
    """Check one class: an id, or a name."""
    missing = spec.optional and spec.default is None
    kind = BYTES if spec.kind.stored == "text" else INT64
    text = amount(1, kind)
    column = yield from stored(
        units, spec.key, kind, optional=spec.optional, expected=text
    )
    column = yield from counted(column, 1, text)
    return (yield from _classes(spec, column, none=missing))


def multi_label(spec: FieldSpec[MultiLabel], units: Units) -> Passed:
    """Check any number of classes."""
    kind = BYTES if spec.kind.stored == "text" else INT64
    column = yield from stored(
        units, spec.key, kind, optional=spec.optional, expected=amount(None, kind)
    )
    return (yield from _classes(spec, column, none=False))


def _classes(
    spec: FieldSpec[Label | MultiLabel], column: Column, *, none: bool
) -> Passed:
    if column.kind == BYTES:
        return (yield from _names(spec, column, none=none))
    first, last = spec.kind.offset, spec.kind.offset + spec.kind.count - 1
    values = column.values
    if not len(values) or (values.min() >= first and values.max() <= last):
        return column
    bad = (values < first) | (values > last)
    if none:
        bad &= values != -1
    expected = f"class ids from {first} to {last}"
    if none:
        expected += ", or -1 for none"
    return (
        yield from refused_values(
            column,
            bad,
            "SG527",
            "class id out of range",
            expected,
            _cause_of_id(spec),
        )
    )


def _cause_of_id(spec: FieldSpec[Label | MultiLabel]) -> Callable[[Any], str]:
    def cause(value: Any) -> str:
        if spec.kind.offset == 0 and value == spec.kind.count:
            return "ids that count from 1? then declare offset=1"
        if spec.kind.offset and value == spec.kind.offset - 1:
            return (
                f"ids that count from {spec.kind.offset - 1}? then declare offset="
                f"{spec.kind.offset - 1}"
            )
        if value == -1:
            return "no class: declare it optional with the default None"
        return ""

    return cause


def _names(
    spec: FieldSpec[Label | MultiLabel], column: Column, *, none: bool
) -> Passed:
    known = {name.encode() for name in spec.kind.class_names}
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
    shown = ", ".join(map(repr, spec.kind.class_names[:_SHOWN_CLASSES]))
    more = ", ..." if len(spec.kind.class_names) > _SHOWN_CLASSES else ""

    def wrong_name(wrong: Column, at: int) -> bytes:
        names = wrong.row_values(at)
        return next((name for name in names if name not in known), b"")

    def found(wrong: Column, at: int) -> str:
        return shown_bytes(wrong_name(wrong, at)) if wrong.lengths[at] else "''"

    def cause(wrong: Column, at: int) -> str:
        name = wrong_name(wrong, at).decode(errors="replace")
        if name.isdigit():
            return "an id written as text"
        return near(name, spec.kind.class_names)

    return (
        yield from refused(
            column,
            wrong_rows,
            "SG527",
            "class id out of range",
            f"one of {len(spec.kind.class_names)} classes, {shown}{more}",
            found,
            cause,
        )
    )
