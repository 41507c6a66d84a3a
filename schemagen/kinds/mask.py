"""Segmentation masks: a class id for each pixel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field

from ..runtime.codecs.decoded import Shape
from ..runtime.shared.dtypes import DTYPES
from ..runtime.shared.errors import Problem
from ..runtime.shared.values import shape_text
from .augment import Augmentation, crop_problems
from .classes import Names, Renamed, class_name_problems
from .image import Image, unknown_sizes
from .kind import Default, Kind, Role
from .parameters import HeightAndWidth, Name, OneOf, Size, seldom
from .python_types import is_picture

MaskEncoding = Literal["png", "raw"]
MaskShape = Annotated[
    tuple[Size | None, Size | None],
    Field(description="(height, width) in pixels, such as (224, 224)"),
]


@dataclass(frozen=True)
class Mask(Kind):
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
        resize: (height, width) to which masks are brought when read, by nearest
            neighbours.
        height_key: the key of the height in pixels, if it is stored.
        width_key: the key of the width in pixels, if it is stored.
        format_key: the key of the encoding's name, "png" or "raw", if it is stored.
        augment: the flips and the crop of the picture in training.
        renamed: from the names that classes had in earlier data to those of today.
    """

    shape: MaskShape
    num_classes: Size | None = None
    classes: Names | None = seldom(())
    encoding: MaskEncoding = "png"
    dtype: Annotated[str, OneOf(("uint8", "uint16", "int32"))] = "uint8"
    ignore: int | None = seldom(None)
    resize: HeightAndWidth | None = seldom(None)
    height_key: Name | None = seldom(None)
    width_key: Name | None = seldom(None)
    format_key: Name | None = seldom(None)
    augment: Augmentation | None = seldom(None)
    renamed: Renamed = seldom(())

    name: ClassVar[str] = "Mask"
    takes_default: ClassVar[Default] = "none"
    holds: ClassVar[str] = "np.ndarray, or bytes if it is a PNG"
    can_be_target: ClassVar[bool] = True
    per_pixel: ClassVar[bool] = True
    if_missing: ClassVar[str] = "ignore=<an id>, which a missing mask then is full of"

    @property
    def count(self) -> int | None:
        """How many classes there are; None if any id is allowed."""
        return len(self.classes) if self.classes else self.num_classes

    @property
    def default_role(self) -> Role:
        return "target" if self.count else "info"

    @property
    def opaque(self) -> str:
        return "" if self.count else "ids without num_classes"

    @property
    def marks_missing(self) -> bool:  # type: ignore[override]
        return self.ignore is not None

    @property
    def pixels(self) -> tuple[int | None, ...]:
        return self.resize or self.shape

    def predicted_shape(self, shape: Shape) -> Shape:
        return (*shape, self.count)

    def settled(self, name: str) -> Self:
        classes, count = self.class_names, self.count
        return replace(super().settled(name), classes=classes, num_classes=count)

    def missing_beside(self, inputs: Iterable[Kind]) -> Problem | None:
        pictures = [kind for kind in inputs if isinstance(kind, Image)]
        if self.opaque or any(any(kind.problems()) for kind in (self, *pictures)):
            return None
        size = self.pixels
        found = [picture.pixels for picture in pictures]
        if size in found:
            return None
        sizes = " and ".join(f"an Image of {shape_text(other)}" for other in found)
        return Problem(
            sizes or "no Image",
            f"an Image of {shape_text(size)}, the mask's height and width",
            "declare the picture that it is the mask of; resize= brings both to one "
            "size; role='info' keeps the mask out of the model",
        )

    def accepts(self, python_type: Any) -> bool:
        return is_picture(python_type, encoded=self.encoding != "raw")

    def rules(self) -> Iterator[Problem]:
        yield from super().rules()
        if self.encoding == "raw":
            yield from unknown_sizes(self.shape, (self.height_key, self.width_key))
        elif self.dtype == "int32":
            yield Problem("dtype='int32' with encoding='png'", "uint8 or uint16")
        yield from crop_problems(self.augment, self.pixels)
        yield from class_name_problems(self)
        low, high = DTYPES[self.dtype].bounds or (0, 0)
        ids = (self.ignore or 0, (self.count or 1) - 1)
        if not all(low <= each <= high for each in ids):
            yield Problem(
                f"num_classes={self.count} and ignore={self.ignore}",
                f"ids that {self.dtype} holds, {low} to {high}",
            )
