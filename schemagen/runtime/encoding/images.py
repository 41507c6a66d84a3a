"""Lists of encoded images in one feature."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import Problem
from ..shared.values import check_shape, described
from ..shared.wire import BYTES_LIST, Pieces, bytes_list
from .base import Feature
from .image import EncodedImage

Pictures = list[bytes | NDArray[np.uint8]] | NDArray[np.uint8]


class EncodedImages(Feature):
    """A list of encoded images: a value of one bytes list for each.

    Args:
        name: the field's name.
        key: the feature's key in the Example.
        shape: of each, (height, width, channels); None for a size that may vary.
        encoding: as for EncodedImage.
        count: how many there are, or None for any number from 0.
        max_count: the most there may be, or None.
        optional: whether None is allowed; an empty list is a value of its own.
    """

    def __init__(
        self,
        name: str,
        *,
        key: str,
        shape: tuple[int | None, int | None, int],
        encoding: str,
        count: int | None = None,
        max_count: int | None = None,
        optional: bool = False,
    ) -> None:
        super().__init__(name, key, BYTES_LIST, optional=optional)
        self._one = EncodedImage(name, key=key, shape=shape, encoding=encoding)
        self._shape = shape
        self._count = count
        self._max_count = max_count

    def convert(self, value: Any) -> Pictures:
        if isinstance(value, np.ndarray):
            check_shape(value, (None, *self._shape))
        elif not isinstance(value, (list, tuple)):
            raise Problem(
                described(value), "a list of images, or an array [N, H, W, C]"
            )
        count = len(value)
        if self._count not in (None, count):
            raise Problem(f"{count} images", str(self._count))
        if self._max_count is not None and count > self._max_count:
            raise Problem(f"{count} images", f"at most {self._max_count}")
        pictures = _each(self._one.convert, value)
        return value if isinstance(value, np.ndarray) else pictures

    def _pieces(self, value: Any) -> Pieces:
        contents = bytes_list(_each(self._one.contents, self.convert(value)))
        return self._entry.list_head(len(contents)), contents


def _each(function: Callable[[Any], Any], images: Iterable[Any]) -> list[Any]:
    """Apply a function to each image; a Problem says which it is with."""
    found = []
    for at, image in enumerate(images):
        try:
            found.append(function(image))
        except Problem as problem:
            raise Problem(
                f"{problem.found} at [{at}]", problem.expected, problem.advice
            ) from None
    return found
