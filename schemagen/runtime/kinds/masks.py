"""Segmentation masks: a class id for each pixel, as a PNG or as raw numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from math import prod
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from ..cells.checks import Check, Checks
from ..cells.decoded import Form, Values
from ..cells.delivered import Delivered, Mark
from ..images import graph_images, graph_masks, pixels
from ..images.formats import header_of
from ..images.headers import PngHeader, encode_png, first_chunk_of_png
from ..shared.dtypes import DTYPES
from ..shared.errors import Problem
from ..shared.requirements import lazy_tf as tf
from ..shared.values import check_shape, described, shape_text
from ..tensorflow import graph
from ..tensorflow.parsed import Parsed
from .augment import Augmentation, crop_problems
from .changes import CLASSES, DTYPE, ENCODING, IGNORE, KEY, NUM_CLASSES, RESIZING, SHAPE
from .classes import Names, Renamed, class_name_problems
from .kind import Default
from .parameters import HeightAndWidth, Name, OneOf, Size, declared, parameter
from .pictures import Picture, advice_for, read_size

MaskShape = Annotated[
    tuple[Size | None, Size | None], "(height, width) in pixels, such as (224, 224)"
]


@declared
class Mask(Picture):
    """A class id for each pixel of a picture, [height, width]. Ids are never scaled.

    Its default role is target, or info if any id is allowed.

    Attributes:
        shape: (height, width). None for any size, of a PNG, or of raw ids with the
            size under keys of its own.
        num_classes: how many classes there are; None for any id, such as the ids of
            single things.
        classes: the classes' names in the order of their ids.
        encoding: "png" stores a grey PNG, and keeps PNGs with a palette, whose
            indices are the ids; "raw" stores little-endian ids, row by row.
        dtype: of the ids.
        ignore: the id of pixels that do not count, such as 255. A missing mask has
            no other.
        resize: (height, width) to which masks are brought when read, by the
            nearest pixel.
        height_key: the key of the height in pixels, if it is stored.
        width_key: the key of the width in pixels, if it is stored.
        format_key: the key of the encoding's name, "png" or "raw", if it is stored.
        own_size: the mask may have another size than the image of its record.
        augment: the flips and the crop of the picture in training.
        renamed: from the names that classes had in earlier data to those of today.
    """

    shape: MaskShape = parameter(*SHAPE)
    num_classes: Size | None = parameter(*NUM_CLASSES, default=None)
    classes: Names | None = parameter(*CLASSES, default=(), omit_default=True)
    encoding: Literal["png", "raw"] = parameter(*ENCODING, default="png")
    dtype: Annotated[str, OneOf(("uint8", "uint16", "int32"))] = parameter(
        *DTYPE, default="uint8"
    )
    ignore: int | None = parameter(*IGNORE, default=None, omit_default=True)
    resize: HeightAndWidth | None = parameter(
        *RESIZING, default=None, omit_default=True
    )
    height_key: Name | None = parameter(*KEY, default=None, omit_default=True)
    width_key: Name | None = parameter(*KEY, default=None, omit_default=True)
    format_key: Name | None = parameter(default=None, omit_default=True)
    own_size: bool = parameter(default=False, omit_default=True)
    augment: Augmentation | None = parameter(default=None, omit_default=True)
    renamed: Renamed = parameter(default=(), omit_default=True)

    kind: ClassVar[str] = "Mask"
    has_head: ClassVar[bool] = True
    takes_default: ClassVar[Default] = "none"
    holds: ClassVar[str] = "np.ndarray, or bytes if it is a PNG"

    @property
    def count(self) -> int | None:
        """How many classes there are; None if any id is allowed."""
        return len(self.classes) if self.classes else self.num_classes

    def rules(self) -> Iterator[Problem]:
        yield from super().rules()
        if self.encoding == "raw":
            yield from self.size_problems()
        elif self.dtype == "int32":
            yield Problem("dtype='int32' with encoding='png'", "uint8 or uint16")
        yield from crop_problems(self.augment, read_size(self))
        if self.augment and self.augment.recolors:
            yield Problem(
                "brightness or contrast of class ids",
                "flips and crop",
                "declare them in the augment= of the image alone",
            )
        yield from class_name_problems(self)
        low, high = DTYPES[self.dtype].bounds or (0, 0)
        ids = (self.ignore or 0, (self.count or 1) - 1)
        if not all(low <= each <= high for each in ids):
            yield Problem(
                f"num_classes={self.count} and ignore={self.ignore}",
                f"ids that {self.dtype} holds, {low} to {high}",
            )

    def resolved(self, name: str) -> Self:
        classes, count = self.classes or (), self.count
        return replace(super().resolved(name), classes=classes, num_classes=count)

    def _right(self, ids: Any) -> Any:
        """Return which ids are allowed, of an array or a tensor."""
        if self.num_classes is None:
            return ids >= 0
        right = (ids >= 0) & (ids < self.num_classes)
        return right if self.ignore is None else right | (ids == self.ignore)

    @property
    def _any_id(self) -> bool:
        """Whether any id of the dtype is allowed."""
        count, (_, most) = self.num_classes, DTYPES[self.dtype].bounds or (0, 0)
        return count is None or count > most

    @property
    def ids_text(self) -> str:
        """The allowed ids, in words."""
        if self.num_classes is None:
            return "any ids"
        words = f"class ids from 0 to {self.num_classes - 1}"
        if self.ignore is None:
            return words
        return f"{words}, or {self.ignore} to be ignored"

    @cached_property
    def delivered(self) -> Delivered:
        mark: Mark = "mask" if self.ignore is None else "value"
        return self._delivers_pixels(mark=mark, absent=self.ignore or 0)

    def convert(self, value: Any) -> bytes | NDArray[Any]:
        if isinstance(value, bytes) and not self._raw:
            return value
        if not isinstance(value, np.ndarray):
            expected = "" if self._raw else "the bytes of a png image or "
            array = f"an array of ids, {self.dtype} {shape_text(self.shape)}"
            raise Problem(described(value), f"{expected}{array}", advice_for(value))
        return self._checked_ids(self._numbers.convert(value))

    def _checked_ids(self, ids: NDArray[Any]) -> NDArray[Any]:
        if ids.ndim == 3 and ids.shape[2] == 1:
            ids = ids[:, :, 0]
        check_shape(ids, self.shape)
        if not ids.size:
            raise Problem("a mask without pixels", "at least one pixel")
        if not self._any_id and not (right := self._right(ids)).all():
            at = tuple(np.argwhere(~right)[0].tolist())
            raise Problem(f"class id {ids[at]} at {list(at)}", self.ids_text)
        return ids

    def check_encoded(self, data: bytes) -> None:
        header_of(data, "png")
        header = first_chunk_of_png(data)
        if self.dtype == "uint16":
            fits, expected = header.grey and header.bits == 16, "a grey PNG of 16 bits"
        else:
            fits = header.palette or (header.grey and header.bits == 8)
            expected = "a grey PNG of 8 bits, or one with a palette"
        if not fits:
            raise Problem(str(header), expected, _advice(header))
        height, width = self.shape
        if height not in (None, header.height) or width not in (None, header.width):
            found = shape_text((header.height, header.width))
            expected = f"shape {shape_text(self.shape)}"
            raise Problem(f"a mask of shape {found}", expected)

    def encoded(self, pixels: NDArray[Any]) -> bytes:
        return encode_png(pixels[:, :, np.newaxis])

    def checks_of_pixels(self) -> Checks:
        if self._any_id:
            return ()
        return (
            Check(
                "SG527",
                "class id out of range",
                self.ids_text,
                lambda cells, *_: self._right(cells.values),
                dtype=self.dtype,
                found=lambda value: f"class id {value}",
            ),
        )

    def in_form(self, values: Values, form: Form) -> Values:
        if self._raw:
            ids = values if self.resize is None else list(map(self._resized, values))
        elif form.images:
            ids = pixels.each(self._ids_of, list(values))
        else:
            return values
        shape = self.delivered.shape
        if None in shape or not isinstance(ids, list):
            return ids
        size: Any = (0, *shape)
        return np.stack(ids) if ids else np.empty(size, self.dtype)

    def _ids_of(self, data: bytes) -> NDArray[Any]:
        ids = pixels.decode_ids(data).astype(self.dtype)
        if not self._any_id and not (right := self._right(ids)).all():
            raise ValueError(f"found {ids[~right][0]}, expected {self.ids_text}")
        return self._resized(ids)

    def _resized(self, ids: NDArray[Any]) -> NDArray[Any]:
        if self.resize is None:
            return ids
        return pixels.resized(ids[:, :, np.newaxis], self.resize, "nearest")[:, :, 0]

    def decoded(self, parsed: Parsed) -> Any:
        data = self.parts[0].tensor(parsed, self.label)
        dtype = tf.as_dtype(self.dtype)
        ids = self._parsed_ids(data, dtype, parsed)
        if not self._any_id:
            ids = self._checked_tensor(ids)
        if self.optional and self.ignore:
            there = tf.reshape(data != "", (-1, 1, 1))
            ids = tf.where(there, ids, tf.constant(self.ignore, dtype))
        return tf.ensure_shape(ids, (data.shape[0], *self.delivered.shape))

    def _checked_tensor(self, ids: Any) -> Any:
        right = self._right(ids)
        wrong = tf.cond(  # which ones they are is looked up only if there are some
            tf.reduce_all(right),
            lambda: tf.zeros((0,), ids.dtype),
            lambda: tf.unique(tf.boolean_mask(ids, ~right))[0],
        )
        message = f"field {self.label!r}: expected {self.ids_text}, found"
        return graph.checked(ids, tf.size(wrong) == 0, message, wrong)

    def _parsed_ids(self, data: Any, dtype: Any, parsed: Parsed) -> Any:
        if not self._raw:
            return graph_masks.decode_masks(
                data, self.label, self.shape, dtype, self.resize, optional=self.optional
            )
        if None in self.shape:
            images = graph_images.decode_pixels(
                data,
                self.label,
                dtype,
                (*self.shape, 1),
                self.resize,
                "nearest",
                **self._sizes_in(parsed),
                optional=self.optional,
            )
            return images[..., 0]
        if self.optional:
            blank = bytes(prod(size or 0 for size in self.shape) * dtype.size)
            data = tf.where(data == "", blank, data)
        ids = graph.decode_raw(data, self.label, dtype, (*self.shape, 1))
        if self.resize is not None:
            ids = graph_images.resized(ids, self.resize, "nearest")
        return ids[..., 0]


def _advice(header: PngHeader) -> str:
    if header.grey:
        return "give the ids as an array, to be encoded"
    return "colours are not class ids; give the ids as an array"
