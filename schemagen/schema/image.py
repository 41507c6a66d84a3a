"""Images: raw pixels, or encoded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeGuard, cast, get_args

from ..runtime.encoding.base import Feature
from ..runtime.encoding.image import DescribedImage, EncodedImage
from ..runtime.encoding.tensor import Tensor
from ..runtime.shared.errors import Problem
from ..runtime.shared.images import CHANNELS
from ..runtime.shared.values import FLOATS, INTEGERS, shortened
from .augment import Augment, augment_problems
from .kind import (
    Kind,
    Role,
    choice_problems,
    is_positive,
    is_shape,
    is_utf8,
    key_problems,
)
from .python_types import is_array, members

Encoding = Literal["raw", "jpeg", "png", "bmp", "gif", "webp", "any"]
Interpolation = Literal["bilinear", "nearest"]
ENCODINGS: tuple[str, ...] = get_args(Encoding)
INTERPOLATIONS: tuple[str, ...] = get_args(Interpolation)
DTYPES = (*INTEGERS, *FLOATS)
_PNG_DTYPES = ("uint8", "uint16")

# Interpolation calculates in float32, which does not hold all that these do.
_TOO_WIDE = ("int32", "int64", "uint32", "uint64", "float64")

Shape = tuple[int | None, int | None, int | None]


@dataclass(frozen=True)
class Image(Kind):
    """A picture, [height, width, channels].

    Attributes:
        shape: the pixels' shape. Height and width may be None: any size. Raw pixels
            then need the keys that say which, and may have any number of channels.
        encoding: "raw" stores the pixels as little-endian bytes, row by row; "jpeg",
            "png", "bmp", "gif" and "webp" store an encoded image, "any" one of these.
        dtype: the pixels' dtype; encoded images are uint8, PNGs also uint16.
        resize: (height, width) to which images are brought when read.
        interpolation: how: "bilinear" or "nearest".
        height_key: a key under which the height is written too, int64.
        width_key: a key under which the width is written too.
        channels_key: a key under which the number of channels is written too.
        format_key: a key under which the encoding is written too, as text.
        format_text: what is written there, in place of the encoding in small letters.
        augment: how the picture is varied in training.
    """

    shape: Shape
    encoding: Encoding = "raw"
    dtype: str = "uint8"
    resize: tuple[int, int] | None = None
    interpolation: Interpolation = "bilinear"
    height_key: str | None = None
    width_key: str | None = None
    channels_key: str | None = None
    format_key: str | None = None
    format_text: str | None = None
    augment: Augment | None = None

    name: ClassVar[str] = "Image"
    holds: ClassVar[str] = "np.ndarray, or bytes if it is encoded"

    def accepts(self, python_type: Any) -> bool:
        encoded = self.encoding != "raw"
        return all(
            is_array(member) or (encoded and member is bytes)
            for member in members(python_type)
        )

    def problems(self) -> Iterator[Problem]:
        yield from self._key_problems()
        wrong_encoding = list(choice_problems("encoding", self.encoding, ENCODINGS))
        if wrong_encoding:  # what else is right depends on it
            yield from wrong_encoding
            return
        if self.encoding == "raw":
            yield from self._raw_shape_problems()
            yield from choice_problems("dtype", self.dtype, DTYPES)
        else:
            yield from encoded_shape_problems(self.shape, self.encoding)
            yield from self._encoded_dtype_problems()
        yield from resize_problems(self.resize, self.interpolation)
        yield from augment_problems(self.augment, self.shape, self.resize, self.dtype)
        if self.resize and self.interpolation == "bilinear" and self.dtype in _TOO_WIDE:
            yield Problem(
                f"resize of {self.dtype} pixels with interpolation='bilinear'",
                "interpolation='nearest'",
                "bilinear interpolation calculates in float32, which does not hold "
                f"every {self.dtype}",
            )

    def _encoded_dtype_problems(self) -> Iterator[Problem]:
        if self.encoding == "png":
            yield from choice_problems("dtype", self.dtype, _PNG_DTYPES)
        elif not isinstance(self.dtype, str) or self.dtype != "uint8":
            found = f"dtype={self.dtype!r} with encoding={self.encoding!r}"
            advice = "PNG has uint16 too" if self.dtype == "uint16" else ""
            yield Problem(found, "uint8", advice)

    def _key_problems(self) -> Iterator[Problem]:
        given: dict[object, str] = {}
        for parameter in ("height_key", "width_key", "channels_key", "format_key"):
            key = getattr(self, parameter)
            yield from key_problems(parameter, key)
            if not isinstance(key, str):
                continue
            other = given.setdefault(key, parameter)
            if other != parameter:
                yield Problem(
                    f"{parameter}={key!r}, as {other}", "a key of its own for each"
                )
        text = self.format_text
        if text is None:
            return
        if not isinstance(text, str) or not text or not is_utf8(text):
            yield Problem(f"format_text={text!r}", "a non-empty str")
        elif self.format_key is None:
            yield Problem(
                f"format_text={text!r} without format_key",
                "the key it is written under",
            )
        elif self.encoding == "any":
            yield Problem(
                f"format_text={text!r} with encoding='any'",
                "no text: each image has the name of its own format",
            )

    def _raw_shape_problems(self) -> Iterator[Problem]:
        if not _is_image_shape(self.shape):
            yield _wrong_shape(self.shape)
            return
        for axis, parameter in enumerate(("height_key", "width_key", "channels_key")):
            if self.shape[axis] is None and getattr(self, parameter) is None:
                yield Problem(
                    f"shape={self.shape!r} with raw pixels and no {parameter}",
                    f"a fixed size, or {parameter}=",
                    f"raw bytes do not say their shape: declare {parameter}, under "
                    "which it is written; or use encoding='png' for any size",
                )

    @property
    def _any_channels(self) -> bool:
        return _is_image_shape(self.shape) and self.shape[2] is None

    @property
    def default_role(self) -> Role:
        return "info" if self._any_channels else "input"

    @property
    def opaque(self) -> str:
        return "images of any number of channels" if self._any_channels else ""

    def companions(self) -> dict[str, str]:
        form = self.format_text or self.encoding
        given = (
            (self.height_key, "height"),
            (self.width_key, "width"),
            (self.channels_key, "channels"),
            (self.format_key, f"format {form}"),
        )
        return {key: holds for key, holds in given if isinstance(key, str)}

    def check_default(self, name: str, default: Any) -> None:
        raise Problem(shortened(default), "None")

    def feature(self, name: str, *, optional: bool) -> Feature:
        key = self.key or name
        if self.companions():
            return DescribedImage(
                name,
                key=key,
                shape=self.shape,
                encoding=self.encoding,
                dtype=self.dtype,
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
            dtype=self.dtype,
            optional=optional,
        )


def encoded_shape_problems(shape: object, encoding: str) -> Iterator[Problem]:
    """Yield what is wrong with the shape of an encoded image."""
    if not _is_image_shape(shape) or shape[2] is None:
        yield _wrong_shape(shape)
    elif shape[2] not in CHANNELS[encoding]:
        word = "an encoded image" if encoding == "any" else f"a {encoding}"
        allowed = " or ".join(map(str, CHANNELS[encoding]))
        yield Problem(f"{shape[2]} channels in {word}", allowed)


def resize_problems(resize: object, interpolation: object) -> Iterator[Problem]:
    """Yield what is wrong with a size to bring images to, and with how."""
    yield from choice_problems("interpolation", interpolation, INTERPOLATIONS)
    if resize is None:
        if interpolation == "nearest":
            yield Problem(
                "interpolation='nearest' without resize", "resize=(height, width)"
            )
    elif not is_shape(resize) or len(cast("tuple[int, ...]", resize)) != 2:
        yield Problem(f"resize={resize!r}", "(height, width) in pixels")


def _is_image_shape(shape: object) -> TypeGuard[Shape]:
    return (
        isinstance(shape, tuple)
        and len(shape) == 3
        and all(size is None or is_positive(size) for size in shape)
    )


def _wrong_shape(shape: object) -> Problem:
    return Problem(f"shape={shape!r}", "(height, width, channels) in pixels")
