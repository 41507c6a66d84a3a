"""Boxes end behind their beginning, and are inside of their image."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .between import FieldFault, Relation
from .box_sides import BEGINS, ENDS, are_of_box
from .faults import Features
from .groups import after, groups_of
from .images import Image
from .kind import Kind
from .parsed import Parsed
from .stored import Rule, Stored
from .stored_rows import Notes, StoredRows
from .stored_tensors import StoredTensors
from .tensorflow import tf

# Sums of float32 may be larger than those of what they were rounded from.
_ROUNDED = 1 + 1e-6


@dataclass(frozen=True)
class Boxes(Relation):
    """Boxes do not end before they begin.

    Attributes:
        fields: a list for each side, or one of items of four.
        sides: the name of each, in this order.
    """

    fields: tuple[Kind, ...]
    sides: tuple[str, ...]
    when_reading: ClassVar[bool] = True

    def faults(self, features: Features) -> Iterator[FieldFault]:
        yield from _faults(self._ordered(self.stored(features)))

    def check_parsed(self, parsed: Parsed) -> None:
        keys = [codec.key for codec in self.fields]
        stored = [StoredTensors(each.label, parsed[each.key]) for each in self.fields]
        if len(keys) > 1 and any(codec.optional for codec in self.fields):
            lengths = tf.stack([each.lengths for each in stored])
            alike = tf.reduce_all(lengths == lengths[0], axis=0)
            stored = [
                StoredTensors(each.label, tf.ragged.boolean_mask(each.tensor, alike))
                for each in stored
            ]
        found = self._ordered(stored)
        with tf.control_dependencies([each.values for each in found]):
            parsed.update({key: after(parsed[key]) for key in keys})

    def stored(self, features: Features) -> list[StoredRows]:
        """Return the records that have all sides, of equally many boxes."""
        columns = [
            features.column(codec.key, codec.parts[0].kind) for codec in self.fields
        ]
        there = features.among(columns[0].rows)
        lengths = [features.spread(each.rows, each.lengths) for each in columns]
        for column, own in zip(columns, lengths, strict=True):
            there &= features.among(column.rows) & (own == lengths[0])
            there &= own % (4 // len(columns)) == 0
        return [
            StoredRows(Notes(codec.label), column.only(there[column.rows]))
            for codec, column in zip(self.fields, columns, strict=True)
        ]

    def values(self, stored: Sequence[Stored]) -> dict[str, Any]:
        """Return the values of each side: [boxes]."""
        if len(stored) > 1:
            pairs = zip(self.sides, stored, strict=True)
            return {side: each.values for side, each in pairs}
        items = stored[0].xp.reshape(stored[0].values, (-1, 4))
        return {side: items[:, at] for at, side in enumerate(self.sides)}

    def refused(
        self, stored: Sequence[Any], right: Mapping[str, Any], what: str, expected: str
    ) -> list[Any]:
        """Refuse boxes with a wrong side.

        Args:
            stored: the sides.
            right: which boxes are right, by side: bool [boxes].
            what: what is wrong otherwise.
            expected: what is expected.
        """
        rule = Rule("SG533", what, expected)
        if len(stored) > 1:
            return [
                each.check(lambda values, side=side: right[side], rule)
                if side in right
                else each
                for side, each in zip(self.sides, stored, strict=True)
            ]
        xp, some = stored[0].xp, next(iter(right.values()))
        columns = [right.get(side, some | ~some) for side in self.sides]
        table = xp.stack(columns, axis=1)
        return [
            stored[0].check(lambda values: xp.reshape(table, xp.shape(values)), rule)
        ]

    def _ordered(self, stored: Sequence[Any]) -> list[Any]:
        values = self.values(stored)
        right, words = {}, []
        for side, begin in ENDS.items():
            if side not in values:
                continue
            is_end = side in ("xmax", "ymax")
            least = values[begin] if is_end else 0
            right[side] = ~(values[side] < least)  # NaN is a fault of its own
            words.append(f"{side} not below {begin if is_end else 0}")
        expected = " and ".join(words)
        return self.refused(stored, right, "box ends before it begins", expected)


@dataclass(frozen=True)
class BoxesInImage(Relation):
    """Boxes in pixels are inside of an image of their record.

    Attributes:
        boxes: the boxes.
        image: the image.
    """

    boxes: Boxes
    image: Image

    @property
    def fields(self) -> tuple[Kind, ...]:  # type: ignore[override]
        return (*self.boxes.fields, self.image)

    def faults(self, features: Features) -> Iterator[FieldFault]:
        rows, sizes = self.image.sizes_in(features)
        known = features.among(rows)
        table = np.zeros((len(known), 2), np.int64)
        table[rows] = sizes
        stored = [
            each.only(known[each.column.rows]) for each in self.boxes.stored(features)
        ]
        values, column = self.boxes.values(stored), stored[0].column
        counts = column.lengths // (4 // len(stored))
        heights, widths = np.repeat(table[column.rows], counts, axis=0).T * _ROUNDED
        right = {side: values[side] >= 0 for side in BEGINS}
        for side, begin in ENDS.items():
            if side in values:
                most = widths if begin == "xmin" else heights
                is_end = side in ("xmax", "ymax")
                # As floats, which do not overflow.
                end = values[side] + (0.0 if is_end else values[begin])
                right[side] = end <= most
        expected = f"boxes inside of the image {self.image.label!r}, in pixels"
        what = "box is outside of its image"
        yield from _faults(self.boxes.refused(stored, right, what, expected))


def _faults(stored: Sequence[StoredRows]) -> Iterator[FieldFault]:
    for each in stored:
        yield from (FieldFault(each.label, fault) for fault in each.notes.faults)


def boxes_of(codecs: Sequence[Kind]) -> Iterator[Relation]:
    """Yield the boxes of a record, and the images that they are inside of."""
    found = [
        Boxes((codec,), codec.box) for codec in codecs if isinstance(codec.box, tuple)
    ]
    for members in groups_of(codecs).values():
        columns = tuple(codec for codec in members if isinstance(codec.box, str))
        sides = tuple(codec.box for codec in columns)
        if are_of_box(sides):
            found.append(Boxes(columns, sides))
    images = {codec.label: codec for codec in codecs if isinstance(codec, Image)}
    for boxes in found:
        yield boxes
        image = images.get(boxes.fields[0].box_image or "")
        if image is not None:
            yield BoxesInImage(boxes, image)
