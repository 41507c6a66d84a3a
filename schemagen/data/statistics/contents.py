"""What bytes are: encoded images, serialized tensors, text, or none of these."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from ...runtime.shared.errors import Problem
from ...runtime.shared.image_headers import HEADERS, ImageHeader
from ...runtime.shared.images import sniff
from ..tensor_proto import TensorHead, tensor_head

EMPTY, TEXT, TENSOR, RAW = "empty", "text", "tensor", "raw"
IMAGES = tuple(HEADERS)

# Text has no control characters but those that lay it out.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


class Picture(NamedTuple):
    """What the header of an encoded image says; sizes in pixels, bits per channel."""

    format: str
    height: int
    width: int
    channels: int
    bits: int


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
    tensor = tensor_head(value)
    return _text(value) if tensor is None else Content(TENSOR, tensor=tensor)


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
