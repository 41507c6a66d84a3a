"""Lists of encoded images in one feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import Problem
from ..shared.values import check_shape, described
from ..shared.wire import Pieces
from .base import Feature, of_each
from .image import EncodedImage


@dataclass(eq=False, kw_only=True)
class EncodedImages(Feature):
    """A list of encoded images: a value of one bytes list for each.

    Attributes:
        shape: of each, (height, width, channels); None for a size that may vary.
        encoding: as for EncodedImage.
        count: how many there are, or None for any number from 0.
        max_count: the most there may be, or None.
    """

    shape: tuple[int | None, int | None, int]
    encoding: str
    count: int | None = None
    max_count: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._one = EncodedImage(
            self.name, key=self.key, shape=self.shape, encoding=self.encoding
        )

    def convert(
        self, value: Any
    ) -> list[bytes | NDArray[np.uint8]] | NDArray[np.uint8]:
        if isinstance(value, np.ndarray):
            check_shape(value, (None, *self.shape))
        elif not isinstance(value, (list, tuple)):
            raise Problem(
                described(value), "a list of images, or an array [N, H, W, C]"
            )
        count = len(value)
        if self.count not in (None, count):
            raise Problem(f"{count} images", str(self.count))
        if self.max_count is not None and count > self.max_count:
            raise Problem(f"{count} images", f"at most {self.max_count}")
        pictures = of_each(self._one.convert, value)
        return value if isinstance(value, np.ndarray) else pictures

    def _pieces(self, value: Any) -> Pieces:
        return self._entry.listing(of_each(self._one.contents, self.convert(value)))
