"""Images: encoded or raw, alone or with their size in features of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import Problem
from ..shared.images import CHANNELS, encode, header_of, read_header, sniff
from ..shared.png import encode_png
from ..shared.values import Numbers, check_shape, described, shape_text
from ..shared.wire import BYTES_LIST, Buffer, Pieces
from .base import Compound, Feature
from .columns import Strands, buffer_of, value_strands
from .tensor import Tensor
from .text import Text

ImageShape = tuple[int | None, int | None, int | None]

_WORDS = {"any": "an image of any known format"}


class EncodedImage(Feature):
    """An encoded image. Pixels are encoded (with Pillow), encoded bytes are kept.

    Args:
        name: the field's name.
        key: the feature's key in the Example.
        shape: (height, width, channels); None for a size that may vary.
        encoding: "jpeg", "png", "bmp", "gif", "webp", or "any" of them.
        dtype: of the pixels: "uint8", or "uint16" for PNGs of 16 bits a channel.
        optional: whether None is allowed.
    """

    def __init__(
        self,
        name: str,
        *,
        key: str,
        shape: tuple[int | None, int | None, int],
        encoding: str,
        dtype: str = "uint8",
        optional: bool = False,
    ) -> None:
        super().__init__(name, key, BYTES_LIST, optional=optional)
        self._shape = shape
        self._encoding = encoding
        self._numbers = Numbers(dtype)
        self._deep = dtype == "uint16"

    def convert(self, value: Any) -> bytes | NDArray[Any]:
        if isinstance(value, bytes):
            self._check_encoded(value)
            return value
        if not isinstance(value, np.ndarray):
            word = _WORDS.get(self._encoding, f"a {self._encoding} image")
            raise Problem(
                described(value), f"the bytes of {word} or an array of its pixels"
            )
        pixels = self._numbers.convert(value)
        check_shape(pixels, self._shape)
        if not pixels.size:
            raise Problem("an image without pixels", "at least one pixel")
        return pixels

    def _check_encoded(self, data: bytes) -> None:
        """Compare what the header says with what readers will ask for.

        Readers turn grey into RGB and add an opaque alpha channel, both without
        loss. The reverse would lose something and is refused; so are 8 bits for 16,
        which decoders scale.
        """
        header = read_header(data, self._encoding)
        height, width, channels = self._shape
        # tensorflow makes a wrong alpha channel for grey of fewer bits.
        shallow = header.bits == 8 or (header.bits < 8 and channels < 4)
        if not (header.bits == 16 if self._deep else shallow):
            wanted = 16 if self._deep else 8
            raise Problem(f"{header.bits} bits a channel", f"{wanted} bits a channel")
        found = (header.height, header.width, header.channels)
        decodable = CHANNELS[str(sniff(data))]
        fits = header.channels <= channels and header.channels in decodable
        if height not in (None, found[0]) or width not in (None, found[1]) or not fits:
            raise Problem(
                f"an image of shape {shape_text(found)}",
                f"shape {shape_text(self._shape)}",
            )

    def contents(self, image: bytes | NDArray[Any]) -> bytes:
        """Return a converted value as the encoded image that is stored.

        Raises:
            Problem: pixels that the format cannot hold.
        """
        if isinstance(image, bytes):
            return image
        return encode_png(image) if self._deep else encode(image, self._encoding)

    def _pieces(self, value: Any) -> Pieces:
        data = self.contents(self.convert(value))
        return self._entry.packed_head(len(data)), data

    def _column(self, values: Any, rows: int) -> Strands:
        images = [self.contents(self.convert(value)) for value in values]
        return value_strands(self._entry, images)


class DescribedImage(Compound):
    """An image with its height, width, channels and format under keys of their own.

    Encoded images say all that themselves; the keys are for those who want to know it
    without decoding. Raw pixels of any size are read by means of them.

    Args:
        name: the field's name.
        key: the key of the image itself.
        shape: (height, width, channels); None for a size that may vary.
        encoding: "raw", or as for EncodedImage.
        dtype: of raw pixels, or as for EncodedImage.
        height_key: the key for the height in pixels, if there is one.
        width_key: the key for the width in pixels.
        channels_key: the key for the number of channels.
        format_key: the key for the format's name.
        format_text: what to write there in place of the encoding's name.
        optional: whether None is allowed.
    """

    def __init__(
        self,
        name: str,
        *,
        key: str,
        shape: ImageShape,
        encoding: str,
        dtype: str = "uint8",
        height_key: str | None = None,
        width_key: str | None = None,
        channels_key: str | None = None,
        format_key: str | None = None,
        format_text: str | None = None,
        optional: bool = False,
    ) -> None:
        self._picture: _RawPixels | EncodedImage
        if encoding == "raw":
            self._picture = _RawPixels(shape, dtype)
        else:
            height, width, channels = shape
            assert channels is not None
            self._picture = EncodedImage(
                name,
                key=key,
                shape=(height, width, channels),
                encoding=encoding,
                dtype=dtype,
            )
        sizes = (height_key, width_key, channels_key)
        self._sizes = [axis for axis, found in enumerate(sizes) if found is not None]
        self._has_format = format_key is not None
        self._format_text = format_text
        parts: list[Feature] = [_Contents(name, key)]
        parts += [
            Tensor(name, key=found, shape=(), dtype="int64")
            for found in sizes
            if found is not None
        ]
        if format_key is not None:
            parts.append(Text(name, key=format_key))
        super().__init__(name, *parts, optional=optional)

    def convert(self, value: Any) -> Any:
        return self._picture.convert(value)

    def split(self, value: Any) -> Sequence[Any]:
        data = self._picture.contents(value)
        if isinstance(self._picture, _RawPixels):
            form, shape = "raw", value.shape
        else:
            assert isinstance(data, bytes)
            form, header = header_of(data)
            shape = (header.height, header.width, header.channels)
        texts = [self._format_text or form] * self._has_format
        return [data, *(shape[axis] for axis in self._sizes), *texts]


class _RawPixels:
    """Pixels as little-endian bytes, row by row, of any size."""

    def __init__(self, shape: ImageShape, dtype: str) -> None:
        self._shape = shape
        self._numbers = Numbers(dtype)

    def convert(self, value: Any) -> NDArray[Any]:
        pixels = self._numbers.convert(value)
        check_shape(pixels, self._shape)
        if not pixels.size:
            raise Problem("an image without pixels", "at least one pixel")
        return pixels

    def contents(self, pixels: NDArray[Any]) -> Buffer:
        return buffer_of(self._numbers.raw(pixels))


class _Contents(Feature):
    """One bytes value that has been checked before."""

    def __init__(self, name: str, key: str) -> None:
        super().__init__(name, key, BYTES_LIST, optional=False)

    def convert(self, value: Any) -> Any:
        return value

    def _pieces(self, value: Any) -> Pieces:
        return self._entry.packed_head(len(value)), value
