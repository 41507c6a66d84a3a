"""Segmentation masks: a class id for each pixel, as a PNG or as raw numbers."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared.dtypes import DTYPES
from ..shared.errors import Problem
from ..shared.images import PngHeader, encode_png, read_png_header
from ..shared.values import check_shape, described, shape_text
from . import graph, graph_images, graph_masks, pixels
from .changes import CLASSES, DTYPE, ENCODING, IGNORE, NUM_CLASSES, SHAPE, parameter
from .decoded import Form, Values
from .parsed import Parsed
from .pictures import Picture, advice_for
from .stored import Rule
from .stored_rows import StoredRows
from .tensorflow import tf


@dataclass(eq=False, kw_only=True)
class Mask(Picture):
    """A class id for each pixel, [height, width]. Ids are never scaled.

    Attributes:
        shape: (height, width); None for a size that varies.
        encoding: "png", or "raw" for little-endian numbers, row by row.
        dtype: of the ids.
        num_classes: ids go from 0 to num_classes - 1; None for any of the dtype.
        classes: the names in the order of their ids; may be empty.
        ignore: one more id, of pixels that do not count; a missing mask has no other.
    """

    shape: tuple[int | None, int | None] = parameter(*SHAPE)
    encoding: str = parameter(*ENCODING, default="png")
    dtype: str = parameter(*DTYPE, default="uint8")
    num_classes: int | None = parameter(*NUM_CLASSES, default=None)
    classes: tuple[str, ...] = parameter(*CLASSES, default=())
    ignore: int | None = parameter(*IGNORE, default=None)

    def __post_init__(self) -> None:
        self.num_classes = self.num_classes or len(self.classes) or None
        super().__post_init__()

    @property
    def stored_dtype(self) -> str:
        return self.dtype

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

    @property
    def in_band(self) -> bool:
        return self.ignore is not None

    def convert(self, value: Any) -> bytes | NDArray[Any]:
        if isinstance(value, bytes) and not self._raw:
            self.check_encoded(value)
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
        header = read_png_header(data)
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

    def _checked_pixels(self, found: StoredRows) -> StoredRows:
        if self._any_id:
            return found
        passed = found.raw(self.dtype).check(
            self._right,
            Rule("SG527", "class id out of range", self.ids_text),
            found=lambda value: f"class id {value}",
        )
        return found.only(found.among(passed))

    @property
    def absent(self) -> Any:
        return self.ignore or 0

    def delivered(self, values: Values, form: Form) -> Values:
        if self._raw:
            ids = values if self.resize is None else list(map(self._resized, values))
        elif form.images:
            ids = pixels.each(self._ids_of, list(values))
        else:
            return values
        if None in self.delivered_shape or not isinstance(ids, list):
            return ids
        size: Any = (0, *self.delivered_shape)
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
        return tf.ensure_shape(ids, (data.shape[0], *self.delivered_shape))

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
