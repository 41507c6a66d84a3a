"""Which boxes readers scale with their image, as schemas and as specs say it.

Schemas leave it out where it is usual: boxes in pixels of an image with `resize` are
scaled. Specs leave it out where boxes are not, as in those of versions that scaled none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..runtime.kinds.box_sides import box_of
from ..runtime.kinds.images import Image
from .model import FieldSpec

Fields = tuple[FieldSpec, ...]


def boxes_of_spec(fields: Iterable[FieldSpec]) -> Fields:
    """Return the fields of a schema as specs have them: True, or None if not scaled."""
    return _replaced(fields, {None: True, False: None})


def boxes_of_schema(fields: Iterable[FieldSpec]) -> Fields:
    """Return the fields of a spec as schemas have them: None, or False if not scaled."""
    return _replaced(fields, {None: False, True: None})


def _replaced(
    fields: Iterable[FieldSpec], meanings: dict[bool | None, bool | None]
) -> Fields:
    """Return fields with other values of `box_scaled`, of boxes in resized images."""
    fields = tuple(fields)
    resized = {
        field.label
        for field in fields
        if isinstance(field.kind, Image) and field.kind.resize
    }

    def replaced(field: FieldSpec) -> FieldSpec:
        box = box_of(field.kind)
        if box is None or box.image not in resized:
            return field
        scaled = meanings.get(box.scaled, box.scaled)
        return replace(field, kind=replace(field.kind, box_scaled=scaled))

    return tuple(map(replaced, fields))
