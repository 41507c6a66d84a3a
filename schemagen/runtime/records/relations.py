"""What the fields of one record have to be to each other: boxes, and masks of images.

The lengths of groups are checked in `groups`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..cells import in_numpy as stored_rows
from ..cells import in_tensorflow as stored_tensors
from ..cells.cells import Cells
from ..cells.checks import Check
from ..cells.columns import Column, Rows
from ..cells.faults import Fault, Features
from ..cells.in_numpy import ArrayCells, Notes
from ..cells.in_tensorflow import TensorCells
from ..cells.part import BYTES, Part
from ..cells.written import RawRows, Written, column_of_written, joined
from ..kinds.box_sides import BEGINS, ENDS, are_of_box, box_of
from ..kinds.images import Image
from ..kinds.kind import Kind
from ..kinds.masks import Mask
from ..kinds.numbers import NumbersKind
from ..shared.errors import RecordError
from ..shared.requirements import lazy_tf as tf
from ..shared.values import shape_text
from ..tensorflow.parsed import Parsed
from .groups import after, groups_of

# Sums of float32 may be larger than those of what they were rounded from.
ROUNDED = 1 + 1e-6


class FieldFault(NamedTuple):
    """A fault and the field that it is in; "" for the whole record."""

    field: str
    fault: Fault


class Relation:
    """A check between the fields of a record, of what is stored.

    Writers and `verify` do all checks.

    Attributes:
        fields: the fields that it compares.
        when_reading: whether readers do it too.
    """

    fields: tuple[Kind, ...]
    when_reading: ClassVar[bool] = False

    def faults(self, features: Features) -> Iterator[FieldFault]:
        """Yield what is wrong with some records."""
        raise NotImplementedError

    def check_parsed(self, parsed: Parsed) -> None:
        """Refuse a batch with a wrong record, where readers do the check."""


@dataclass(frozen=True)
class GivenFeatures(Features):
    """What rows will have under some keys, before they are written.

    Attributes:
        given: the rows that have one value of bytes under a key, and these; pictures may
            be pixels.
    """

    given: Mapping[str, tuple[Rows, Sequence[Any]]] = field(default_factory=dict)

    def contents(self, key: str) -> tuple[Rows, Iterable[Any]]:
        return self.given.get(key, (np.empty(0, np.int64), ()))


def features_of(written: Iterable[tuple[Part, Written]], count: int) -> GivenFeatures:
    """Return what some rows have in each part, given what is written there."""
    by_key: dict[str, tuple[Column, ...]] = {}
    given: dict[str, tuple[Rows, Sequence[Any]]] = {}
    for part, each in written:
        if each.steps is not None:
            continue
        if part.stored == BYTES:
            rows = np.flatnonzero(np.broadcast_to(each.counts, count) >= 0)
            values = each.values
            given[part.key] = rows, () if isinstance(values, RawRows) else [*values]
        else:
            by_key[part.key] = (column_of_written(part, each, count),)
    return GivenFeatures(np.ones(count, np.bool_), by_key, given=given)


def features_of_row(values: Iterable[tuple[Kind, Any]]) -> GivenFeatures:
    """Return what one row will have, given the value of each field; None for none."""
    written: list[tuple[Part, Written]] = []
    for codec, value in values:
        if value is None:
            continue
        if codec.parts[0].is_media:  # pixels are not encoded for it
            written.append((codec.parts[0], Written([codec.convert(value)])))
        else:
            pairs = zip(codec.parts, codec.store(value), strict=True)
            written += [(part, joined(part, [stored])) for part, stored in pairs]
    return features_of(written, 1)


def refuse_faults(
    relations: Iterable[Relation], features: Features, rows: Sequence[int | None]
) -> None:
    """Refuse rows whose fields do not go together.

    Args:
        relations: what they have to be to each other.
        features: of the rows.
        rows: their positions, for errors.

    Raises:
        RecordError: naming the first row that is wrong in the first of the checks.
    """
    for relation in relations:
        for label, fault in relation.faults(features):
            raise RecordError.of(fault.problem, label, rows[int(fault.rows[0])])


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
        stored = [TensorCells(each.label, parsed[each.key]) for each in self.fields]
        if len(keys) > 1 and any(codec.optional for codec in self.fields):
            lengths = tf.stack([each.lengths for each in stored])
            alike = tf.reduce_all(lengths == lengths[0], axis=0)
            stored = [
                TensorCells(each.label, tf.ragged.boolean_mask(each.tensor, alike))
                for each in stored
            ]
        found = self._ordered(stored)
        with tf.control_dependencies([each.values for each in found]):
            parsed.update({key: after(parsed[key]) for key in keys})

    def stored(self, features: Features) -> list[ArrayCells]:
        """Return the records that have all sides, of equally many boxes."""
        columns = [
            features.column(codec.key, codec.parts[0].kind) for codec in self.fields
        ]
        there = features.mask_of(columns[0].rows)
        lengths = [features.spread(each.rows, each.lengths) for each in columns]
        for column, own in zip(columns, lengths, strict=True):
            there &= features.mask_of(column.rows) & (own == lengths[0])
            there &= own % (4 // len(columns)) == 0
        return [
            ArrayCells(Notes(codec.label), column.only(there[column.rows]))
            for codec, column in zip(self.fields, columns, strict=True)
        ]

    def values(self, stored: Sequence[Cells]) -> dict[str, Any]:
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
        if len(stored) > 1:
            return [
                _checked(each, right[side], what, expected) if side in right else each
                for side, each in zip(self.sides, stored, strict=True)
            ]
        xp, some = stored[0].xp, next(iter(right.values()))
        columns = [right.get(side, some | ~some) for side in self.sides]
        table = xp.reshape(xp.stack(columns, axis=1), xp.shape(stored[0].values))
        return [_checked(stored[0], table, what, expected)]

    def _ordered(self, stored: Sequence[Any]) -> list[Any]:
        values = self.values(stored)
        right, words = {}, []
        for side, begin in ENDS.items():
            if side not in values:
                continue
            is_end = side in ("xmax", "ymax")
            least = values[begin] if is_end else 0
            # NaN is a fault of its own. Graphs make >= of ~(<), which refuses it.
            unknown = map(stored[0].are_nan, (values[side], values[begin]))
            right[side] = reduce(or_, unknown, values[side] >= least)
            words.append(f"{side} not below {begin if is_end else 0}")
        expected = " and ".join(words)
        return self.refused(stored, right, "box ends before it begins", expected)


def _checked(stored: Any, right: Any, what: str, expected: str) -> Any:
    """Refuse numbers of boxes, in numpy or TensorFlow, given which are right."""
    check = Check("SG533", what, expected, lambda cells: right)
    is_numpy = isinstance(stored, ArrayCells)
    module = stored_rows if is_numpy else stored_tensors
    (found,) = module.checked((stored,), check)
    return found


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
        known = features.mask_of(rows)
        table = np.zeros((len(known), 2), np.int64)
        table[rows] = sizes
        stored = [
            each.only(known[each.column.rows]) for each in self.boxes.stored(features)
        ]
        values, column = self.boxes.values(stored), stored[0].column
        counts = column.lengths // (4 // len(stored))
        heights, widths = np.repeat(table[column.rows], counts, axis=0).T * ROUNDED
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


def _faults(stored: Sequence[ArrayCells]) -> Iterator[FieldFault]:
    for each in stored:
        yield from (FieldFault(each.label, fault) for fault in each.notes.faults)


def boxes_of(codecs: Sequence[Kind]) -> Iterator[Relation]:
    """Yield the boxes of a record, and the images that they are inside of."""
    found = [
        (Boxes((codec,), box.sides), box.image)
        for codec in codecs
        if (box := box_of(codec)) and len(box.sides) == 4
    ]
    for members in groups_of(codecs).values():
        single = [
            (codec, box)
            for codec in members
            if (box := box_of(codec)) and len(box.sides) == 1
        ]
        columns = tuple(codec for codec, _ in single)
        sides = tuple(box.sides[0] for _, box in single)
        if are_of_box(sides):
            found.append((Boxes(columns, sides), single[0][1].image))
    images = {codec.label: codec for codec in codecs if isinstance(codec, Image)}
    for boxes, inside in found:
        yield boxes
        image = images.get(inside or "")
        if image is not None:
            yield BoxesInImage(boxes, image)


def scale_boxes(codecs: Sequence[Kind]) -> None:
    """Give boxes that readers scale the image that they are scaled with."""
    images = {codec.label: codec for codec in codecs if isinstance(codec, Image)}
    for codec in codecs:
        box = box_of(codec)
        image = images.get(box.image or "") if box and box.scaled else None
        if image is not None and image.resize and isinstance(codec, NumbersKind):
            codec.image, image.measured = image, True


@dataclass(frozen=True)
class MaskOfImage(Relation):
    """A mask has the height and width of the image of its record, as both are stored.

    Attributes:
        mask: the mask.
        image: the image. A record without it is not compared.
    """

    mask: Mask
    image: Image

    @property
    def fields(self) -> tuple[Kind, ...]:  # type: ignore[override]
        return (self.mask, self.image)

    def faults(self, features: Features) -> Iterator[FieldFault]:
        tables = []
        for picture in (self.mask, self.image):
            table = np.zeros((len(features.live), 2), np.int64)
            rows, sizes = picture.sizes_in(features)
            table[rows] = sizes
            tables.append(table)
        own, other = tables
        there = (own > 0).all(axis=1) & (other > 0).all(axis=1)
        wrong = np.flatnonzero(there & (own != other).any(axis=1))

        def found(at: int) -> str:
            mask, image = (shape_text(tuple(t[wrong[at]].tolist())) for t in tables)
            return f"a mask of {mask}, and an image of {image}"

        if len(wrong):
            fault = Fault(
                "SG534",
                "mask has another size than its image",
                f"the height and width of {self.image.label!r}",
                wrong,
                found,
                lambda at: "declare own_size=True if it has a size of its own",
                self.mask.key,
            )
            yield FieldFault(self.mask.label, fault)


def image_of(mask: Mask, codecs: Iterable[Kind]) -> Image | None:
    """Return the image that a mask of a record has to be as large as.

    It is the only one, of those whose declared size the mask can have.
    """
    images = [
        codec
        for codec in codecs
        if isinstance(codec, Image)
        and all(
            None in pair or pair[0] == pair[1]
            for pair in zip(mask.shape, codec.shape[:2], strict=True)
        )
    ]
    return images[0] if len(images) == 1 and not mask.own_size else None


def masks_of_images(codecs: Sequence[Kind]) -> Iterator[MaskOfImage]:
    """Yield the masks of a record that have to be as large as an image."""
    for mask in codecs:
        if not isinstance(mask, Mask):
            continue
        image = image_of(mask, codecs)
        if image is not None and None in (*mask.shape, *image.shape[:2]):
            yield MaskOfImage(mask, image)


def relations_of(codecs: Sequence[Kind]) -> tuple[Relation, ...]:
    """Return what fields of a record have to be to each other, beyond groups."""
    return (*masks_of_images(codecs), *boxes_of(codecs))
