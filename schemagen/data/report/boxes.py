"""Boxes: groups of lists in which a schema says left, top, right and bottom."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ...spec.model import FieldSpec, MultiLabelSpec, RecordSpec, VarLenSpec
from ..formatting import decoded, number, one_line
from .features import Features

_SIDES = ("xmin", "ymin", "xmax", "ymax")
_SIDE = re.compile(
    r"(?P<stem>.*?)(?P<side>[xy]_?(?:min|max))", re.DOTALL | re.IGNORECASE
)
_NAMES = re.compile(r"label|class|category|name|text", re.IGNORECASE)

MOST = 200
"""So many boxes are drawn on a picture."""


@dataclass(frozen=True)
class BoxFields:
    """The fields of boxes: four lists of numbers, and what names them.

    Attributes:
        name: what they are called together.
        keys: of xmin, ymin, xmax and ymax.
        label: the field that has a name or an id for each box, if there is one.
    """

    name: str
    keys: tuple[str, str, str, str]
    label: FieldSpec | None


@dataclass(frozen=True)
class FoundBox:
    """A box of a sample, in pixels of its picture; `label` names it, or is empty."""

    left: float
    top: float
    right: float
    bottom: float
    label: str


def box_fields(spec: RecordSpec) -> tuple[BoxFields, ...]:
    """Return what a schema says of boxes.

    That is a VarLen group, or fields of no group, with four lists of numbers whose
    names or keys differ in their ends only: xmin, ymin, xmax and ymax.
    """
    found: dict[tuple[str, str], dict[str, FieldSpec[VarLen]]] = {}
    for field in spec.fields:
        if not isinstance(field.kind, VarLen) or field.kind.item_shape:
            continue
        for text in (field.name, field.key):
            match = _SIDE.fullmatch(text)
            if match:
                side = match["side"].lower().replace("_", "")
                where = field.kind.group or "", match["stem"]
                found.setdefault(where, {}).setdefault(side, field)
                break
    boxes = []
    for (group, stem), sides in found.items():
        if set(sides) != set(_SIDES):
            continue
        left, top, right, bottom = (sides[side].key for side in _SIDES)
        name = one_line(stem.rstrip("/_.") or group or "boxes", 40)
        label = _label(spec, group, {field.key for field in sides.values()})
        boxes.append(BoxFields(name, (left, top, right, bottom), label))
    return tuple(boxes)


def _label(spec: RecordSpec, group: str, taken: set[str]) -> FieldSpec | None:
    """Return the field that names boxes: texts, or ids of the same group."""
    texts: list[FieldSpec] = []
    numbers: list[FieldSpec] = []
    for field in spec.fields:
        if field.key in taken:
            continue
        if isinstance(field.kind, VarLen) and group and field.kind.group == group:
            if not _NAMES.search(field.name) and not _NAMES.search(field.key):
                continue
            (texts if field.kind.dtype in ("string", "bytes") else numbers).append(
                field
            )
        elif isinstance(field.kind, MultiLabel):
            numbers.append(field)
    return next(iter((*texts, *numbers)), None)


def boxes_in(
    fields: BoxFields, features: Features, height: int, width: int
) -> Iterator[FoundBox]:
    """Yield the boxes of a sample.

    Where all numbers are between 0 and 1 they are shares of the picture's size, and
    pixels otherwise. Boxes that are no boxes, or wholly outside, are left out.
    """
    sides = [features.numbers(key) or [] for key in fields.keys]
    if len({len(side) for side in sides}) != 1:
        return
    relative = all(0 <= value <= 1 for side in sides for value in side)
    across, down = (width, height) if relative else (1, 1)
    labels = _labels(fields.label, features, len(sides[0]))
    for index, corners in enumerate(zip(*sides, strict=True)):
        left, top, right, bottom = map(float, corners)
        if index == MOST or not all(map(math.isfinite, (left, top, right, bottom))):
            continue
        left, right = left * across, right * across
        top, bottom = top * down, bottom * down
        outside = left > width or top > height or right < 0 or bottom < 0
        if right >= left and bottom >= top and not outside:
            yield FoundBox(
                max(0.0, left),
                max(0.0, top),
                min(float(width), right),
                min(float(height), bottom),
                labels[index],
            )


def _labels(field: FieldSpec | None, features: Features, count: int) -> list[str]:
    feature = features.feature(field.key) if field is not None else None
    if field is None or feature is None or len(feature.values) != count:
        return [""] * count
    if feature.kind == "bytes":
        texts = features.bytes_of(feature)
        return [one_line(decoded(text) or "", 40) for text in texts]
    if isinstance(field.kind, MultiLabel):
        ids = [value - field.kind.offset for value in feature.values]
        known = len(field.kind.class_names)
        return [
            one_line(field.kind.class_names[id_], 40) if 0 <= id_ < known else str(id_)
            for id_ in ids
        ]
    return [number(value) for value in feature.values]
