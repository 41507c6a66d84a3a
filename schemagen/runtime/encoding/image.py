"""Images: encoded or raw, alone or with their size in features of its own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import Problem
from ..shared.images import (
    CHANNELS,
    encode,
    encode_png,
    header_of,
    sniff,
)
from ..shared.values import Numbers, check_shape, described, shape_text
from ..shared.wire import Buffer
from .base import BytesFeature, Compound
from .columns import buffer_of
from .tensor import size_features, stored_axes
from .text import Text

_ANY = "give such an image, or declare encoding='any'"
_FLOATS = (
    "of pixels x from 0 to 1 give (x * 255).round().astype('uint8'), and of others "
    "x.round().astype('uint8')"
)
_WORDS = {"any": "an image of any known format"}


def in_place_of(value: object) -> str:
    """Say what to give in place of what only stands for an image, or ""."""
    if isinstance(value, (str, os.PathLike)):
        return "pass Path(...).read_bytes() of a file"
    if type(value).__module__.startswith("PIL."):
        return "pass np.asarray(image), or the bytes of its file"
    return ""


def _is_floats(value: object) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


@dataclass(eq=False, kw_only=True)
class EncodedImage(BytesFeature):
    """An encoded image. Pixels are encoded (with Pillow), encoded bytes are kept.

    Attributes:
        shape: (height, width, channels); None for a size that may vary.
        encoding: "jpeg", "png", "bmp", "gif", "webp", or "any" of them; "raw" for the
            little-endian numbers of the pixels, row by row.
        dtype: of the pixels: "uint8", "uint16" for PNGs of 16 bits a channel, or any
            for raw pixels.
    """

    shape: tuple[int | None, int | None, int | None]
    encoding: str
    dtype: str = "uint8"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._numbers = Numbers(self.dtype)
        self._raw = self.encoding == "raw"
        self._deep = self.dtype == "uint16"

    def convert(self, value: Any) -> bytes | NDArray[Any]:
        if not self._raw:
            if isinstance(value, bytes):
                self._check_encoded(value)
                return value
            if not isinstance(value, np.ndarray):
                word = _WORDS.get(self.encoding, f"a {self.encoding} image")
                raise Problem(
                    described(value),
                    f"the bytes of {word} or an array of its pixels",
                    in_place_of(value),
                )
        try:
            pixels = self._numbers.convert(value)
        except Problem as problem:
            if self.dtype == "uint8" and _is_floats(value):
                raise Problem(problem.found, problem.expected, _FLOATS) from None
            raise
        check_shape(pixels, self.shape)
        if not pixels.size:
            raise Problem("an image without pixels", "at least one pixel")
        return pixels

    def _check_encoded(self, data: bytes) -> None:
        """Compare what the header says with what readers will ask for.

        Readers turn grey into RGB and add an opaque alpha channel, both without
        loss. The reverse would lose something and is refused; so are 8 bits for 16,
        which decoders scale.
        """
        try:
            form, header = header_of(data, self.encoding)
        except Problem as problem:
            known = sniff(data)
            if known and self.encoding not in (known, "any") and not self._deep:
                raise Problem(problem.found, problem.expected, _ANY) from None
            raise
        height, width, channels = self.shape
        assert channels is not None
        # tensorflow makes a wrong alpha channel for grey of fewer bits.
        shallow = header.bits == 8 or (header.bits < 8 and channels < 4)
        if not (header.bits == 16 if self._deep else shallow):
            wanted = 16 if self._deep else 8
            raise Problem(f"{header.bits} bits a channel", f"{wanted} bits a channel")
        fits = header.channels <= channels and header.channels in CHANNELS[form]
        if height not in (None, header.height) or width not in (None, header.width):
            fits = False
        if not fits:
            raise Problem(
                f"an image of shape {shape_text(header[:3])}",
                f"shape {shape_text(self.shape)}",
            )

    def contents(self, image: bytes | NDArray[Any]) -> Buffer:
        """Return a converted value as the bytes that are stored.

        Raises:
            Problem: pixels that the format cannot hold.
        """
        if isinstance(image, bytes):
            return image
        if self._raw:
            return buffer_of(self._numbers.raw(image))
        return encode_png(image) if self._deep else encode(image, self.encoding)


class DescribedPicture(Compound):
    """A picture with its sizes and format under keys of their own.

    Args:
        picture: the codec of the picture itself.
        raw: whether the picture is stored as raw numbers.
        size_keys: the keys of its sizes; None for those that are not stored.
        format_key: the key of the format's name, if there is one.
        format_text: what to write there in place of the format's own name.
    """

    def __init__(
        self,
        picture: BytesFeature,
        *,
        raw: bool,
        size_keys: Sequence[str | None],
        format_key: str | None,
        format_text: str | None = None,
    ) -> None:
        super().__init__(picture.name, key=picture.key, optional=picture.optional)
        self._picture = picture
        self._raw = raw
        self._axes = stored_axes(size_keys)
        self._format_text = format_text
        self.parts = [
            _Contents(self.name, key=self.key),
            *size_features(self.name, size_keys),
        ]
        self._has_format = format_key is not None
        if format_key is not None:
            self.parts.append(Text(self.name, key=format_key))

    def convert(self, value: Any) -> Any:
        return self._picture.convert(value)

    def split(self, value: Any) -> Sequence[Any]:
        data = self._picture.contents(value)
        if self._raw:
            form, shape = "raw", value.shape
        else:
            form, header = header_of(bytes(data))
            shape = header[:3]
        texts = [self._format_text or form] * self._has_format
        return [data, *(shape[axis] for axis in self._axes), *texts]


class _Contents(BytesFeature):
    """One bytes value that has been checked before."""

    def convert(self, value: Any) -> Any:
        return value


class DescribedImage(DescribedPicture):
    """An image with its height, width, channels and format under keys of their own.

    Encoded images say all that themselves; the keys are for those who want to know it
    without decoding. Raw pixels of any size are read by means of them.

    Args:
        name: the field's name.
        height_key: the key for the height in pixels, if there is one.
        width_key: the key for the width in pixels.
        channels_key: the key for the number of channels.
        format_key: the key for the format's name.
        format_text: what to write there in place of the encoding's name.
        image: the other attributes of the EncodedImage.
    """

    def __init__(
        self,
        name: str,
        *,
        height_key: str | None = None,
        width_key: str | None = None,
        channels_key: str | None = None,
        format_key: str | None = None,
        format_text: str | None = None,
        **image: Any,
    ) -> None:
        picture = EncodedImage(name, **image)
        super().__init__(
            picture,
            raw=picture.encoding == "raw",
            size_keys=(height_key, width_key, channels_key),
            format_key=format_key,
            format_text=format_text,
        )
