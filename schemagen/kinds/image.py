"""Images: raw pixels, or encoded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeGuard, get_args

from ..runtime.shared.errors import Problem
from ..runtime.shared.images import CHANNELS
from ..runtime.shared.values import FLOATS, INTEGERS, shortened
from .augment import Augment, augment_problems
from .kind import Kind, Role
from .parameters import (
    TransferEncoding,
    choice_problems,
    is_positive,
    is_utf8,
    key_problems,
    seldom,
    sizes_problem,
    transfer_problems,
)
from .python_types import is_array, members
from .resizing import (
    Interpolation,
    encoded_dtype_problems,
    resize_problems,
    stored_dtype,
)

Encoding = Literal["raw", "jpeg", "png", "bmp", "gif", "webp", "any"]
ENCODINGS: tuple[str, ...] = get_args(Encoding)
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

    shape: Shape
    encoding: Encoding = "raw"
    dtype: str = "uint8"
    resize: tuple[int, int] | None = None
    interpolation: Interpolation = seldom("bilinear")
    antialias: bool = seldom(False)
    scaled_decoding: bool = seldom(False)
    height_key: str | None = seldom(None)
    width_key: str | None = seldom(None)
    channels_key: str | None = seldom(None)
    format_key: str | None = seldom(None)
    format_text: str | None = seldom(None)
    augment: Augment | None = seldom(None)
    transfer_encoding: TransferEncoding = seldom(None)

    name: ClassVar[str] = "Image"
    holds: ClassVar[str] = "np.ndarray, or bytes if it is encoded"
    is_picture: ClassVar[bool] = True
    step_block: ClassVar[str] = "images"

    def accepts(self, python_type: Any) -> bool:
        encoded = self.encoding != "raw"
        return all(
            is_array(member) or (encoded and member is bytes)
            for member in members(python_type)
        )

    def problems(self) -> Iterator[Problem]:
        yield from self._key_problems()
        yield from transfer_problems(self.transfer_encoding)
        wrong_encoding = list(choice_problems("encoding", self.encoding, ENCODINGS))
        if wrong_encoding:  # what else is right depends on it
            yield from wrong_encoding
            return
        if self.encoding == "raw":
            yield from self._raw_shape_problems()
            yield from choice_problems("dtype", self.dtype, DTYPES)
        else:
            yield from encoded_shape_problems(self.shape, self.encoding)
            dtypes = _PNG_DTYPES if self.encoding == "png" else ("uint8",)
            yield from encoded_dtype_problems(self, dtypes)
        yield from resize_problems(self)
        yield from augment_problems(self.augment, self.shape, self.resize)
        if self.resize and self.interpolation == "bilinear" and self.dtype in _TOO_WIDE:
            yield Problem(
                f"resize of {self.dtype} pixels with interpolation='bilinear'",
                "interpolation='nearest'",
                "bilinear interpolation calculates in float32, which does not hold "
                f"every {self.dtype}",
            )

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
    def stored_dtype(self) -> str:
        """The dtype of the pixels in rows and files; reading may convert it."""
        return stored_dtype(self)

    @property
    def _any_channels(self) -> bool:
        return _is_image_shape(self.shape) and self.shape[2] is None

    @property
    def default_role(self) -> Role:
        return "info" if self._any_channels else "input"

    @property
    def opaque(self) -> str:
        return "images of any number of channels" if self._any_channels else ""

    def check_default(self, name: str, default: Any) -> None:
        raise Problem(shortened(default), "None")


def encoded_shape_problems(shape: object, encoding: str) -> Iterator[Problem]:
    """Yield what is wrong with the shape of an encoded image."""
    if not _is_image_shape(shape) or shape[2] is None:
        yield _wrong_shape(shape)
    elif shape[2] not in CHANNELS[encoding]:
        word = "an encoded image" if encoding == "any" else f"a {encoding}"
        allowed = " or ".join(map(str, CHANNELS[encoding]))
        advice = ""
        if shape[0] in CHANNELS[encoding] and shape[2] > max(CHANNELS[encoding]):
            advice = f"channels come last: shape={(*shape[1:], shape[0])!r}"
        yield Problem(f"{shape[2]} channels in {word}", allowed, advice)


def _is_image_shape(shape: object) -> TypeGuard[Shape]:
    return (
        isinstance(shape, tuple)
        and len(shape) == 3
        and all(size is None or is_positive(size) for size in shape)
    )


def _wrong_shape(shape: object) -> Problem:
    return sizes_problem("shape", shape, "(height, width, channels) in pixels", 3)


# numpy has no type of its own for it.
_NUMPY = {"bfloat16": "Any"}
