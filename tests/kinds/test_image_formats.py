"""Encoded images: what their headers say, against Pillow and TensorFlow."""

from __future__ import annotations

import re
from collections.abc import Callable
from io import BytesIO
from types import ModuleType
from typing import Any, NamedTuple, get_args

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as Pillow
from schemagen.runtime.images import formats
from schemagen.runtime.images.headers import ImageHeader
from schemagen.runtime.images.pixels import Wanted
from schemagen.runtime.kinds.images import Image
from schemagen.runtime.records.packed import converted
from schemagen.runtime.shared.errors import Problem
from stored_features import blobs, example

HEIGHT, WIDTH = 5, 7
SIZE = (HEIGHT, WIDTH)
_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
_LOSSLESS = {"lossless": True, "exact": True}


def pixels(channels: int) -> Any:
    """Return pixels of few colours, of which no alpha is 0."""
    noise = np.random.default_rng(channels).integers(1, 6, (HEIGHT, WIDTH, channels))
    return (noise * 50).astype(np.uint8)


def _noise(mode: str) -> Pillow.Image:
    """Return a larger picture of many colours, in a mode of Pillow's."""
    channels = {"LA": 2, "RGB": 3, "RGBA": 4, "CMYK": 4}.get(mode, 1)
    noise = np.random.default_rng(channels).integers(0, 256, (18, 25, channels))
    array = noise.astype(np.uint8)
    if channels > 1:
        return Pillow.fromarray(array, mode)
    if mode == "I;16":
        return Pillow.fromarray(array[:, :, 0].astype(np.uint16) * 257)
    return Pillow.fromarray(array[:, :, 0]).convert(mode)


def saved(array: Any, form: str, **options: Any) -> bytes:
    """Encode pixels, or a picture of Pillow's."""
    if isinstance(array, np.ndarray):
        array = Pillow.fromarray(array[:, :, 0] if array.shape[2] == 1 else array)
    out = BytesIO()
    array.save(out, format=form, **options)
    return out.getvalue()


ParserOf = Callable[[str], ModuleType]


def decoded(
    parser_of: ParserOf, shape: Any, form: str, data: bytes, *, graph: bool = False
) -> tf.Tensor:
    """Decode an image as generated code does."""
    parse_batch = parser_of(f"Image({shape}, {form!r})").parse_batch
    record = example({"x": blobs(data)})
    if graph:
        parse_batch = tf.function(parse_batch, autograph=False)
    return parse_batch([record])["x"]


def _picture(channels: int) -> Pillow.Image:
    return Pillow.open(BytesIO(saved(pixels(channels), "png")))


def _replaced(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new) :]


_PALETTE = _picture(3).convert("P")
_GIF = saved(pixels(3), "gif")
_BMP = saved(pixels(3), "bmp")
_BMP_RGBA = saved(pixels(4), "bmp")
_WEBP = saved(pixels(3), "webp", **_LOSSLESS)
_FRAMES = {"save_all": True, "append_images": [Pillow.fromarray(255 - pixels(3))]}
_MASKS = bytes.fromhex("0000ff00 00ff0000 ff000000")


class _File(NamedTuple):
    """An encoded image, and what its header says."""

    data: bytes
    form: str
    channels: int
    bits: int = 8
    size: tuple[int, int] = SIZE

    @property
    def header(self) -> ImageHeader:
        """What is read of it."""
        return ImageHeader(*self.size, self.channels, self.bits)


def _jpeg(mode: str, channels: int, **options: Any) -> _File:
    return _File(saved(_noise(mode), "jpeg", **options), "jpeg", channels, 8, (18, 25))


def _png(mode: str, channels: int, bits: int = 8, **options: Any) -> _File:
    return _File(saved(_noise(mode), "png", **options), "png", channels, bits, (18, 25))


# The EXIF of a JPEG holds a whole JPEG of another size, end marker included.
_EXIF = b"Exif\x00\x00" + saved(_noise("RGB").resize((8, 6)), "jpeg")

