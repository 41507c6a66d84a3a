"""The table of formats of encoded images.

An entry says all that is to be known of one. Kinds, writers, readers, checks, statistics and
errors take it from here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from numpy.typing import NDArray

from ..shared.errors import Problem
from . import avif, graph_formats, pixels, tiff
from .headers import (
    JPEG_START,
    PNG_START,
    ImageHeader,
    bmp_channels,
    encode_by_pillow,
    encode_png_image,
    gif_channels,
    header_by_pillow,
    image_with_palette,
    jpeg_header,
    png_header,
    webp_channels,
)
from .pixels import Wanted

Start = tuple[tuple[int, tuple[bytes, ...]], ...]
"""How a file begins: places in order, and at each of them one of some bytes.

Only those at the last place may differ in length.
"""

ANY = "any"
"""The encoding of fields whose images are of any format that all readers decode."""

# Fewer bytes than these may be the beginning of other data, too.
_SURE_BYTES = 3


@dataclass(frozen=True, kw_only=True)
class ImageFormat:
    """A format that is recognised by its first bytes.

    Attributes:
        name: what `encoding` of a field says, in small letters.
        title: its name in texts.
        begins: how each file of it begins.
        suffixes: what names of its files end in, behind a dot.
        opened_with: what opens it in Python, if no reader decodes it for `"any"`.
    """

    name: str
    title: str
    begins: Start
    suffixes: tuple[str, ...]
    opened_with: str = ""

    @property
    def image(self) -> str:
        """An image of it, in words."""
        return f"{with_article(self.title)} image"

    @property
    def like_text(self) -> bool:
        """Whether words may begin so, too."""
        pieces = [each for _, options in self.begins for each in options]
        return all(each.isascii() and each.decode().isprintable() for each in pieces)

    @property
    def pattern(self) -> bytes:
        """A regular expression of how each file of it begins."""
        found, end = b"", 0
        for at, options in self.begins:
            found += b".{%d}(?:%s)" % (at - end, b"|".join(map(re.escape, options)))
            end = at + len(options[0])
        return found

    def matched_bytes(self, data: bytes) -> int:
        """Return how many bytes tell the format of a file of it."""
        matched = 0
        for at, options in self.begins:
            matched += next(len(each) for each in options if data.startswith(each, at))
        return matched

    def advice(self, encoding: str = ANY) -> str:
        """Say how an image of it becomes one that a field takes."""
        wanted = {ANY: "PNG, JPEG or WebP", "raw": "pixels"}.get(encoding, encoding)
        return f"convert it to {wanted} with {self.opened_with}"


@dataclass(frozen=True, kw_only=True)
class DecodedFormat(ImageFormat):
    """A format that images of a field may have.

    Attributes:
        channels: how many a picture may have. Readers turn grey into RGB and add an
            opaque alpha channel.
        header: returns the header of an image that begins so. It returns None for a file
            whose end is missing, and raises a Problem for one that TensorFlow could not
            decode to the picture that the file holds.
        decode: from an image and how its pixels are wanted to [H, W, C] of one of its
            dtypes, the pixels that TensorFlow has, if it decodes the format.
        in_tensorflow: from a string scalar, the field's name and the number of channels
            to [H, W, C]; None if TensorFlow has no decoder, and calls that of Python.
        encode: from pixels [H, W, C] to an image. It raises a Problem for pixels that the
            format cannot hold.
        dtypes: of the pixels that it may hold.
        needs: imports what decodes it. It raises an ImportError that says what to install.
    """

    channels: tuple[int, ...]
    header: Callable[[bytes], ImageHeader | None]
    decode: Callable[[bytes, Wanted], NDArray[Any]]
    in_tensorflow: Callable[..., Any] | None
    encode: Callable[[NDArray[Any]], bytes]
    dtypes: tuple[str, ...] = ("uint8",)
    needs: Callable[[], object] = bool


FORMATS: tuple[ImageFormat, ...] = (
    DecodedFormat(
        name="jpeg",
        title="JPEG",
        begins=((0, (JPEG_START,)),),
        suffixes=("jpeg", "jpg"),
        channels=(1, 3),
        header=jpeg_header,
        decode=pixels.decode_jpeg,
        in_tensorflow=graph_formats.decode_jpeg,
        encode=partial(encode_by_pillow, "jpeg", quality=95),
    ),
    DecodedFormat(
        name="png",
        title="PNG",
        begins=((0, (PNG_START,)),),
        suffixes=("png",),
        channels=(1, 3, 4),
        header=png_header,
        decode=pixels.decode_png,
        in_tensorflow=graph_formats.decode_png,
        encode=encode_png_image,
        dtypes=("uint8", "uint16"),
    ),
    DecodedFormat(
        name="bmp",
        title="BMP",
        begins=((0, (b"BM",)),),
        suffixes=("bmp",),
        channels=(1, 3, 4),
        header=partial(header_by_pillow, "Bmp", bmp_channels),
        decode=pixels.decode_bmp,
        in_tensorflow=graph_formats.decode_bmp,
        encode=partial(encode_by_pillow, "bmp"),
    ),
    DecodedFormat(
        name="gif",
        title="GIF",
        begins=((0, (b"GIF8",)), (4, (b"7a", b"9a"))),
        suffixes=("gif",),
        channels=(3,),
        header=partial(header_by_pillow, "Gif", gif_channels),
        decode=pixels.decode_gif,
        in_tensorflow=graph_formats.decode_gif,
        encode=partial(encode_by_pillow, "gif", image_of=image_with_palette),
    ),
    DecodedFormat(
        name="webp",
        title="WebP",
        begins=((0, (b"RIFF",)), (8, (b"WEBP",))),  # other files are RIFF too
        suffixes=("webp",),
        channels=(3, 4),
        header=partial(header_by_pillow, "WebP", webp_channels),
        decode=partial(pixels.decode_by_pillow, "webp"),
        in_tensorflow=graph_formats.decode_webp,
        # exact: also below full transparency
        encode=partial(encode_by_pillow, "webp", lossless=True, exact=True),
    ),
    DecodedFormat(
        name="tiff",
        title="TIFF",
        begins=((0, (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")),),
        suffixes=("tiff", "tif"),
        opened_with="Pillow",
        channels=(1, 3, 4),
        header=tiff.header,
        decode=tiff.decode,
        in_tensorflow=None,
        encode=tiff.encode,
        dtypes=("uint8", "uint16", "float32"),
        needs=tiff.library,
    ),
    DecodedFormat(
        name="avif",
        title="AVIF",
        begins=((4, (b"ftypavif", b"ftypavis")),),
        suffixes=("avif",),
        opened_with="Pillow 11.3 or later",
        channels=(3, 4),
        header=avif.header,
        decode=avif.decode,
        in_tensorflow=None,
        encode=avif.encode,
        needs=avif.pillow_with_codec,
    ),
    ImageFormat(
        name="heic",
        title="HEIC",
        begins=(
            (4, (b"ftyp",)),
            (8, (b"heic", b"heix", b"hevc", b"hevx", b"mif1", b"msf1")),
        ),
        suffixes=("heic", "heif"),
        opened_with="Pillow and pillow-heif",
    ),
    ImageFormat(
        name="jxl",
        title="JPEG XL",
        begins=((0, (b"\xff\x0a", b"\0\0\0\x0cJXL \r\n\x87\n")),),
        suffixes=("jxl",),
        opened_with="Pillow and pillow-jxl-plugin",
    ),
)
"""Each format that is recognised."""

DECODED = {each.name: each for each in FORMATS if isinstance(each, DecodedFormat)}
"""Each format that images of a field may have, by its name."""

UNDECODED = {each.name: each for each in FORMATS if each.name not in DECODED}
"""Each format that is recognised, so that errors can name it, and not decoded."""

_BY_NAME = {each.name: each for each in FORMATS}
_BEGINS = re.compile(
    b"|".join(b"(?P<%s>%s)" % (each.name.encode(), each.pattern) for each in FORMATS),
    re.DOTALL,
)

FORMATS_OF: dict[str, dict[str, DecodedFormat]] = {
    **{name: {name: each} for name, each in DECODED.items()},
    ANY: {name: each for name, each in DECODED.items() if each.in_tensorflow},
}
"""The formats that images of an encoding may have, by their names."""

ENCODINGS = tuple(FORMATS_OF)
"""What a field says of encoded images."""

Encoding = Literal["jpeg", "png", "bmp", "gif", "webp", "tiff", "avif", "any"]
"""ENCODINGS, for type checkers, which do not run the table."""


def channels_of(encoding: str) -> list[int]:
    """Return how many channels a picture of an encoding may have.

    Readers turn grey into RGB and add an opaque alpha channel, so that "any" may hold
    what only some formats can.
    """
    formats = FORMATS_OF[encoding].values()
    return sorted({number for each in formats for number in each.channels})


def dtypes_of(encoding: str) -> tuple[str, ...]:
    """Return the dtypes of pixels that each format of an encoding may hold."""
    first, *others = (each.dtypes for each in FORMATS_OF[encoding].values())
    return tuple(dtype for dtype in first if all(dtype in each for each in others))


def in_python(encoding: str) -> bool:
    """Tell whether TensorFlow has no decoder for an encoding."""
    return not all(each.in_tensorflow for each in FORMATS_OF[encoding].values())


def recognised(data: bytes) -> ImageFormat | None:
    """Tell a format by an image's first bytes; None if they are of no known one."""
    found = _BEGINS.match(data)
    return _BY_NAME[found.lastgroup or ""] if found else None


