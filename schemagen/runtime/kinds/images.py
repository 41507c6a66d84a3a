"""Images: raw or encoded, one or several in a record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from math import prod
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..cells.decoded import Form, Values
from ..cells.part import Part
from ..cells.written import RawRows, Written
from ..images import graph_images, pixels
from ..images.formats import (
    ANY,
    DECODED,
    ENCODINGS,
    FORMATS_OF,
    Encoding,
    channels_of,
    decode,
    dtypes_of,
    encode,
    header_of,
    image_of,
    in_python,
    sniff,
    with_article,
)
from ..images.headers import EXIF_START, ImageHeader
from ..native.memory import empty
from ..shared.dtypes import DTYPES, FLOATS, INTEGERS
from ..shared.errors import DatasetError, Problem, warn
from ..shared.requirements import lazy_tf as tf
from ..shared.values import Numbers, check_shape, described, shape_text
from ..tensorflow import graph
from ..tensorflow.parsed import Parsed
from .augment import Augment, Augmentation, crop_problems
from .changes import DTYPE, ENCODING, KEY, ORIENTATION, RESIZING, SHAPE, TRANSFER
from .kind import Default, Kind
from .parameters import (
    HeightAndWidth,
    Name,
    OneOf,
    Size,
    TransferEncoding,
    declared,
    parameter,
)
from .pictures import Picture, advice_for, read_size

_DECLARE_ANY = "give such an image, or declare encoding='any'"
_FLOATS = (
    "of pixels x from 0 to 1 give (x * 255).round().astype('uint8'), and of others "
    "x.round().astype('uint8')"
)

DTYPES_OF_PIXELS = (*INTEGERS, *FLOATS)
# The first segments of a JPEG, of which cameras write EXIF data as one.
_HEAD = 256

# Interpolation calculates in float32, which does not hold all that these do.
_TOO_WIDE = tuple(
    name for name, dtype in DTYPES.items() if dtype.size >= 4 and name != "float32"
)

ImageShape = Annotated[
    tuple[Size | None, Size | None, Size | None],
    "(height, width, channels) in pixels, such as (224, 224, 3)",
]
Interpolation = Literal["bilinear", "nearest"]
Orientation = Literal["keep", "apply", "refuse"]


class Resized(Kind):
    """Pictures that are decoded and resized when they are read."""

    shape: tuple[int | None, int | None, int | None]
    resize: tuple[int, int] | None
    interpolation: str
    antialias: bool
    scaled_decoding: bool
    orientation: str
    encoding: str
    augment: Augment | None

    def bind(self) -> None:
        super().bind()
        self._numbers = Numbers(self.stored_dtype)

    def resize_problems(self) -> Iterator[Problem]:
        """Yield what does not go together in how images are decoded and resized."""
        nearest = self.interpolation == "nearest"
        if self.resize is None and (nearest or self.antialias or self.scaled_decoding):
            yield Problem(
                "interpolation, antialias or scaled_decoding without resize",
                "resize=(height, width)",
            )
        if nearest and self.antialias:
            yield Problem(
                "antialias=True with interpolation='nearest'",
                "interpolation='bilinear'",
            )
        if self.scaled_decoding and self.encoding != "jpeg":
            yield Problem(
                f"scaled_decoding=True with encoding={self.encoding!r}",
                "encoding='jpeg'",
            )
        if self.orientation != "keep" and self.encoding not in ("jpeg", "any"):
            yield Problem(
                f"orientation={self.orientation!r} with encoding={self.encoding!r}",
                "encoding='jpeg' or 'any': the orientation is that of JPEGs",
            )
        yield from crop_problems(self.augment, read_size(self))

        recolors = self.augment is not None and self.augment.recolors
        if recolors and self.stored_dtype in _TOO_WIDE:
            yield Problem(
                f"brightness or contrast of {self.dtype} pixels",
                "flips and crop",
                f"they are calculated in float32, which does not hold every {self.dtype}",
            )

    def encoded_problems(self) -> Iterator[Problem]:
        """Yield what an encoding of images does not hold."""
        encoding, channels = self.encoding, self.shape[2]
        allowed, stored = channels_of(encoding), dtypes_of(encoding)
        if channels not in allowed:
            yield Problem(
                f"{channels} channels with encoding={encoding!r}",
                f"{' or '.join(map(str, allowed))}, as the last size of the shape",
            )
        if self.dtype not in (*stored, *(("float32",) if self.resize else ())):
            yield Problem(
                f"dtype={self.dtype!r} with encoding={encoding!r}",
                f"{' or '.join(stored)}, or float32 with resize=(height, width)",
            )

    @property
    def stored_dtype(self) -> str:
        """The dtype of the pixels in rows and files, which reading may convert."""
        if self.encoding == "raw" or self.dtype in dtypes_of(self.encoding):
            return str(self.dtype)
        return "uint8"  # of resized pixels that are not rounded

    @property
    def largest(self) -> int | None:
        """The largest stored value of a pixel; None for floats."""
        bounds = DTYPES[self.stored_dtype].bounds
        return None if bounds is None else bounds[1]

    @property
    def named(self) -> str:
        """The format with its article, in words."""
        return "an encoded" if self.encoding == ANY else with_article(self.encoding)

    def picture(self, value: Any) -> bytes | NDArray[Any]:
        """Return an encoded image as it is, or an array of its pixels.

        Raises:
            Problem: neither, or of another shape.
        """
        if isinstance(value, np.ndarray):
            plain = type(value) is np.ndarray and value.shape == self.shape
            as_given = self.encoding == "raw" and plain and self._numbers.accepts(value)
            return value if as_given else self._pixels(value)
        if self.encoding == "raw":
            return self._pixels(value)
        if not isinstance(value, bytes):
            raise Problem(
                described(value),
                f"the bytes of {image_of(self.encoding)} or an array of its pixels",
                advice_for(value),
            )
        if self.orientation == "keep" and value.find(EXIF_START, 0, _HEAD) > 0:
            self._warn_if_turned(value)
        return value

    def _warn_if_turned(self, data: bytes) -> None:
        try:
            _, header = self.header_of(data)
        except Problem:  # which the check of what was packed says
            return
        if header.orientation != 1:
            _warn_of_turned(self.label)

    def _pixels(self, value: Any) -> NDArray[Any]:
        try:
            pixels = self._numbers.convert(value)
        except Problem as problem:
            floats = isinstance(value, np.ndarray) and value.dtype.kind == "f"
            if self.stored_dtype == "uint8" and floats:
                raise Problem(problem.found, problem.expected, _FLOATS) from None
            raise
        try:
            check_shape(pixels, self.shape)
        except Problem as problem:
            advice = self._advice_for_shape(pixels.shape)
            raise Problem(problem.found, problem.expected, advice) from None
        if not pixels.size:
            raise Problem("an image without pixels", "at least one pixel")
        return pixels

    def _advice_for_shape(self, shape: tuple[int, ...]) -> str:
        """Return how an array is brought to the declared order of its dimensions."""

        def fits(found: tuple[int, ...]) -> bool:
            return all(n in (None, m) for n, m in zip(self.shape, found, strict=True))

        if len(shape) == 2 and fits((*shape, 1)):
            return "pass image[..., None]"
        if len(shape) == 3 and fits((shape[1], shape[2], shape[0])):
            return "the channels come last: pass image.transpose(1, 2, 0); permute of a tensor"
        return ""

    def header_of(self, data: bytes) -> tuple[str, ImageHeader]:
        """Return the format and the header of an image, with its size as it is read.

        Raises:
            Problem: it is no such image.
        """
        form, header = header_of(data, self.encoding)
        return form, header.upright if self.orientation == "apply" else header

    def check_encoded(self, data: bytes) -> ImageHeader:
        """Compare what the header says with what readers will ask for, and return it.

        Readers turn grey into RGB and add an opaque alpha channel, both without
        loss. The reverse would lose something and is refused; so are 8 bits for 16,
        which decoders scale.

        Raises:
            Problem: readers would not read it as the schema says.
        """
        bits = 8 * DTYPES[self.stored_dtype].size
        try:
            form, header = self.header_of(data)
        except Problem as problem:
            known = sniff(data)
            others = FORMATS_OF[ANY].keys() - {self.encoding}
            if known in others and self.encoding != ANY and bits == 8:
                raise Problem(problem.found, problem.expected, _DECLARE_ANY) from None
            raise
        height, width, channels = self.shape
        # tensorflow makes a wrong alpha channel for grey of fewer bits.
        shallow = header.bits < bits == 8 and (channels or 0) < 4
        if header.bits != bits and not shallow:
            raise Problem(f"{header.bits} bits a channel", f"{bits} bits a channel")
        fits = (
            header.channels <= (channels or 0)
            and header.channels in DECODED[form].channels
        )
        if height not in (None, header.height) or width not in (None, header.width):
            fits = False
        if not fits:
            raise Problem(
                f"an image of shape {shape_text(header[:3])}",
                f"shape {shape_text(self.shape)}",
            )
        if header.orientation != 1 and self.orientation == "refuse":
            raise Problem(
                f"EXIF orientation {header.orientation}",
                "an image of EXIF orientation 1",
                "turn its pixels, or declare orientation='apply'",
            )
        if self.stored_dtype in FLOATS:
            self._check_floats(data)
        return header

    def _check_floats(self, data: bytes) -> None:
        try:
            right = np.isfinite(decode(data, pixels.Wanted(self.shape[2] or 3))).all()
        except ValueError as error:
            raise Problem(f"an image that is damaged: {error}", "a whole one") from None
        if not right:
            raise Problem("a pixel that is NaN or infinite", "finite pixels")

    def encoded(self, pixels: NDArray[Any]) -> bytes:
        """Encode the pixels of an image.

        Raises:
            Problem: the format cannot hold them.
        """
        return encode(pixels, self.encoding)

    def _arrays_of(self, contents: Sequence[bytes]) -> Values:
        """Decode encoded images to arrays [height, width, channels], in one if alike."""
        size = (*(self.resize or self.shape[:2]), self.shape[2])
        if None in size:
            return pixels.each(self._array_of, contents)
        images = empty((len(contents), *size), self.dtype)  # type: ignore[arg-type]

        def put(numbered: tuple[int, bytes]) -> None:
            images[numbered[0]] = self._array_of(numbered[1])

        pixels.each(put, list(enumerate(contents)))
        return images

    def _array_of(self, data: bytes) -> NDArray[Any]:
        try:
            wanted = pixels.Wanted(
                self.shape[2] or 3,
                deep=self.stored_dtype == "uint16",
                least=self.resize if self.scaled_decoding else None,
                upright=self.orientation == "apply",
            )
            image = decode(data, wanted)
        except DatasetError as error:
            raise DatasetError(f"field {self.label!r}: {error}") from None
        return self._resized(image)

    def _resized(self, image: NDArray[Any]) -> NDArray[Any]:
        if self.resize is None:
            return image
        return pixels.resized(
            image,
            self.resize,
            self.interpolation,
            antialias=self.antialias,
            dtype=self.dtype,
        )

    def _decoded(self, data: Any, *, optional: bool, measure: bool = False) -> Any:
        """Decode encoded images: dtype [B, height, width, channels].

        Args:
            data: string [B].
            optional: whether "" is a missing image.
            measure: whether to return their stored sizes too: int64 [B, 2].
        """
        if in_python(self.encoding):
            DECODED[self.encoding].needs()
            return graph_images.decode_in_python(
                data,
                self.label,
                partial(self._in_python, optional=optional),
                (*read_size(self), self.shape[2]),
                tf.as_dtype(self.dtype),
                measure=measure,
            )
        return graph_images.decode_images(
            data,
            self.label,
            self.encoding,
            self.shape,
            self.resize,
            self.interpolation,
            antialias=self.antialias,
            scaled_decoding=self.scaled_decoding,
            orientation=self.orientation,
            dtype=tf.as_dtype(self.dtype),
            optional=optional,
            measure=measure,
        )

    def _in_python(
        self, contents: NDArray[Any], *, optional: bool
    ) -> tuple[NDArray[Any], NDArray[np.int64], str]:
        """Decode encoded images for TensorFlow; "" is a missing one if they are optional.

        Returns:
            Pixels [B, height, width, channels], stored sizes [B, 2], and what is wrong.
        """
        there = [at for at, data in enumerate(contents) if data or not optional]
        size = [n or 1 for n in (*read_size(self), self.shape[2])]
        images = np.zeros((len(contents), *size), self.dtype)
        sizes = np.zeros((len(contents), 2), np.int64)
        try:
            found = [contents[at] for at in there]
            headers = [self.check_encoded(data) for data in found]
            sizes[there] = np.array(headers)[:, :2] if there else 0
            read = self._arrays_of(found)
        except (Problem, pixels.UndecodableError) as error:
            return images, sizes, str(error)
        if len(there) == len(images):
            images = np.asarray(read)
        elif there:
            images[there] = read
        return images, sizes, ""


@declared
class Image(Resized, Picture):
    """A picture, [height, width, channels].

    Attributes:
        shape: the pixels' shape. Height and width may be None: any size. Raw pixels
            then need the keys that say which, and may have any number of channels.
        encoding: "raw" stores the pixels as little-endian bytes, row by row; "jpeg",
            "png" and the other ENCODINGS store an encoded image, "any" one of these.
        dtype: the pixels' dtype; encoded images are uint8, PNGs also uint16, TIFFs also
            uint16 and float32. "float32" of others reads images of 8 bits that are
            resized without rounding, 0 to 255.
        resize: (height, width) to which images are brought when read.
        interpolation: how: "bilinear" or "nearest".
        antialias: whether images are filtered before they shrink, if bilinear.
        scaled_decoding: whether JPEGs are decoded at 1/2, 1/4 or 1/8 of their size, if
            that is not smaller than `resize`: faster, with other pixels.
        orientation: what becomes of the EXIF orientation of JPEGs: "keep" reads pixels
            as they are stored, "apply" turns them upright, "refuse" refuses images
            that are not upright.
        height_key: a key under which the height is written too, int64.
        width_key: a key under which the width is written too.
        channels_key: a key under which the number of channels is written too.
        format_key: a key under which the encoding is written too, as text.
        format_text: what is written there, in place of the encoding in small letters.
        augment: how the picture is varied in training.
        transfer_encoding: "base64" stores the bytes of the picture as base64 text.
        sizes: deliver `<name>_size`, the height and width that are stored, before
            `resize`: int64 [2]; 0 of a missing picture.
    """

    shape: ImageShape = parameter(*SHAPE)
    encoding: Annotated[Literal["raw", Encoding], OneOf(("raw", *ENCODINGS))] = (
        parameter(*ENCODING, default="raw")
    )
    dtype: Annotated[str, OneOf(DTYPES_OF_PIXELS)] = parameter(*DTYPE, default="uint8")
    resize: HeightAndWidth | None = parameter(*RESIZING, default=None)
    interpolation: Interpolation = parameter(
        *RESIZING, default="bilinear", omit_default=True
    )
    antialias: bool = parameter(*RESIZING, default=False, omit_default=True)
    scaled_decoding: bool = parameter(*RESIZING, default=False, omit_default=True)
    orientation: Orientation = parameter(
        *ORIENTATION, default="keep", omit_default=True
    )
    height_key: Name | None = parameter(*KEY, default=None, omit_default=True)
    width_key: Name | None = parameter(*KEY, default=None, omit_default=True)
    channels_key: Name | None = parameter(*KEY, default=None, omit_default=True)
    format_key: Name | None = parameter(default=None, omit_default=True)
    format_text: Name | None = parameter(default=None, omit_default=True)
    augment: Augmentation | None = parameter(default=None, omit_default=True)
    transfer_encoding: TransferEncoding = parameter(
        *TRANSFER, default=None, omit_default=True
    )
    sizes: bool = parameter(default=False, omit_default=True)

    kind: ClassVar[str] = "Image"
    takes_default: ClassVar[Default] = "none"
    holds: ClassVar[str] = "np.ndarray, or bytes if it is encoded"

    @property
    def python_type(self) -> str:
        return "np.ndarray" if self.encoding == "raw" else "bytes"

    def rules(self) -> Iterator[Problem]:
        yield from super().rules()
        if self.format_text and (self.format_key is None or self.encoding == "any"):
            yield Problem(
                f"format_text={self.format_text!r}",
                "the format_key it is written under, and one encoding for all images",
            )
        if self.encoding == "raw":
            yield from self.size_problems()
        else:
            yield from self.encoded_problems()
        yield from self.resize_problems()
        if self.resize and self.interpolation == "bilinear" and self.dtype in _TOO_WIDE:
            yield Problem(
                f"resize of {self.dtype} pixels with interpolation='bilinear'",
                "interpolation='nearest'",
                "bilinear interpolation calculates in float32, which does not hold "
                f"every {self.dtype}",
            )

    def make_parts(self) -> tuple[Part, ...]:
        value, *others = super().make_parts()
        if self.optional and self.encoding == "raw" and None not in self.shape:
            zero = bytes(DTYPES[self.stored_dtype].size)
            repeats = prod(size or 0 for size in self.shape)
            value = replace(value, missing=zero, repeats=repeats)
        return (value, *others)

    def convert(self, value: Any) -> bytes | NDArray[Any]:
        return self.picture(value)

    def pack(self, values: Any, rows: int) -> Sequence[Written]:
        size, alone = (
            self._raw_size,
            len(self.parts) == 1 and not self.transfer_encoding,
        )
        if size is None or not alone or not isinstance(values, np.ndarray):
            return super().pack(values, rows)
        pixels = self._numbers.convert(values)
        check_shape(pixels, (rows, *self.shape))
        return (Written(RawRows(self._numbers.raw(pixels), np.full(rows, size))),)

    @property
    def _empty_is_missing(self) -> bool:
        return self.optional and (not self._raw or None in self.shape)

    def in_form(self, values: Values, form: Form) -> Values:
        if not self._raw:
            return self._arrays_of(list(values)) if form.images else values
        if self.resize is None:
            return values
        images = list(map(self._resized, values))
        size = (*self.resize, self.shape[2] or 1)
        return np.stack(images) if images else np.empty((0, *size), self.dtype)

    def present(self, parsed: Parsed, tensor: Any) -> Any:
        if self._raw and None not in self.shape:
            return parsed.present(self.key)
        return super().present(parsed, tensor)

    def bind(self) -> None:
        super().bind()
        self.measured = self.sizes

    def parsed(self, parsed: Parsed) -> dict[str, Any]:
        found = super().parsed(parsed)
        if found and self.sizes:
            found[size_name(self)] = self.stored_sizes(parsed)
        return found

    def sizes_of(self, values: Values) -> NDArray[np.int64]:
        """Return height and width of decoded values, as they are stored: int64 [rows, 2]."""
        sizes = [
            value.shape[:2] if self._raw else self.header_of(value)[1][:2]
            for value in values
        ]
        return np.array(sizes, np.int64).reshape(-1, 2)

    def decoded(self, parsed: Parsed) -> Any:
        pixels, _ = self._pixels_and_sizes(parsed)
        return pixels

    def stored_sizes(self, parsed: Parsed) -> Any:
        """Return height and width of a batch, as they are stored: int64 [B, 2]."""
        _, sizes = self._pixels_and_sizes(parsed)
        return sizes

    def _pixels_and_sizes(self, parsed: Parsed) -> tuple[Any, Any]:
        """Return the pixels of a batch, and the stored sizes if they are measured.

        Images are decoded once, though their pixels and their boxes ask for it.
        """
        if self.name not in parsed.images:
            data = self.parts[0].tensor(parsed, self.label)
            if self._raw:
                pixels = self._raw_pixels(data, parsed)
                # What is wrong with the pixels is seen also where they are not asked for.
                with tf.control_dependencies([pixels]):
                    found = pixels, self._raw_sizes(data, parsed)
            elif self.measured:
                found = self._decoded(data, optional=self.optional, measure=True)
            else:
                found = self._decoded(data, optional=self.optional), None
            parsed.images[self.name] = found
        return parsed.images[self.name]

    def _raw_sizes(self, data: Any, parsed: Parsed) -> Any:
        if not self.measured:
            return None
        rows, stored = tf.shape(data)[0], self._sizes_in(parsed)
        axes = [
            stored[word]
            if size is None
            else tf.fill((rows,), tf.constant(size, tf.int64))
            for word, size in zip(("height", "width"), self.shape, strict=False)
        ]
        sizes = tf.stack(axes, axis=1)
        if not self.optional:
            return sizes
        there = self.present(parsed, None)
        return tf.where(there[:, tf.newaxis], sizes, tf.zeros_like(sizes))

    def _raw_pixels(self, data: Any, parsed: Parsed) -> Any:
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


def size_name(kind: Kind) -> str:
    """Return the name under which readers deliver stored sizes; "" if they do not."""
    return f"{kind.name}_size" if isinstance(kind, Image) and kind.sizes else ""


@cache
def _warn_of_turned(label: str) -> None:
    """Warn of the first image of a field that is not upright."""
    warn(
        f"field {label!r}: an image has an EXIF orientation, and is read as it is stored: "
        "declare orientation='apply' to read images upright"
    )
