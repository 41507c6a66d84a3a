"""Images: raw or encoded, one or several in a record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..reading.columns import Column
from ..shared.errors import Problem
from ..shared.images import CHANNELS, encode, encode_png, header_of, sniff
from ..shared.values import (
    FLOATS,
    Numbers,
    check_shape,
    described,
    shape_text,
)
from ..shared.wire import Buffer, Pieces
from . import graph, graph_images
from .base import Codec, Decoded, Decoding, Shape, of_each, split_rows
from .faults import Features
from .limits import Limit
from .numbers import FixedNumbers
from .parsed import Parsed
from .part import BYTES, Part
from .picture_checks import checked_pictures
from .pictures import EncodedContent, Picture, batch_text, in_place_of
from .tensorflow import tf

_ANY = "give such an image, or declare encoding='any'"
_FLOATS = (
    "of pixels x from 0 to 1 give (x * 255).round().astype('uint8'), and of others "
    "x.round().astype('uint8')"
)


@dataclass(eq=False, kw_only=True)
class _Resized(Codec):
    """Pictures that are decoded and resized when they are read.

    Attributes:
        shape: of each, (height, width, channels); None for a size that varies.
        encoding: "raw", "jpeg", "png", "bmp", "gif", "webp", or "any" of the encoded.
        resize: (height, width) that every picture is brought to when read.
        interpolation: how they are resized: "bilinear" or "nearest".
        antialias: whether they are filtered before they shrink, if bilinear.
        scaled_decoding: decode JPEGs at 1/2, 1/4 or 1/8 of their size if that is not
            smaller than `resize`.
        dtype: of the pixels; "float32" of resized pixels that are not rounded.
    """

    shape: tuple[int | None, int | None, int | None]
    encoding: str = "raw"
    resize: tuple[int, int] | None = None
    interpolation: str = "bilinear"
    antialias: bool = False
    scaled_decoding: bool = False
    dtype: str = "uint8"

    @property
    def stored_dtype(self) -> str:
        """The dtype of the pixels in rows and files, which reading may convert."""
        unrounded = self.encoding != "raw" and self.dtype == "float32"
        return "uint8" if unrounded else self.dtype

    @property
    def largest(self) -> int | None:
        """The largest stored value of a pixel; None for floats."""
        dtype = self.stored_dtype
        return None if dtype in FLOATS else int(np.iinfo(dtype).max)

    @property
    def _range(self) -> str:
        """The range of pixels that are delivered as another dtype, in words."""
        return "" if self.stored_dtype == self.dtype else f", 0 to {self.largest}"

    @property
    def _words(self) -> str:
        return "an encoded" if self.encoding == "any" else f"a {self.encoding}"

    def _decoded(self, data: Any, *, optional: bool) -> Any:
        """Decode encoded images: dtype [B, height, width, channels]."""
        return graph_images.decode_images(
            data,
            self.label,
            self.encoding,
            self.shape,
            self.resize,
            self.interpolation,
            antialias=self.antialias,
            scaled_decoding=self.scaled_decoding,
            dtype=tf.as_dtype(self.dtype),
            optional=optional,
        )


@dataclass(eq=False, kw_only=True)
class Image(_Resized, Picture):
    """A picture, [height, width, channels].

    Attributes:
        channels_key: the key of the number of channels, if it is stored.
        format_text: what is stored under the format's key in place of its name.
    """

    encoding: str = "raw"
    channels_key: str | None = None
    format_text: str | None = None

    def content(self, transfer_encoding: str | None) -> Any:
        codec = _Pixels if self._raw else _EncodedImage
        return codec(self, transfer_encoding)

    def make_parts(self) -> tuple[Part, ...]:
        value, *others = super().make_parts()
        if self.optional and self.encoding == "raw" and None not in self.shape:
            value = _Pixels(self, self.transfer_encoding).parts[0]
        return (value, *others)

    @property
    def takes(self) -> str:
        shape = f"{self.stored_dtype} {shape_text(self.shape)}"
        if self._raw:
            return f"{shape}, [height, width, channels]"
        return f"{self._words} image as bytes, or its pixels, {shape}"

    @property
    def delivers(self) -> str:
        return f"{self.dtype} {batch_text(self.delivered_shape, 'HWC')}{self._range}"

    if_missing = "0"

    @property
    def _empty_is_missing(self) -> bool:
        return self.optional and (not self._raw or None in self.shape)

    def present(self, parsed: Parsed, tensor: Any) -> Any:
        if self._raw and None not in self.shape:
            return parsed.present(self.key)
        return super().present(parsed, tensor)

    def parse(self, parsed: Parsed) -> Any:
        data = self.parts[0].tensor(parsed, self.label)
        if not self._raw:
            return self._decoded(data, optional=self.optional)
        dtype = tf.as_dtype(self.dtype)
        if None in self.shape:
            return graph_images.decode_pixels(
                data,
                self.label,
                dtype,
                self.shape,
                self.resize,
                self.interpolation,
                antialias=self.antialias,
                **self._sizes_in(parsed),
                optional=self.optional,
            )
        pixels = graph.decode_raw(data, self.label, dtype, self.shape)
        if self.resize is None:
            return pixels
        return graph_images.resized(
            pixels, self.resize, self.interpolation, antialias=self.antialias
        )


class _Pixels(FixedNumbers):
    """The codec of raw pixels alone."""

    def __init__(self, image: Image, transfer_encoding: str | None) -> None:
        super().__init__(
            image.label,
            key=image.key,
            shape=image.shape,
            optional=image.optional,
            dtype=image.dtype,
            encoding="raw",
            transfer_encoding=transfer_encoding,
        )

    nan_if_missing = False

    def convert(self, value: Any) -> NDArray[Any]:
        return _pixels(self._numbers, value, self._shape)


class _EncodedImage(EncodedContent):
    """The codec of an encoded image alone. Pixels are encoded, bytes are kept."""

    def __init__(self, image: Any, transfer_encoding: str | None = None) -> None:
        self.encoding, self.shape = image.encoding, image.shape
        self._words = image._words
        self._numbers = Numbers(image.stored_dtype)
        self._deep = image.stored_dtype == "uint16"
        super().__init__(image, transfer_encoding)

    def convert(self, value: Any) -> bytes | NDArray[Any]:
        if isinstance(value, bytes):
            self._check_encoded(value)
            return value
        if not isinstance(value, np.ndarray):
            image = (
                "an image of any known format"
                if self.encoding == "any"
                else (f"{self._words} image")
            )
            raise Problem(
                described(value),
                f"the bytes of {image} or an array of its pixels",
                in_place_of(value),
            )
        return _pixels(self._numbers, value, self.shape)

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

    def contents(self, image: Any) -> Buffer:
        if not isinstance(image, bytes):
            image = encode_png(image) if self._deep else encode(image, self.encoding)
        return super().contents(image)


def _pixels(numbers: Numbers, value: Any, shape: Shape) -> NDArray[Any]:
    """Return pixels as an array of a shape.

    Raises:
        Problem: they are not.
    """
    try:
        pixels = numbers.convert(value)
    except Problem as problem:
        floats = isinstance(value, np.ndarray) and value.dtype.kind == "f"
        if numbers.dtype == "uint8" and floats:
            raise Problem(problem.found, problem.expected, _FLOATS) from None
        raise
    check_shape(pixels, shape)
    if not pixels.size:
        raise Problem("an image without pixels", "at least one pixel")
    return pixels


@dataclass(eq=False, kw_only=True)
class Images(_Resized):
    """A list of encoded images: a value of one bytes list for each.

    Attributes:
        count: how many there are, or None for any number from 0.
        max_count: the most there may be, or None.
        group: the group of fields that are equally long.
    """

    encoding: str = "jpeg"
    count: int | None = None
    max_count: int | None = None
    group: str | None = None

    of_pixels: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self._one = _EncodedImage(self)
        self._limit = Limit(self.max_count, noun="images")

    def make_parts(self) -> tuple[Part, ...]:
        part = Part(
            self.key,
            BYTES,
            self.count,
            self.max_count,
            encoding=self.encoding,
            dtype="uint8",
            shape=() if self.count is None else (self.count,),
            missing=b"" if self.optional and self.count else None,
        )
        return (part,)

    @property
    def delivered_shape(self) -> Shape:
        return (self.count, *(self.resize or self.shape[:2]), self.shape[2])

    @property
    def decoded_as(self) -> tuple[str, Shape]:
        return "bytes", (self.count,)

    @property
    def limit(self) -> int | None:
        return self.max_count

    @property
    def item_size(self) -> int | None:
        return 1 if self.count is None else None

    annotation = "Sequence[bytes | NDArray[np.uint8]] | NDArray[np.uint8]"

    @property
    def stored_text(self) -> str:
        return f"bytes_list (each {self.encoding})"

    @property
    def takes(self) -> str:
        number = "" if self.max_count is None else f"at most {self.max_count} "
        number = number if self.count is None else f"{self.count} "
        form = "encoded" if self.encoding == "any" else self.encoding
        shape = shape_text(self.shape)
        return f"a list of {number}{form} images, as bytes or uint8 {shape}"

    @property
    def delivers(self) -> str:
        text = f"{self.dtype} {batch_text(self.delivered_shape, 'THWC')}{self._range}"
        return text if self.count else f"{text}, padded with zeros"

    @property
    def if_missing(self) -> str:
        return "empty" if self.count is None else "zeros"

    def convert(
        self, value: Any
    ) -> list[bytes | NDArray[np.uint8]] | NDArray[np.uint8]:
        if isinstance(value, np.ndarray):
            check_shape(value, (None, *self.shape))
        elif not isinstance(value, (list, tuple)):
            raise Problem(
                described(value), "a list of images, or an array [N, H, W, C]"
            )
        if self.count not in (None, len(value)):
            raise Problem(f"{len(value)} images", str(self.count))
        self._limit.check(len(value))
        pictures = of_each(self._one.convert, value)
        return value if isinstance(value, np.ndarray) else pictures

    def _pieces(self, value: Any) -> Pieces:
        return self._entry.listing(of_each(self._one.contents, self.convert(value)))

    def decode(self, features: Features) -> Decoding:
        (part,) = self.parts
        column = yield from part.column(features, f"{part.text}, each an image")
        if part.count is not None and self.optional:
            nothing = (column.sizes.reshape(-1, part.count) == 0).all(axis=1)
            column = column.only(~nothing)
        column = yield from checked_pictures(column, self._one)
        column = yield from self._limit.rows(column, column.lengths)
        return Decoded(column.rows, lambda: self._values(column))

    def _values(self, column: Column) -> list[list[bytes]]:
        return split_rows(list(column.bytes_values()), column.lengths)

    def parse(self, parsed: Parsed) -> Any:
        data = parsed[self.key]
        if self.count is None:
            data = self._limit.tensor(data, self.label)
            images = self._decoded(data.flat_values, optional=False)
            return graph.padded(data.with_flat_values(images), 0)
        if self.optional:
            lacking = tf.reduce_sum(tf.cast(data == "", tf.int32), axis=1)
            data = graph.checked(
                data,
                (lacking == 0) | (lacking == self.count),
                f"field {self.label!r}: expected all of {self.count} images or none, "
                "found how many are empty",
                lacking,
            )
        flat = self._decoded(tf.reshape(data, (-1,)), optional=self.optional)
        images = tf.reshape(flat, (-1, self.count, *flat.shape[1:]))
        return tf.ensure_shape(images, (data.shape[0], *images.shape[1:]))