_JPEGS = {
    "baseline": _jpeg("RGB", 3),
    "progressive": _jpeg("RGB", 3, progressive=True),
    "restart markers": _jpeg("RGB", 3, restart_marker_blocks=1),
    "grey": _jpeg("L", 1),
    "cmyk": _jpeg("CMYK", 3),
    "comment": _jpeg("RGB", 3, comment=b"\xff\xd9\xff\xda"),
    "thumbnail": _jpeg("RGB", 3, exif=_EXIF),
}
_PNGS = {
    "png grey": _png("L", 1),
    "png grey and alpha": _png("LA", 2),
    "png RGB": _png("RGB", 3),
    "png RGBA": _png("RGBA", 4),
    "png palette": _png("P", 3),
    "png palette with transparency": _png("P", 4, transparency=3),
    "png grey with transparency": _png("L", 2, transparency=3),
    "png RGB with transparency": _png("RGB", 4, transparency=(1, 2, 3)),
    "png black and white": _png("1", 1, 1),
    "png of 16 bits": _png("I;16", 1, 16),
}
_OTHERS = {
    "bmp grey": _File(saved(pixels(1), "bmp"), "bmp", 1),
    "bmp RGB": _File(_BMP, "bmp", 3),
    "bmp RGBA": _File(_BMP_RGBA, "bmp", 4),
    "bmp with masks": _File(
        _replaced(
            _replaced(_BMP_RGBA[:54] + _MASKS + _BMP_RGBA[54:], 30, b"\3"), 10, b"\x42"
        ),
        "bmp",
        4,
    ),
    "gif": _File(_GIF, "gif", 3),
    "gif with comment": _File(saved(pixels(3), "gif", comment=b"a;b," * 99), "gif", 3),
    "gif with transparency": _File(
        saved(_PALETTE, "gif", transparency=_PALETTE.getpixel((0, 0))),
        "gif",
        4,
    ),
    "webp": _File(_WEBP, "webp", 3),
    "webp lossy": _File(saved(pixels(3), "webp"), "webp", 3),
    "webp lossy with alpha": _File(saved(pixels(4), "webp"), "webp", 4),
    "webp with alpha": _File(saved(pixels(4), "webp", **_LOSSLESS), "webp", 4),
    "webp with exif": _File(saved(pixels(3), "webp", exif=b"Exif\0\0x" * 9), "webp", 3),
}
_FILES = {**_JPEGS, **_PNGS, **_OTHERS}
_LOSSY = ("lossy", "exif")


@pytest.mark.parametrize("name", _FILES)
def test_headers_tell_format_size_channels_and_bits(name: str) -> None:
    """Size and channels are those of the image, not of a thumbnail inside it."""
    file = _FILES[name]
    assert formats.header_of(file.data, file.form) == (file.form, file.header)
    assert formats.header_of(file.data) == (file.form, file.header)


@pytest.mark.parametrize("name", _FILES)
def test_every_truncated_file_is_refused(name: str) -> None:
    """A file cut at any length is refused: as truncated, once its format is clear."""
    data, form, *_ = _FILES[name]
    for size in range(len(data)):
        with pytest.raises(Problem) as caught:
            formats.header_of(data[:size], form)
        assert size < 16 or form in caught.value.found


@pytest.mark.parametrize("declared", ["bmp", "gif", "webp", "any"])
@pytest.mark.parametrize("name", _OTHERS)
def test_what_the_writer_takes_the_reader_decodes(
    parser_of: ParserOf, name: str, declared: str
) -> None:
    """It reads as the pixels in the file, brought to more channels where declared so."""
    data, form, found, *_ = _OTHERS[name]
    if declared not in (form, "any"):
        with pytest.raises(Problem, match=form):
            formats.header_of(data, declared)
        return
    for channels in formats.channels_of(declared):
        shape = (HEIGHT, WIDTH, channels)
        feature = Image(shape, encoding=declared).bound("x")
        if found > channels or found not in formats.channels_of(form):
            with pytest.raises(Problem, match=f", {found}\\]"):
                converted(feature, data)
            continue
        assert converted(feature, data) == data
        read = decoded(parser_of, shape, declared, data)
        picture = Pillow.open(BytesIO(data))
        if form == "bmp" and found == 4:  # Pillow leaves its alpha out
            expected = pixels(4)
        else:
            expected = np.asarray(picture.convert(_MODES[channels])).reshape(shape)
        assert read.shape == (1, *shape)
        close = 12 if any(word in name for word in _LOSSY) else 0
        assert np.abs(read.numpy()[0].astype(int) - expected).max() <= close


def _field(encoding: str, channels: int, size: int | None = None) -> Image:
    shape = (size or 18, size or 25, channels)
    return Image(shape, encoding=encoding).bound("picture")


