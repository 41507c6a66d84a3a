"""Segmentation masks: a class id for each pixel, as a PNG or as raw numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import Problem
from ..shared.images import PngHeader, encode_png, read_png_header
from ..shared.values import Numbers, check_shape, described, shape_text
from ..shared.wire import Buffer
from .base import BytesFeature
from .columns import buffer_of
from .image import DescribedPicture, in_place_of


@dataclass(eq=False, kw_only=True)
class Mask(BytesFeature):
    """A class id for each pixel. Arrays are encoded, encoded bytes are kept.

    Attributes:
        shape: (height, width); None for a size that may vary.
        encoding: "png", or "raw" for little-endian numbers, row by row.
        dtype: of the ids.
        num_classes: ids go from 0 to num_classes - 1; None for any of the dtype.
        ignore: one more id, of pixels that do not count.
    """

    shape: tuple[int | None, int | None]
    encoding: str = "png"
    dtype: str = "uint8"
    num_classes: int | None = None
    ignore: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._png = self.encoding == "png"
        self._numbers = Numbers(self.dtype)

    def convert(self, value: Any) -> bytes | NDArray[Any]:
        if isinstance(value, bytes) and self._png:
            self._check_encoded(value)
            return value
        if not isinstance(value, np.ndarray):
            raise Problem(described(value), self._expected(), in_place_of(value))
        ids = self._numbers.convert(value)
        if ids.ndim == 3 and ids.shape[2] == 1:
            ids = ids[:, :, 0]
        check_shape(ids, self.shape)
        if not ids.size:
            raise Problem("a mask without pixels", "at least one pixel")
        self._check_ids(ids)
        return ids

    def _expected(self) -> str:
        array = f"an array of ids, {self.dtype} {shape_text(self.shape)}"
        return f"the bytes of a png image or {array}" if self._png else array

    def _check_ids(self, ids: NDArray[Any]) -> None:
        count = self.num_classes
        if count is None or (ids.max() < count and ids.min() >= 0):
            return
        wrong = (ids < 0) | (ids >= count)
        expected = f"class ids from 0 to {count - 1}"
        if self.ignore is not None:
            wrong &= ids != self.ignore
            expected += f", or {self.ignore} to be ignored"
        if wrong.any():
            row, column = np.argwhere(wrong)[0].tolist()
            found = f"class id {ids[row, column]} at {[row, column]}"
            raise Problem(found, expected)

    def _check_encoded(self, data: bytes) -> None:
        """Compare what the header says with what readers will ask for."""
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
            raise Problem(f"a mask of shape {found}", f"shape {shape_text(self.shape)}")

    def contents(self, mask: bytes | NDArray[Any]) -> Buffer:
        """Return a converted value as the bytes that are stored."""
        if isinstance(mask, bytes):
            return mask
        if self._png:
            return encode_png(mask[:, :, np.newaxis])
        return buffer_of(self._numbers.raw(mask))


class DescribedMask(DescribedPicture):
    """A mask with its height, width and encoding under keys of their own.

    Args:
        name: the field's name.
        height_key: the key of the height in pixels; None if it is not stored.
        width_key: the key of the width in pixels; None if it is not stored.
        format_key: the key of the encoding's name; None if it is not stored.
        mask: the other attributes of the Mask.
    """

    def __init__(
        self,
        name: str,
        *,
        height_key: str | None = None,
        width_key: str | None = None,
        format_key: str | None = None,
        **mask: Any,
    ) -> None:
        ids = Mask(name, **mask)
        super().__init__(
            ids,
            raw=ids.encoding == "raw",
            size_keys=(height_key, width_key),
            format_key=format_key,
        )


def _advice(header: PngHeader) -> str:
    if header.grey:
        return "give the ids as an array, to be encoded"
    return "colours are no class ids; give these as an array"
