"""Lists of encoded images."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, get_args

from ..runtime.shared.errors import Problem
from .augment import Augmentation, crop_problems
from .image import Encoding, ImageShape
from .kind import Default, Kind
from .parameters import HeightAndWidth, Name, OneOf, Size, seldom
from .python_types import is_array, is_list, members
from .resizing import Interpolation, encoded_problems, resize_problems

ENCODINGS = get_args(Encoding)[1:]


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

    shape: ImageShape
    encoding: Annotated[Encoding, OneOf(ENCODINGS)] = "jpeg"
    count: Size | None = None
    max_count: Size | None = None
    resize: HeightAndWidth | None = None
    interpolation: Interpolation = seldom("bilinear")
    antialias: bool = seldom(False)
    scaled_decoding: bool = seldom(False)
    dtype: Annotated[str, OneOf(("uint8", "float32"))] = seldom("uint8")
    group: Name | None = seldom(None)
    augment: Augmentation | None = seldom(None)

    name: ClassVar[str] = "Images"
    python_type: ClassVar[str] = "list[bytes]"
    holds: ClassVar[str] = "a list of bytes or np.ndarray, or np.ndarray"

    def accepts(self, python_type: Any) -> bool:
        return all(is_array(m) or _is_list_of_images(m) for m in members(python_type))

    def rules(self) -> Iterator[Problem]:
        if self.count and (self.max_count or self.group):
            yield Problem(
                "count with max_count or group",
                "one of them: what has a count is as long in every record",
            )
        yield from encoded_problems(self, ("uint8",))
        yield from resize_problems(self)
        yield from crop_problems(self.augment, self.pixels)
        if None in self.shape and self.resize is None:
            yield Problem(
                f"shape={self.shape!r} without resize",
                "a fixed size, or resize=(height, width)",
                "pictures of one record have to be brought to one size",
            )

    @property
    def pixels(self) -> tuple[int | None, ...]:
        return self.resize or self.shape[:2]

    @property
    def takes_default(self) -> Default:  # type: ignore[override]
        return "empty" if self.count is None else "none"


def _is_list_of_images(python_type: Any) -> bool:
    """Tell whether a type is a list, tuple or Sequence of encoded or decoded images."""
    if not is_list(python_type):
        return False
    items = [item for item in get_args(python_type) if item is not Ellipsis]
    return all(one is bytes or is_array(one) for item in items for one in members(item))
