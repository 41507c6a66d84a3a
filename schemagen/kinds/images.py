"""Lists of encoded images."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, get_args

from ..runtime.shared.errors import Problem
from ..runtime.shared.values import shortened
from .augment import Augment, augment_problems
from .image import (
    ENCODINGS,
    Encoding,
    Shape,
    encoded_shape_problems,
)
from .kind import Kind
from .parameters import choice_problems, group_problems, is_positive, seldom
from .python_types import is_array, is_list, members
from .resizing import (
    Interpolation,
    encoded_dtype_problems,
    resize_problems,
)


@dataclass(frozen=True)
class Images(Kind):
    """A list of encoded pictures in one feature, such as camera frames.

    Attributes:
        shape: of each picture; height and width may be None, any size, with `resize`.
        encoding: "jpeg", "png", "bmp", "gif", "webp", or "any" of these.
        count: how many there are; None for any number from 0.
        max_count: the most there may be, if any number.
        resize: (height, width) to which pictures are brought when read.
        interpolation: how: "bilinear" or "nearest".
        antialias: whether pictures are filtered before they shrink, if bilinear.
        scaled_decoding: whether JPEGs are decoded at 1/2, 1/4 or 1/8 of their size, if
            that is not smaller than `resize`: faster, with other pixels.
        dtype: "uint8", or "float32" for resized pixels that are not rounded, 0 to 255.
        group: fields of one group are equally long.
        augment: how pictures are varied in training, all of a record alike.
    """

    shape: Shape
    encoding: Encoding = "jpeg"
    count: int | None = None
    max_count: int | None = None
    resize: tuple[int, int] | None = None
    interpolation: Interpolation = seldom("bilinear")
    antialias: bool = seldom(False)
    scaled_decoding: bool = seldom(False)
    dtype: str = seldom("uint8")
    group: str | None = seldom(None)
    augment: Augment | None = seldom(None)

    name: ClassVar[str] = "Images"
    holds: ClassVar[str] = "a list of bytes or np.ndarray, or np.ndarray"

    def accepts(self, python_type: Any) -> bool:
        return all(is_array(m) or _is_list_of_images(m) for m in members(python_type))

    def problems(self) -> Iterator[Problem]:
        yield from group_problems(self.group)
        yield from resize_problems(self)
        yield from augment_problems(self.augment, self.shape, self.resize)
        yield from self._count_problems()
        wrong = list(choice_problems("encoding", self.encoding, ENCODINGS[1:]))
        if wrong:  # what else is right depends on it
            yield from wrong
            return
        yield from encoded_dtype_problems(self)
        wrong = list(encoded_shape_problems(self.shape, self.encoding))
        yield from wrong
        if not wrong and None in self.shape and self.resize is None:
            yield Problem(
                f"shape={self.shape!r} without resize",
                "a fixed size, or resize=(height, width)",
                "pictures of one record have to be brought to one size",
            )

    def _count_problems(self) -> Iterator[Problem]:
        for parameter in ("count", "max_count"):
            value = getattr(self, parameter)
            if value is not None and not is_positive(value):
                yield Problem(f"{parameter}={value!r}", "a positive int or None")
        if self.count is None:
            return
        if self.max_count is not None:
            yield Problem(f"max_count={self.max_count!r} and a count", "one of them")
        if self.group is not None:
            yield Problem(
                f"group={self.group!r} and a count",
                "one of them: what has a count is as long in every record",
            )

    def check_default(self, name: str, default: Any) -> None:
        empty = isinstance(default, (list, tuple)) and not default
        if not empty or self.count is not None:
            expected = "[] or None" if self.count is None else "None"
            raise Problem(shortened(default), expected)


def _is_list_of_images(python_type: Any) -> bool:
    """Tell whether a type is a list, tuple or Sequence of encoded or decoded images."""
    if not is_list(python_type):
        return False
    items = [item for item in get_args(python_type) if item is not Ellipsis]
    return all(one is bytes or is_array(one) for item in items for one in members(item))
