"""Lists of encoded images."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, cast, get_args

from ..runtime.encoding.base import Feature
from ..runtime.encoding.images import EncodedImages
from ..runtime.shared.errors import Problem
from ..runtime.shared.values import shortened
from .augment import Augment, augment_problems
from .image import (
    ENCODINGS,
    Encoding,
    Interpolation,
    Shape,
    encoded_shape_problems,
    resize_problems,
)
from .kind import Kind, choice_problems, group_problems, is_positive
from .python_types import is_array, is_list, members


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
        group: fields of one group are equally long.
        augment: how pictures are varied in training, all of a record alike.
    """

    shape: Shape
    encoding: Encoding = "jpeg"
    count: int | None = None
    max_count: int | None = None
    resize: tuple[int, int] | None = None
    interpolation: Interpolation = "bilinear"
    group: str | None = None
    augment: Augment | None = None

    name: ClassVar[str] = "Images"
    holds: ClassVar[str] = "a list of bytes or np.ndarray, or np.ndarray"

    def accepts(self, python_type: Any) -> bool:
        return all(is_array(m) or _is_list_of_images(m) for m in members(python_type))

    def problems(self) -> Iterator[Problem]:
        yield from group_problems(self.group)
        yield from resize_problems(self.resize, self.interpolation)
        yield from augment_problems(self.augment, self.shape, self.resize)
        yield from self._count_problems()
        wrong = list(choice_problems("encoding", self.encoding, ENCODINGS[1:]))
        if wrong:  # what else is right depends on it
            yield from wrong
            return
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

    def feature(self, name: str, *, optional: bool) -> Feature:
        return EncodedImages(
            name,
            key=self.key or name,
            shape=cast("tuple[int | None, int | None, int]", self.shape),
            encoding=self.encoding,
            count=self.count,
            max_count=self.max_count,
            optional=optional,
        )


def _is_list_of_images(python_type: Any) -> bool:
    """Tell whether a type is a list, tuple or Sequence of encoded or decoded images."""
    if not is_list(python_type):
        return False
    items = [item for item in get_args(python_type) if item is not Ellipsis]
    return all(one is bytes or is_array(one) for item in items for one in members(item))
