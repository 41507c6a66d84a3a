"""Images: raw pixels, or encoded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ..runtime.shared.dtypes import FLOATS, INTEGERS
from ..runtime.shared.errors import Problem
from .augment import Augmentation, crop_problems
from .kind import Default, Kind
from .parameters import HeightAndWidth, Name, OneOf, Size, TransferEncoding, seldom
from .python_types import is_picture
from .resizing import Interpolation, encoded_problems, resize_problems

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
    is_picture: ClassVar[bool] = True
    step_block: ClassVar[str] = "images"

    def accepts(self, python_type: Any) -> bool:
        return is_picture(python_type, encoded=self.encoding != "raw")

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
        yield from crop_problems(self.augment, self.pixels)
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
        unrounded = self.encoding != "raw" and self.dtype == "float32"
        return "uint8" if unrounded else self.dtype

    @property
    def pixels(self) -> tuple[int | None, ...]:
        return self.resize or self.shape[:2]

    @property
    def python_type(self) -> str:
        return "np.ndarray" if self.encoding == "raw" else "bytes"

    @property
    def opaque(self) -> str:
        return "images of any number of channels" if self.shape[2] is None else ""


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
