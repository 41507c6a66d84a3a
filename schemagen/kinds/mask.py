"""Segmentation masks: a class id for each pixel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np

from ..runtime.codecs.base import Shape
from ..runtime.shared.errors import Problem
from ..runtime.shared.values import shape_text, shortened
from .augment import Augment, augment_problems
from .classes import Renamed, class_name_problems, renaming_problems
from .image import Image
from .kind import Kind, Role
from .parameters import (
    choice_problems,
    is_positive,
    is_shape,
    key_problems,
    names_of_classes,
    seldom,
    sizes_problem,
)
from .python_types import is_array, members

MaskEncoding = Literal["png", "raw"]
ENCODINGS: tuple[str, ...] = get_args(MaskEncoding)
_DTYPES = {"png": ("uint8", "uint16"), "raw": ("uint8", "uint16", "int32")}


@dataclass(frozen=True)
class Mask(Kind):
    """A class id for each pixel of a picture, [height, width]. Ids are never scaled.

    Its default role is target, or info if any id may stand in it.

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

    shape: tuple[int | None, int | None]
    num_classes: int | None = None
    classes: tuple[str, ...] | None = names_of_classes(seldom=True)
    encoding: MaskEncoding = "png"
    dtype: str = "uint8"
    ignore: int | None = seldom(None)
    resize: tuple[int, int] | None = seldom(None)
    height_key: str | None = seldom(None)
    width_key: str | None = seldom(None)
    format_key: str | None = seldom(None)
    augment: Augment | None = seldom(None)
    renamed: Renamed = seldom(())

    name: ClassVar[str] = "Mask"
    holds: ClassVar[str] = "np.ndarray, or bytes if it is a PNG"
    can_be_target: ClassVar[bool] = True
    pictured: ClassVar[bool] = True
    if_missing: ClassVar[str] = "ignore=<an id>, which a missing mask then is full of"

    @property
    def count(self) -> int | None:
        """How many classes there are; None if any id may stand in it."""
        names = self.classes
        return len(names) if isinstance(names, tuple) and names else self.num_classes

    @property
    def default_role(self) -> Role:
        return "target" if self.count else "info"

    @property
    def opaque(self) -> str:
        return "" if self.count else "ids without num_classes"

    @property
    def marks_missing(self) -> bool:
        return self.ignore is not None

    @property
    def class_names(self) -> tuple[str, ...]:
        """The names of the classes; empty if they have none."""
        return self.classes or ()

    def predicted_shape(self, shape: Shape) -> Shape:
        return (*shape, self.count)

    def settled(self, name: str) -> Self:
        classes, count = self.class_names, self.count
        return replace(super().settled(name), classes=classes, num_classes=count)

    def missing_beside(self, inputs: Iterable[Kind]) -> Problem | None:
        pictures = [kind for kind in inputs if isinstance(kind, Image)]
        if self.opaque or any(
            problem for kind in (self, *pictures) for problem in kind.problems()
        ):
            return None
        size = self.resize or self.shape
        found = [picture.resize or picture.shape[:2] for picture in pictures]
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
        encoded = self.encoding == "png"
        return all(
            is_array(member) or (encoded and member is bytes)
            for member in members(python_type)
        )

    def problems(self) -> Iterator[Problem]:
        wrong_encoding = list(choice_problems("encoding", self.encoding, ENCODINGS))
        yield from wrong_encoding
        yield from self._key_problems()
        yield from self._shape_problems()
        yield from augment_problems(self.augment, self.shape, self.resize)
        dtypes = _DTYPES["raw" if wrong_encoding else self.encoding]
        wrong_dtype = list(choice_problems("dtype", self.dtype, dtypes))
        yield from wrong_dtype
        yield from self._class_problems()
        if not wrong_dtype:
            yield from self._range_problems()

    def _key_problems(self) -> Iterator[Problem]:
        given: dict[object, str] = {}
        for parameter in ("height_key", "width_key", "format_key"):
            key = getattr(self, parameter)
            yield from key_problems(parameter, key)
            other = given.setdefault(key, parameter) if key is not None else parameter
            if other != parameter:
                yield Problem(
                    f"{parameter}={key!r}, as {other}", "a key of its own for each"
                )

    def _shape_problems(self) -> Iterator[Problem]:
        sizes = self.shape if isinstance(self.shape, tuple) else ()
        known = tuple(1 if size is None else size for size in sizes)
        if len(sizes) != 2 or not is_shape(known):
            yield sizes_problem("shape", self.shape, "(height, width) in pixels")
        elif self.encoding == "raw":
            keys = (self.height_key, self.width_key)
            if any(pair == (None, None) for pair in zip(sizes, keys, strict=True)):
                yield Problem(
                    f"shape={self.shape!r} with raw ids",
                    "a fixed size, or height_key and width_key",
                    "raw bytes do not say their shape; use encoding='png', or name the "
                    "keys under which the size is stored",
                )
        if self.resize is not None and (
            not is_shape(self.resize) or len(self.resize) != 2
        ):
            yield sizes_problem("resize", self.resize, "(height, width) in pixels")

    def _class_problems(self) -> Iterator[Problem]:
        yield from renaming_problems(self.renamed, self.classes)
        if self.classes is not None:
            yield from class_name_problems(self.classes, self.num_classes)
        elif self.num_classes is not None and not is_positive(self.num_classes):
            yield Problem(
                f"num_classes={self.num_classes!r}",
                "a positive int, or None for any id",
            )

    def _range_problems(self) -> Iterator[Problem]:
        """Yield ids that the dtype cannot hold."""
        bounds = np.iinfo(self.dtype)
        if self.ignore is not None and (
            type(self.ignore) is not int or not bounds.min <= self.ignore <= bounds.max
        ):
            yield Problem(
                f"ignore={self.ignore!r}",
                f"an id that {self.dtype} holds, {bounds.min} to {bounds.max}, or None",
            )
        if type(self.count) is int and self.count > bounds.max + 1:
            yield Problem(
                f"num_classes={self.count}",
                f"at most {bounds.max + 1}, with ids of dtype {self.dtype}",
            )

    def check_default(self, name: str, default: Any) -> None:
        raise Problem(shortened(default), "None")