@pytest.mark.parametrize("name", _PNGS)
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_accepted_pngs_lose_nothing(name: str, channels: int) -> None:
    """A PNG that the writer takes is decoded by TensorFlow to the pixels it holds."""
    data, _, found, bits, _ = _PNGS[name]
    fits = found <= channels and found != 2
    # tensorflow decodes grey of one bit to RGBA with an alpha of 1, not 255.
    fits = fits and (bits == 8 or (bits < 8 and channels < 4))
    if not fits:
        with pytest.raises(Problem):
            converted(_field("png", channels), data)
        return
    assert converted(_field("png", channels), data) == data
    decoded = tf.io.decode_png(data, channels=channels).numpy()
    picture = Pillow.open(BytesIO(data)).convert(_MODES[channels])
    expected = np.asarray(picture).reshape(18, 25, channels)
    np.testing.assert_array_equal(decoded, expected)


@pytest.mark.parametrize("channels", [1, 3])
def test_pixels_are_encoded_as_jpeg(channels: int) -> None:
    """Pixels that the writer encodes as JPEG come back nearly as they were."""
    ramp = np.linspace(0, 255, 18 * 25).reshape(18, 25, 1).astype(np.uint8)
    pixels = np.repeat(ramp, channels, axis=2)
    data = formats.encode(pixels, "jpeg")
    assert formats.header_of(data)[1] == ImageHeader(18, 25, channels)
    found = tf.io.decode_jpeg(data).numpy().astype(int)
    assert found.shape == pixels.shape
    assert np.abs(found - pixels).mean() < 5


@pytest.mark.parametrize("form", ["png", "bmp", "gif", "webp", "any"])
def test_pixels_are_encoded_without_loss(parser_of: ParserOf, form: str) -> None:
    """Also those below full transparency, and those whose alpha is full throughout."""
    for channels in formats.channels_of(form):
        whole = pixels(channels)
        for alpha in (0, 255) if channels == 4 else (None,):
            if alpha is not None:
                whole[:, :, 3] = alpha
            feature = Image(whole.shape, encoding=form).bound("x")
            data = feature.store(whole)[0][0]
            assert formats.sniff(data) == ("png" if form == "any" else form)
            read = decoded(parser_of, whole.shape, form, data)
            np.testing.assert_array_equal(read.numpy()[0], whole)


@pytest.mark.parametrize("colours", [1, 2, 255, 256])
def test_a_gif_holds_any_256_colours(colours: int) -> None:
    """Pixels of no more colours come back as they were."""
    chance = np.random.default_rng(colours)
    palette = chance.integers(0, 256, (colours, 3)).astype(np.uint8)
    whole = palette[np.arange(16 * 20) % colours].reshape(16, 20, 3)
    data = formats.encode(whole, "gif")
    np.testing.assert_array_equal(tf.io.decode_gif(data).numpy()[0], whole)


# what tensorflow would misread, its format and whether parsers find it by themselves
_MISREAD: dict[str, tuple[bytes, str, bool]] = {
    "animated gif": (saved(pixels(3), "gif", **_FRAMES), "gif", True),
    "gif smaller than its screen": (
        _replaced(_GIF, 6, bytes([WIDTH + 1, 0, HEIGHT, 0])),
        "gif",
        True,
    ),
    "animated webp": (saved(pixels(3), "webp", **_FRAMES), "webp", True),
    "bmp with a palette": (saved(_picture(3).convert("P"), "bmp"), "bmp", True),
    "bmp of one bit": (saved(_picture(1).convert("1"), "bmp"), "bmp", False),
    "compressed bmp": (_replaced(saved(pixels(1), "bmp"), 30, b"\1"), "bmp", True),
    "bmp of other masks": (
        _replaced(_OTHERS["bmp with masks"].data, 54, b"\xff\0"),
        "bmp",
        True,
    ),
    "another RIFF": (b"RIFF\x24\0\0\0WAVEfmt ", "webp", True),
    "nothing known": (b"II*\0", "any", True),
}


@pytest.mark.parametrize("name", _MISREAD)
def test_what_tensorflow_would_misread_is_refused_when_writing(name: str) -> None:
    """Animations, palettes and colours in another order are no plain image."""
    data, form, _ = _MISREAD[name]
    shape = (None, None, 1 if form == "bmp" else 3)
    with pytest.raises(Problem):
        converted(Image(shape, encoding=form).bound("x"), data)


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize("declared", ["itself", "any"])
@pytest.mark.parametrize("name", [name for name in _MISREAD if _MISREAD[name][2]])
def test_what_tensorflow_would_misread_is_refused_when_reading(
    parser_of: ParserOf, name: str, declared: str
) -> None:
    """What other code has written is looked at too, in graphs and outside of them."""
    data, form, _ = _MISREAD[name]
    declared = form if declared == "itself" else "any"
    grey = form == "bmp" and "masks" not in name
    shape = (None, None, 1 if grey else max(formats.channels_of(declared)))
    for graph in (False, True):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"field .{1,2}x"):
            decoded(parser_of, shape, declared, data, graph=graph)


