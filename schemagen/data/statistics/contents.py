"""What bytes are: encoded images, serialized tensors, text, or none of these."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from ...support.errors import Problem
from ...support.image_headers import HEADERS, ImageHeader
from ...support.images import sniff

EMPTY, TEXT, TENSOR, RAW = "empty", "text", "tensor", "raw"
IMAGES = tuple(HEADERS)

# The numbers of TensorFlow's types.proto.
DTYPES = {
    1: "float32",
    2: "float64",
    3: "int32",
    4: "uint8",
    5: "int16",
    6: "int8",
    7: "string",
    8: "complex64",
    9: "int64",
    10: "bool",
    11: "qint8",
    12: "quint8",
    13: "qint32",
    14: "bfloat16",
    15: "qint16",
    16: "quint16",
    17: "uint16",
    18: "complex128",
    19: "float16",
    22: "uint32",
    23: "uint64",
    24: "float8_e5m2",
    25: "float8_e4m3fn",
    29: "int4",
    30: "uint4",
}

# Text has no control characters but those that lay it out.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")

_VARINT, _FIXED64, _SIZED, _FIXED32 = 0, 1, 2, 5
_FIXED = {_FIXED64: 8, _FIXED32: 4}
_LAST_TENSOR_FIELD = 18


class Picture(NamedTuple):
    """What the header of an encoded image says; sizes in pixels, bits per channel."""

    format: str
    height: int
    width: int
    channels: int
    bits: int


class TensorHead(NamedTuple):
    """Of a serialized tf.TensorProto; `shape` is None if its rank is not known."""

    dtype: str
    shape: tuple[int, ...] | None


class Content(NamedTuple):
    """What a bytes value is.

    Attributes:
        format: "jpeg", "png", "gif", "bmp", "webp", "tensor", "text", "raw", "empty".
        utf8: whether it is UTF-8; text without control characters is "text", too.
        picture: of an image.
        trouble: why an image's header does not say what it is; empty if it does.
        tensor: of a serialized tensor.
    """

    format: str
    utf8: bool = False
    picture: Picture | None = None
    trouble: str = ""
    tensor: TensorHead | None = None


_WORDS = Content(TEXT, utf8=True)


def content_of(value: bytes) -> Content:
    """Tell what a bytes value is."""
    if not value:
        return Content(EMPTY, utf8=True)
    if value.isascii() and value.decode().isprintable():
        return _WORDS  # most bytes are these, or images
    image = sniff(value)
    if image is not None:
        found = _image(value, image)
        # Words begin with the two or four letters of bmp and webp, too.
        if found.picture or image in ("jpeg", "png"):
            return found
        text = _text(value)
        return found if text.format == RAW else text
    if value[0] == 0x08:
        tensor = tensor_head(value)
        if tensor is not None:
            return Content(TENSOR, tensor=tensor)
    return _text(value)


def _image(value: bytes, image: str) -> Content:
    try:
        header = HEADERS[image](value)
    except Problem as problem:
        return Content(image, trouble=problem.found)
    return _content_of_image(image, header)


@lru_cache(maxsize=4096)
def _content_of_image(image: str, header: ImageHeader | None) -> Content:
    if header is None:
        return Content(image, trouble=f"a truncated {image} image")
    return Content(image, picture=Picture(image, *header))


def _text(value: bytes) -> Content:
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return Content(RAW)
    plain = text.isprintable() or not _CONTROL.search(text)
    return Content(TEXT if plain else RAW, utf8=True)


def tensor_head(value: bytes) -> TensorHead | None:
    """Read the dtype and the shape of a serialized tf.TensorProto; None if it is none.

    It has a dtype first, fields that a TensorProto has, and ends where the last ends.
    """
    dtype, shape = None, None
    try:
        for number, wire, start, stop in _fields(value, 0, len(value)):
            if number > _LAST_TENSOR_FIELD or (number in (1, 3)) != (wire == _VARINT):
                return None
            if number == 1:
                dtype = DTYPES.get(_varint(value, start)[0])
            elif number == 2:
                shape = _shape(value, start, stop)
    except (IndexError, ValueError):
        return None
    return None if dtype is None else TensorHead(dtype, shape)


def _shape(value: bytes, start: int, stop: int) -> tuple[int, ...] | None:
    sizes = []
    for number, wire, at, end in _fields(value, start, stop):
        if number == 3:  # unknown rank
            return None
        if number != 2 or wire != _SIZED:
            raise ValueError
        size = 0
        for part, kind, begin, _ in _fields(value, at, end):
            if part == 1 and kind == _VARINT:
                size = _varint(value, begin)[0]
        if size >> 63:
            raise ValueError
        sizes.append(size)
    return tuple(sizes)


def _fields(value: bytes, at: int, stop: int) -> list[tuple[int, int, int, int]]:
    found = []
    while at < stop:
        tag, at = _varint(value, at)
        number, wire, start = tag >> 3, tag & 7, at
        if wire == _SIZED:
            size, start = _varint(value, at)
            at = start + size
        elif wire == _VARINT:
            at = _varint(value, at)[1]
        elif wire in _FIXED:
            at += _FIXED[wire]
        else:
            raise ValueError
        if not number or at > stop:
            raise ValueError
        found.append((number, wire, start, at))
    return found


def _varint(value: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while shift < 70:
        byte = value[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number, at
    raise ValueError