def sniff(data: bytes) -> str | None:
    """Tell a decoded format by an image's first bytes; None for other bytes."""
    found = recognised(data)
    return found.name if found and found.name in DECODED else None


def undecoded(data: bytes, sure_bytes: int = _SURE_BYTES) -> ImageFormat | None:
    """Tell a format that `"any"` does not take by an image's first bytes; None for others.

    Args:
        data: any bytes.
        sure_bytes: the fewest bytes that tell a format: 1 where an image is expected.
    """
    found = recognised(data)
    if found is None or not found.opened_with or found.matched_bytes(data) < sure_bytes:
        return None
    return found


def header_of(data: bytes, encoding: str = ANY) -> tuple[str, ImageHeader]:
    """Return the format and the header of an encoded image whose end is there.

    Args:
        data: the encoded image.
        encoding: one of ENCODINGS.

    Raises:
        Problem: another format, a damaged header, a truncated image, or one that
            tensorflow does not decode to the picture that it holds.
    """
    found = _BEGINS.match(data)
    form = FORMATS_OF[encoding].get(found.lastgroup or "") if found else None
    if form is None:
        raise _refusal(data, encoding)
    header = form.header(data)
    if header is None:
        raise Problem(f"a truncated {form.name} image", f"a whole {form.name} image")
    return form.name, header


