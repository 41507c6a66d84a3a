"""Lists of encoded images."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, cast, get_args

from ..runtime.encoding.base import Feature
from ..runtime.encoding.images import EncodedImages
from ..runtime.shared.errors import Problem
from ..runtime.shared.values import shape_text
from .augment import Augmentation, crop_problems
from .field import FieldSpec
from .image import Encoding, ImageShape, shape_names
from .kind import Default, Kind
from .literals import Code, literal
from .parameters import HeightAndWidth, Name, OneOf, Size, seldom
from .python_types import is_array, is_list, members
from .resizing import (
    Interpolation,
    delivered_shape,
    encoded_problems,
    pixel_scale,
    range_text,
    resize_problems,
    stored_dtype,
)
from .storage import BYTES, Entry
from .view import FieldView
from .view import Shape as ViewShape

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
        yield from crop_problems(self.augment, self.resize or self.shape[:2])
        if None in self.shape and self.resize is None:
            yield Problem(
                f"shape={self.shape!r} without resize",
                "a fixed size, or resize=(height, width)",
                "pictures of one record have to be brought to one size",
            )

    @property
    def takes_default(self) -> Default:  # type: ignore[override]
        return "empty" if self.count is None else "none"

    def storage(self, key: str) -> tuple[Entry, ...]:
        count, most = self.count, self.max_count
        return (Entry(key, BYTES, count, most, encoding=self.encoding, dtype="uint8"),)

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

    def view(self, field: FieldSpec) -> FieldView:
        return ImagesView(field)


def _is_list_of_images(python_type: Any) -> bool:
    """Tell whether a type is a list, tuple or Sequence of encoded or decoded images."""
    if not is_list(python_type):
        return False
    items = [item for item in get_args(python_type) if item is not Ellipsis]
    return all(one is bytes or is_array(one) for item in items for one in members(item))


class ImagesView(FieldView[Images]):
    """A list of encoded pictures."""

    @property
    def row_dtype(self) -> str:
        return stored_dtype(self.kind)

    @property
    def pixel_scale(self) -> Code:
        """What brings a pixel to about [0, 1]."""
        return pixel_scale(self.row_dtype)

    @property
    def shape(self) -> ViewShape:
        return (self.kind.count, *delivered_shape(self.kind.shape, self.kind.resize))

    @property
    def is_list(self) -> bool:
        return self.kind.count is None

    @property
    def stored_text(self) -> str:
        return f"bytes_list (each {self.kind.encoding})"

    @property
    def required_sequence(self) -> bool:
        return self.kind.count is None and not self.optional

    @property
    def default_value(self) -> Code:
        return Code(f"{literal((b'',))} * {self.kind.count}")

    @property
    def missing_text(self) -> str:
        return "empty" if self.kind.count is None else "zeros"

    @property
    def python_type(self) -> str:
        return "Sequence[bytes | NDArray[np.uint8]] | NDArray[np.uint8]"

    @property
    def wanted_value(self) -> str:
        kind = self.kind
        limit = "" if kind.max_count is None else f"at most {kind.max_count} "
        count = limit if kind.count is None else f"{kind.count} "
        encoding = "encoded" if kind.encoding == "any" else kind.encoding
        shape = shape_text(kind.shape)
        return f"a list of {count}{encoding} images, as bytes or uint8 {shape}"

    @property
    def delivers_value(self) -> str:
        count, *shape = self.shape
        sizes = ("B", str(count or "T"), *shape_names(tuple(shape)))
        text = f"{self.dtype} [{', '.join(sizes)}]{range_text(self.kind)}"
        return text if count else f"{text}, padded with zeros"
