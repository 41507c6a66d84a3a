"""Segmentation masks: a class id for each pixel, as a PNG or as raw numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import Problem
from ..shared.png import PngHeader, encode_png, read_png_header
from ..shared.values import Numbers, check_shape, described, shape_text
from ..shared.wire import BYTES_LIST, Pieces
from .base import Compound, Feature
from .columns import buffer_of
from .tensor import Tensor
from .text import Text


class Mask(Feature):
    """A class id for each pixel. Arrays are encoded, encoded bytes are kept.

    Args:
        name: the field's name.
        key: the feature's key in the Example.
        shape: (height, width); None for a size that may vary.
        encoding: "png", or "raw" for little-endian numbers, row by row.
        dtype: of the ids.
        num_classes: ids go from 0 to num_classes - 1; None for any of the dtype.
        ignore: one more id, of pixels that do not count.
        optional: whether None is allowed.
    """

    def __init__(
        self,
        name: str,
        *,
        key: str,
        shape: tuple[int | None, int | None],
        encoding: str = "png",
        dtype: str = "uint8",
        num_classes: int | None = None,
        ignore: int | None = None,
        optional: bool = False,
    ) -> None:
        super().__init__(name, key, BYTES_LIST, optional=optional)
        self._shape = shape
        self._png = encoding == "png"
        self._numbers = Numbers(dtype)
        self._num_classes = num_classes
        self._ignore = ignore

    def convert(self, value: Any) -> bytes | NDArray[Any]:
        if isinstance(value, bytes) and self._png:
            self._check_encoded(value)
            return value
        if not isinstance(value, np.ndarray):
            raise Problem(described(value), self._expected())
        ids = self._numbers.convert(value)
        if ids.ndim == 3 and ids.shape[2] == 1:
            ids = ids[:, :, 0]
        check_shape(ids, self._shape)
        if not ids.size:
            raise Problem("a mask without pixels", "at least one pixel")
        self._check_ids(ids)
        return ids

    def _expected(self) -> str:
        array = f"an array of ids, {self._numbers.dtype} {shape_text(self._shape)}"
        return f"the bytes of a png image or {array}" if self._png else array

    def _check_ids(self, ids: NDArray[Any]) -> None:
        count = self._num_classes
        if count is None or (ids.max() < count and ids.min() >= 0):
            return
        wrong = (ids < 0) | (ids >= count)
        expected = f"class ids from 0 to {count - 1}"
        if self._ignore is not None:
            wrong &= ids != self._ignore
            expected += f", or {self._ignore} to be ignored"
        if wrong.any():
            row, column = np.argwhere(wrong)[0].tolist()
            found = f"class id {ids[row, column]} at {[row, column]}"
            raise Problem(found, expected)

    def _check_encoded(self, data: bytes) -> None:
        """Compare what the header says with what readers will ask for."""
        header = read_png_header(data)
        if self._numbers.dtype == "uint16":
            fits, expected = header.grey and header.bits == 16, "a grey PNG of 16 bits"
        else:
            fits = header.palette or (header.grey and header.bits == 8)
            expected = "a grey PNG of 8 bits, or one with a palette"
        if not fits:
            raise Problem(str(header), expected, _advice(header))
        height, width = self._shape
        if height not in (None, header.height) or width not in (None, header.width):
            found = shape_text((header.height, header.width))
            raise Problem(
                f"a mask of shape {found}", f"shape {shape_text(self._shape)}"
            )

    def _pieces(self, value: Any) -> Pieces:
        mask = self.convert(value)
        if not isinstance(mask, bytes):
            if self._png:
                mask = encode_png(mask[:, :, np.newaxis])
            else:
                raw = buffer_of(self._numbers.raw(mask))
                return self._entry.packed_head(len(raw)), raw
        return self._entry.packed_head(len(mask)), mask


class DescribedMask(Compound):
    """A mask with its height, width and encoding under keys of their own.

    Args:
        name: the field's name.
        height_key: the key of the height in pixels; None if it is not stored.
        width_key: the key of the width in pixels; None if it is not stored.
        format_key: the key of the encoding's name; None if it is not stored.
        encoding: "png" or "raw".
        mask: what else a Mask is told.
    """

    def __init__(
        self,
        name: str,
        *,
        height_key: str | None = None,
        width_key: str | None = None,
        format_key: str | None = None,
        encoding: str = "png",
        **mask: Any,
    ) -> None:
        keys = (height_key, width_key)
        ids = Mask(name, encoding=encoding, **mask)
        sizes = [Tensor(name, key=key, shape=(), dtype="int64") for key in keys if key]
        form = [Text(name, key=format_key)] if format_key else []
        super().__init__(name, ids, *sizes, *form, optional=ids.optional)
        self._stored = [at for at, key in enumerate(keys) if key]
        self._form = [encoding] * len(form)

    def convert(self, value: Any) -> Any:
        return self.parts[0].convert(value)

    def split(self, value: Any) -> Sequence[Any]:
        if isinstance(value, bytes):
            header = read_png_header(value)
            sizes = (header.height, header.width)
        else:
            sizes = value.shape
        return (value, *(sizes[at] for at in self._stored), *self._form)


def _advice(header: PngHeader) -> str:
    if header.grey:
        return "give the ids as an array, to be encoded"
    return "colours are no class ids; give these as an array"