def _refusal(data: bytes, encoding: str) -> Problem:
    found, expected = recognised(data), image_of(encoding)
    if found is not None and not found.opened_with:
        return Problem(image_of(found.name), expected)
    if found is not None:
        return Problem(found.image, expected, found.advice(encoding))
    start = f"bytes that begin with {_shown(data[:8])}" if data else "no bytes"
    return Problem(start, expected)


def image_of(encoding: str) -> str:
    """Return an image of an encoding, in words."""
    if encoding == ANY:
        return "an image of any known format"
    return f"{with_article(encoding)} image"


def with_article(name: str) -> str:
    """Return the name of a format with its article."""
    return f"{'an' if name[0] in 'aA' else 'a'} {name}"


def _shown(start: bytes) -> str:
    """Write bytes as text, such as that of HTML, if they are; otherwise as hex."""
    if start.isascii() and b"".join(start.split()).decode().isprintable():
        return repr(start.decode())
    return start.hex(" ")


def encode(pixels: NDArray[Any], encoding: str) -> bytes:
    """Encode pixels [H, W, C] of a dtype that the encoding may hold.

    JPEG and AVIF are written at quality 95, the others without loss; of "any" it is PNG.

    Raises:
        Problem: the format cannot hold the pixels.
    """
    return DECODED["png" if encoding == ANY else encoding].encode(pixels)


def decode(data: bytes, wanted: Wanted) -> NDArray[Any]:
    """Decode an image whose header has been read: [H, W, C] of its own dtype.

    Raises:
        DatasetError: Pillow decodes such images to other pixels.
    """
    found = sniff(data)
    assert found is not None
    return DECODED[found].decode(data, wanted)
