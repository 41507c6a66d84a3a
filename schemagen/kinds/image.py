"""Images: raw pixels, or encoded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, cast

from pydantic import Field

from ..runtime.encoding.base import Feature
from ..runtime.encoding.base64_text import in_base64
from ..runtime.encoding.image import DescribedImage, EncodedImage
from ..runtime.encoding.tensor import Tensor
from ..runtime.shared.errors import Problem
from ..runtime.shared.values import FLOATS, INTEGERS, shape_text
from .augment import Augmentation, crop_problems
from .field import FieldSpec
from .kind import Default, Kind
from .literals import Code, literal
from .parameters import HeightAndWidth, Name, OneOf, Size, seldom
from .python_types import is_array, members
from .resizing import (
    Interpolation,
    delivered_shape,
    encoded_problems,
    pixel_scale,
    range_text,
    resize_problems,
    stored_dtype,
)
from .storage import BYTES, Entry, TransferEncoding, described
from .view import FieldView
from .view import Shape as ViewShape

Encoding = Literal["raw", "jpeg", "png", "bmp", "gif", "webp", "any"]
DTYPES = (*INTEGERS, *FLOATS)
_PNG_DTYPES = ("uint8", "uint16")

# Interpolation calculates in float32, which does not hold all that these do.
_TOO_WIDE = ("int32", "int64", "uint32", "uint64", "float64")

Shape = tuple[int | None, int | None, int | None]
ImageShape = Annotated[
    tuple[Size | None, Size | None, Size | None],
    Field(description="(height, width, channels) in pixels, such as (224, 224, 3)"),
]


@dataclass(frozen=True)
class Image(Kind):
    """A picture, [height, width, channels].

    Attributes:
        shape: the pixels' shape. Height and width may be None: any size. Raw pixels
            then need the keys that say which, and may have any number of channels.
        encoding: "raw" stores the pixels as little-endian bytes, row by row; "jpeg",
            "png", "bmp", "gif" and "webp" store an encoded image, "any" one of these.
        dtype: the pixels' dtype; encoded images are uint8, PNGs also uint16. "float32"
            reads encoded images of 8 bits that are resized without rounding, 0 to 255.
        resize: (height, width) to which images are brought when read.
        interpolation: how: "bilinear" or "nearest".
        antialias: whether images are filtered before they shrink, if bilinear.
        scaled_decoding: whether JPEGs are decoded at 1/2, 1/4 or 1/8 of their size, if
            that is not smaller than `resize`: faster, with other pixels.
        height_key: a key under which the height is written too, int64.
        width_key: a key under which the width is written too.
        channels_key: a key under which the number of channels is written too.
        format_key: a key under which the encoding is written too, as text.
        format_text: what is written there, in place of the encoding in small letters.
        augment: how the picture is varied in training.
        transfer_encoding: "base64" stores the bytes of the picture as base64 text.
    """

    shape: ImageShape
    encoding: Encoding = "raw"
    dtype: Annotated[str, OneOf(DTYPES)] = "uint8"
    resize: HeightAndWidth | None = None
    interpolation: Interpolation = seldom("bilinear")
    antialias: bool = seldom(False)
    scaled_decoding: bool = seldom(False)
    height_key: Name | None = seldom(None)
    width_key: Name | None = seldom(None)
    channels_key: Name | None = seldom(None)
    format_key: Name | None = seldom(None)
    format_text: Name | None = seldom(None)
    augment: Augmentation | None = seldom(None)
    transfer_encoding: TransferEncoding = seldom(None)

    name: ClassVar[str] = "Image"
    takes_default: ClassVar[Default] = "none"
    holds: ClassVar[str] = "np.ndarray, or bytes if it is encoded"

    def accepts(self, python_type: Any) -> bool:
        encoded = self.encoding != "raw"
        return all(
            is_array(member) or (encoded and member is bytes)
            for member in members(python_type)
        )

    def rules(self) -> Iterator[Problem]:
        yield from super().rules()
        if self.format_text and (self.format_key is None or self.encoding == "any"):
            yield Problem(
                f"format_text={self.format_text!r}",
                "the format_key it is written under, and one encoding for all images",
            )
        if self.encoding == "raw":
            keys = (self.height_key, self.width_key, self.channels_key)
            yield from unknown_sizes(self.shape, keys)
        else:
            dtypes = _PNG_DTYPES if self.encoding == "png" else ("uint8",)
            yield from encoded_problems(self, dtypes)
        yield from resize_problems(self)
        yield from crop_problems(self.augment, self.resize or self.shape[:2])
        if self.resize and self.interpolation == "bilinear" and self.dtype in _TOO_WIDE:
            yield Problem(
                f"resize of {self.dtype} pixels with interpolation='bilinear'",
                "interpolation='nearest'",
                "bilinear interpolation calculates in float32, which does not hold "
                f"every {self.dtype}",
            )

    @property
    def stored_dtype(self) -> str:
        """The dtype of the pixels in rows and files; reading may convert it."""
        return stored_dtype(self)

    @property
    def _any_channels(self) -> bool:
        return self.shape[2] is None

    @property
    def opaque(self) -> str:
        return "images of any number of channels" if self._any_channels else ""

    def storage(self, key: str) -> tuple[Entry, ...]:
        dtype = self.stored_dtype
        picture = Entry(
            key,
            BYTES,
            1,
            encoding=self.encoding,
            dtype=dtype,
            transfer_encoding=self.transfer_encoding,
        )
        keys = (self.height_key, self.width_key, self.channels_key)
        form = self.format_text or self.encoding
        return (
            picture,
            *described(self.shape, keys, self.format_key, self.encoding, form),
        )

    def feature(self, name: str, *, optional: bool) -> Feature:
        feature = self._feature(name, optional=optional)
        return in_base64(feature) if self.transfer_encoding else feature

    def _feature(self, name: str, *, optional: bool) -> Feature:
        key = self.key or name
        if len(self.storage(key)) > 1:
            return DescribedImage(
                name,
                key=key,
                shape=self.shape,
                encoding=self.encoding,
                dtype=self.stored_dtype,
                height_key=self.height_key,
                width_key=self.width_key,
                channels_key=self.channels_key,
                format_key=self.format_key,
                format_text=self.format_text,
                optional=optional,
            )
        if self.encoding == "raw":
            return Tensor(
                name,
                key=key,
                shape=cast("tuple[int, int, int]", self.shape),
                dtype=self.dtype,
                encoding="raw",
                optional=optional,
            )
        return EncodedImage(
            name,
            key=key,
            shape=cast("tuple[int | None, int | None, int]", self.shape),
            encoding=self.encoding,
            dtype=self.stored_dtype,
            optional=optional,
        )

    def view(self, field: FieldSpec) -> FieldView:
        return ImageView(field)


def unknown_sizes(
    shape: tuple[int | None, ...], keys: tuple[str | None, ...]
) -> Iterator[Problem]:
    """Yield raw pixels whose size is neither fixed nor under a key."""
    if any(pair == (None, None) for pair in zip(shape, keys, strict=True)):
        yield Problem(
            f"shape={shape!r} with raw pixels, and no keys of the sizes",
            "a fixed size, or height_key, width_key and channels_key",
            "raw bytes do not say their shape; use encoding='png' for any size",
        )


# numpy has no type of its own for it.
_NUMPY = {"bfloat16": "Any"}


def picture_text(encoding: str) -> str:
    """Name an encoded picture."""
    return "an encoded image" if encoding == "any" else f"a {encoding} image"


def shape_names(shape: ViewShape) -> list[str]:
    """Write the shape of a picture, with letters for sizes that vary."""
    return [str(s or n) for s, n in zip(shape, ("H", "W", "C"), strict=True)]


class ImageView(FieldView[Image]):
    """A picture, raw or encoded."""

    @property
    def row_dtype(self) -> str:
        return self.kind.stored_dtype

    @property
    def shape(self) -> ViewShape:
        return delivered_shape(self.kind.shape, self.kind.resize)

    @property
    def stored_shape(self) -> ViewShape:
        return self.kind.shape

    @property
    def stored_text(self) -> str:
        if self.raw:
            return super().stored_text
        return f"bytes_list ({self.kind.encoding})"

    @property
    def default_value(self) -> Code:
        # Of any size there is nothing that could stand for a missing image but "".
        return literal(b"") if self.read_sizes else super().default_value

    @property
    def present(self) -> Code:
        return super().present if self.raw and not self.read_sizes else self.filled

    @property
    def pixel_scale(self) -> Code:
        """What brings a pixel to about [0, 1]."""
        return pixel_scale(self.row_dtype)

    @property
    def python_type(self) -> str:
        if self.raw:
            return f"NDArray[{_NUMPY.get(self.row_dtype, f'np.{self.row_dtype}')}]"
        return f"bytes | NDArray[np.{self.row_dtype}]"

    @property
    def wanted_value(self) -> str:
        shape = shape_text(self.kind.shape)
        if self.raw:
            return f"{self.row_dtype} {shape}, [height, width, channels]"
        picture = picture_text(self.kind.encoding)
        return f"{picture} as bytes, or its pixels, {self.row_dtype} {shape}"

    @property
    def delivers_value(self) -> str:
        sizes = ", ".join(("B", *shape_names(self.shape)))
        return f"{self.dtype} [{sizes}]{range_text(self.kind)}"