@pytest.mark.parametrize(
    ("name", "declared", "channels"),
    [
        ("gif", "any", 1),
        ("webp", "any", 1),
        ("bmp RGB", "bmp", 1),
        ("webp with alpha", "webp", 3),
    ],
)
def test_channels_that_tensorflow_does_not_convert_are_refused(
    parser_of: ParserOf, name: str, declared: str, channels: int
) -> None:
    """An image with more channels than declared does not lose them in silence."""
    shape = (HEIGHT, WIDTH, channels)
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"{channels}"):
        decoded(parser_of, shape, declared, _OTHERS[name].data, graph=True)


def test_pixels_that_a_format_cannot_hold_are_refused() -> None:
    """Colours are not dithered away; what Pillow refuses is a Problem like any other."""
    colours = np.zeros((1, 257, 3), np.uint8)
    colours[0, :, 0] = np.arange(257) % 256
    colours[0, 256, 1] = 1
    with pytest.raises(Problem, match=r"257.*encoding='png'"):
        formats.encode(colours, "gif")
    with pytest.raises(Problem, match="webp"):
        formats.encode(np.zeros((1, 20_000, 3), np.uint8), "webp")


@pytest.mark.parametrize("name", [each.name for each in formats.FORMATS])
def test_each_format_of_the_table_is_told_from_all_others(name: str) -> None:
    """By any of the beginnings that its entry has; words are not taken for an image."""
    [form] = (each for each in formats.FORMATS if each.name == name)
    size = max(at + len(option) for at, options in form.begins for option in options)
    for number in range(max(len(options) for _, options in form.begins)):
        start = bytearray(size)
        for at, options in form.begins:
            option = options[number % len(options)]
            start[at : at + len(option)] = option
        data = bytes(start)
        patterns = {each.name: each.pattern for each in formats.FORMATS}
        told = [name for name in patterns if re.match(patterns[name], data, re.DOTALL)]
        assert told == [name]
        assert formats.sniff(data) == (name if name in formats.DECODED else None)
        other = formats.undecoded(data, 1)
        taken = name in formats.FORMATS_OF["any"]
        assert (other.name if other else None) == (None if taken else name)
        assert formats.recognised(data[:1]) is None


def test_type_checkers_know_the_encodings_of_the_table() -> None:
    """In the same order."""
    assert get_args(formats.Encoding) == formats.ENCODINGS


@pytest.mark.parametrize("form", formats.DECODED)
def test_each_decoded_format_is_read_as_it_is_written(
    parser_of: ParserOf, form: str
) -> None:
    """Pixels of each number of channels become an image, with the pixels of TensorFlow."""
    entry = formats.DECODED[form]
    for channels in entry.channels:
        whole = pixels(channels)
        data = entry.encode(whole)
        assert formats.header_of(data, form) == (form, ImageHeader(*SIZE, channels))
        if form == "bmp" and channels == 4:  # Pillow leaves its alpha out
            continue
        found = entry.decode(data, Wanted(channels))
        assert found.shape == whole.shape
        if entry.in_tensorflow is not None:
            read = decoded(parser_of, whole.shape, form, data)
            np.testing.assert_array_equal(read.numpy()[0], found)


_STARTS = {
    "jpeg": b"\xff\xd8\xff",
    "png": b"\x89PNG\r\n\x1a\n",
    "bmp": b"BM",
    "gif": b"GIF89a",
    "webp": b"RIFF\x30\0\0\0WEBP",
}


def _channels_or_problem(data: bytes, form: str) -> int | str:
    try:
        return formats.header_of(data, form)[1].channels
    except Problem as problem:
        return problem.expected


@given(st.sampled_from(sorted(_STARTS)), st.binary(max_size=200))
def test_random_bytes_never_crash(form: str, rest: bytes) -> None:
    """Any bytes are an image's header or a Problem, and nothing else."""
    found = _channels_or_problem(_STARTS[form] + rest, form)
    assert isinstance(found, int) or found


@pytest.mark.slow
@given(st.sampled_from(sorted(_FILES)), st.data())
def test_damaged_files_never_crash(name: str, data: st.DataObject) -> None:
    """A file with changed bytes is read or refused in finite time."""
    original, form, *_ = _FILES[name]
    damaged = bytearray(original)
    for _ in range(5):
        at = data.draw(st.integers(3, len(damaged) - 1))
        damaged[at] = data.draw(st.integers(0, 255))
    found = _channels_or_problem(bytes(damaged), form)
    assert isinstance(found, int) or found
