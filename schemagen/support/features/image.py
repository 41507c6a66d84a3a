"""Images that are stored encoded, as JPEG or PNG."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Problem
from ..images import encode, read_header
from ..values import Numbers, check_shape, described, shape_text
from ..wire import BYTES_LIST, Pieces
from .base import Feature

_PIXELS = Numbers("uint8")


class EncodedImage(Feature):
    """An encoded image. Pixels are encoded (with Pillow), encoded bytes are kept.

    Args:
        name: the field's name.
        key: the feature's key in the Example.
        shape: (height, width, channels); None for a size that may vary.
        encoding: "jpeg" or "png".
        optional: whether None is allowed.
    """

    def __init__(
        self,
        name: str,
        *,
        key: str,
        shape: tuple[int | None, int | None, int],
        encoding: str,
        optional: bool = False,
    ) -> None:
        super().__init__(name, key, BYTES_LIST, optional=optional)
        self._shape = shape
        self._encoding = encoding

    def convert(self, value: Any) -> bytes | NDArray[np.uint8]:
        if isinstance(value, bytes):
            self._check_encoded(value)
            return value
        if not isinstance(value, np.ndarray):
            raise Problem(
                described(value),
                f"the bytes of a {self._encoding} image or an array of its pixels",
            )
        pixels = _PIXELS.convert(value)
        check_shape(pixels, self._shape)
        if not pixels.size:
            raise Problem("an image without pixels", "at least one pixel")
        return pixels

    def _check_encoded(self, data: bytes) -> None:
        """Compare what the header says with what readers will ask for.

        Readers turn grey into RGB and add an opaque alpha channel, both without
        loss. The reverse would lose something and is refused.
        """
        header = read_header(data, self._encoding)
        height, width, channels = self._shape
        # tensorflow makes a wrong alpha channel for grey of fewer bits.
        if header.bits > 8 or (header.bits < 8 and channels == 4):
            raise Problem(f"{header.bits} bits a channel", "8 bits a channel")
        found = (header.height, header.width, header.channels)
        fits = header.channels <= channels and header.channels != 2
        if height not in (None, found[0]) or width not in (None, found[1]) or not fits:
            raise Problem(
                f"an image of shape {shape_text(found)}",
                f"shape {shape_text(self._shape)}",
            )

    def _pieces(self, value: Any) -> Pieces:
        image = self.convert(value)
        data = image if isinstance(image, bytes) else encode(image, self._encoding)
        return self._entry.packed_head(len(data)), data

    def _column(self, values: Any, rows: int) -> list[Pieces]:
        return [self._pieces(value) for value in values]
