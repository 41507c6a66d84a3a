"""BMP, GIF, WebP and "any": what their headers say, and what tensorflow makes of them."""

from __future__ import annotations

import sys
from io import BytesIO
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as Pillow
from schemagen.runtime.encoding.image import EncodedImage
from schemagen.runtime.parsing import images as reading
from schemagen.runtime.shared import images
from schemagen.runtime.shared.errors import Problem
from schemagen.runtime.shared.image_headers import ImageHeader

HEIGHT, WIDTH = 5, 7
_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
_LOSSLESS = {"lossless": True, "exact": True}


def pixels(channels: int) -> Any:
    """Return pixels of few colours, of which no alpha is 0."""
    noise = np.random.default_rng(channels).integers(1, 6, (HEIGHT, WIDTH, channels))
    return (noise * 50).astype(np.uint8)


def saved(array: Any, form: str, **options: Any) -> bytes:
    """Encode pixels, or a picture of Pillow's."""
    if isinstance(array, np.ndarray):
        array = Pillow.fromarray(array[:, :, 0] if array.shape[2] == 1 else array)
    out = BytesIO()
    array.save(out, format=form, **options)
    return out.getvalue()


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

# name: data, its format, its channels
_FILES: dict[str, tuple[bytes, str, int]] = {
    "bmp grey": (saved(pixels(1), "bmp"), "bmp", 1),
    "bmp RGB": (_BMP, "bmp", 3),
    "bmp RGBA": (_BMP_RGBA, "bmp", 4),
    "bmp with masks": (
        _replaced(
            _replaced(_BMP_RGBA[:54] + _MASKS + _BMP_RGBA[54:], 30, b"\3"), 10, b"\x42"
        ),
        "bmp",
        4,
    ),
    "gif": (_GIF, "gif", 3),
    "gif grey": (saved(pixels(1), "gif"), "gif", 3),
    "gif with comment": (saved(pixels(3), "gif", comment=b"a;b," * 99), "gif", 3),
    "gif with transparency": (
        saved(_PALETTE, "gif", transparency=_PALETTE.getpixel((0, 0))),
        "gif",
        4,
    ),
    "webp": (_WEBP, "webp", 3),
    "webp lossy": (saved(pixels(3), "webp"), "webp", 3),
    "webp lossy with alpha": (saved(pixels(4), "webp"), "webp", 4),
    "webp with alpha": (saved(pixels(4), "webp", **_LOSSLESS), "webp", 4),
    "webp with exif": (saved(pixels(3), "webp", exif=b"Exif\0\0x" * 9), "webp", 3),
    "webp with exif and alpha": (
        saved(pixels(4), "webp", exif=b"Exif\0\0x" * 9, **_LOSSLESS),
        "webp",
        4,
    ),
}
_LOSSY = ("lossy", "exif")


@pytest.mark.parametrize("name", _FILES)
def test_headers(name: str) -> None:
    """Size and channels are read without decoding, for the format and for "any"."""
    data, form, channels = _FILES[name]
    header = ImageHeader(HEIGHT, WIDTH, channels)
    assert images.read_header(data, form) == header
    assert images.read_header(data, "any") == header
    assert images.header_of(data) == (form, header)


@pytest.mark.parametrize("name", _FILES)
def test_every_truncated_file_is_refused(name: str) -> None:
    """A file cut at any length is refused: as truncated, once its format is clear."""
    data, form, _ = _FILES[name]
    for size in range(len(data)):
        with pytest.raises(Problem) as caught:
            images.read_header(data[:size], form)
        assert size < 16 or f"a truncated {form} image" in str(caught.value)


@pytest.mark.parametrize("declared", images.CHANNELS)
@pytest.mark.parametrize("name", _FILES)
def test_what_the_writer_takes_the_reader_decodes(name: str, declared: str) -> None:
    """It reads as the pixels in the file, brought to more channels where declared so."""
    data, form, found = _FILES[name]
    if declared not in (form, "any"):
        with pytest.raises(Problem, match=f"found a {form} image, expected"):
            images.read_header(data, declared)
        return
    for channels in images.CHANNELS[declared]:
        shape = (HEIGHT, WIDTH, channels)
        feature = EncodedImage("x", key="x", shape=shape, encoding=declared)
        if found > channels or found not in images.CHANNELS[form]:
            with pytest.raises(Problem, match=f"found an image of shape .*{found}\\]"):
                feature.convert(data)
            continue
        assert feature.convert(data) == data
        read = reading.decode_images(tf.constant([data]), "x", declared, shape)
        picture = Pillow.open(BytesIO(data))
        if form == "bmp" and found == 4:  # Pillow leaves its alpha out
            expected = pixels(4)
        else:
            expected = np.asarray(picture.convert(_MODES[channels])).reshape(shape)
        assert read.shape == (1, *shape)
        close = 12 if any(word in name for word in _LOSSY) else 0
        assert np.abs(read.numpy()[0].astype(int) - expected).max() <= close


@pytest.mark.parametrize("form", ["png", "bmp", "gif", "webp", "any"])
def test_pixels_are_encoded_without_loss(form: str) -> None:
    """Also those below full transparency, and those whose alpha is full throughout."""
    for channels in images.CHANNELS[form]:
        whole = pixels(channels)
        for alpha in (0, 255) if channels == 4 else (None,):
            if alpha is not None:
                whole[:, :, 3] = alpha
            feature = EncodedImage("x", key="x", shape=whole.shape, encoding=form)
            data = feature.contents(feature.convert(whole))
            assert images.sniff(data) == ("png" if form == "any" else form)
            read = reading.decode_images(tf.constant([data]), "x", form, whole.shape)
            np.testing.assert_array_equal(read.numpy()[0], whole)


@pytest.mark.parametrize("colours", [1, 2, 255, 256])
def test_a_gif_holds_any_256_colours(colours: int) -> None:
    """Pixels of no more colours come back as they were."""
    chance = np.random.default_rng(colours)
    palette = chance.integers(0, 256, (colours, 3)).astype(np.uint8)
    whole = palette[np.arange(16 * 20) % colours].reshape(16, 20, 3)
    data = images.encode(whole, "gif")
    np.testing.assert_array_equal(tf.io.decode_gif(data).numpy()[0], whole)


_GIF_SMALLER = _replaced(_GIF, 6, bytes([WIDTH + 1, 0, HEIGHT, 0]))

_REFUSED: dict[str, tuple[bytes, str, str]] = {
    "animated gif": (
        saved(pixels(3), "gif", **_FRAMES),
        "gif",
        "found a gif image of 2 pictures, expected a single picture; an animation is a "
        "list of pictures",
    ),
    "gif smaller than its screen": (
        _GIF_SMALLER,
        "gif",
        "found a gif image whose picture is smaller than its screen, expected a picture "
        "that fills the screen",
    ),
    "animated webp": (
        saved(pixels(3), "webp", **_FRAMES),
        "webp",
        "found an animated webp image, expected a single picture",
    ),
    "bmp with a palette": (
        saved(_picture(3).convert("P"), "bmp"),
        "bmp",
        "found a bmp image with a palette, expected a grey or RGB bmp image",
    ),
    "bmp of one bit": (
        saved(_picture(1).convert("1"), "bmp"),
        "bmp",
        "found a bmp image of 1 bits a pixel, with a header of 40 bytes, expected 8, 24",
    ),
    "compressed bmp": (
        _replaced(saved(pixels(1), "bmp"), 30, b"\1"),
        "bmp",
        "found a compressed bmp image, expected plain pixels in a bmp image",
    ),
    "bmp of other masks": (
        _replaced(_FILES["bmp with masks"][0], 54, b"\xff\0"),
        "bmp",
        "found a compressed bmp image",
    ),
    "another RIFF": (
        b"RIFF\x24\0\0\0WAVEfmt ",
        "webp",
        "found bytes that begin with 52 49 46 46 24 00 00 00, expected a webp image",
    ),
    "nothing known": (
        b"II*\0",
        "any",
        "found bytes that begin with 49 49 2a 00, expected an image of any known format",
    ),
}


@pytest.mark.parametrize("name", _REFUSED)
def test_what_tensorflow_would_misread_is_refused_when_writing(name: str) -> None:
    """In words that say what was found and what can be read."""
    data, form, message = _REFUSED[name]
    shape = (None, None, 1 if form == "bmp" else 3)
    feature = EncodedImage("x", key="x", shape=shape, encoding=form)
    with pytest.raises(Problem) as caught:
        feature.convert(data)
    assert str(caught.value).startswith(message)


_READ = {
    "animated gif": "expected a gif of one picture that fills its screen, found",
    "gif smaller than its screen": "expected a gif of one picture that fills its",
    "animated webp": "expected a webp of one picture, found an animation",
    "bmp with a palette": "expected a bmp of plain grey, RGB or RGBA pixels, found one",
    "compressed bmp": "expected a bmp of plain grey, RGB or RGBA pixels, found one",
    "bmp of other masks": "expected a bmp of plain grey, RGB or RGBA pixels, found",
    "another RIFF": "expected a webp, found one that begins with the bytes",
    "nothing known": "expected one of jpeg, png, bmp, gif, webp, found one that begins",
}


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize(
    ("name", "declared"),
    [
        *((name, _REFUSED[name][1]) for name in _READ),
        *(
            (name, "any")
            for name in _READ
            if "known" not in name and "RIFF" not in name
        ),
    ],
)
def test_what_tensorflow_would_misread_is_refused_when_reading(
    name: str, declared: str
) -> None:
    """What other code has written is looked at too, in graphs and outside of them."""
    data, form, _ = _REFUSED[name]
    grey = form == "bmp" and "masks" not in name
    channels = 1 if grey else max(images.CHANNELS[declared])
    shape = (None, None, channels)

    def read(batch: tf.Tensor) -> tf.Tensor:
        return reading.decode_images(batch, "x", declared, shape)

    for function in (read, tf.function(read)):
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            function(tf.constant([data]))
        message = caught.value.message.replace("\\'", "'")
        assert f"field 'x': {_READ[name]}" in message


@pytest.mark.parametrize(
    ("name", "declared", "channels", "words"),
    [
        ("gif", "any", 1, "expected an image of 1 channels, found"),
        ("webp", "any", 1, "expected an image of 1 channels, found"),
        ("bmp RGB", "bmp", 1, "expected an image of 1 channels, found"),
        ("webp with alpha", "webp", 3, "expected an image of 3 channels, found"),
    ],
)
def test_channels_that_tensorflow_does_not_convert_are_refused(
    name: str, declared: str, channels: int, words: str
) -> None:
    """An image with more channels than declared does not lose them in silence."""
    shape = (HEIGHT, WIDTH, channels)
    read = tf.function(lambda batch: reading.decode_images(batch, "x", declared, shape))
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        read(tf.constant([_FILES[name][0]]))


def test_too_many_colours_for_a_gif_are_refused() -> None:
    """Colours are not dithered away; the message says what to do."""
    colours = np.zeros((1, 257, 3), np.uint8)
    colours[0, :, 0] = np.arange(257) % 256
    colours[0, 256, 1] = 1
    with pytest.raises(Problem) as caught:
        images.encode(colours, "gif")
    assert "found pixels of 257 colours" in str(caught.value)
    assert "at most 256, which is what a gif image can hold" in str(caught.value)
    assert "declare encoding='png'" in str(caught.value)


def test_pixels_too_many_for_a_format_are_refused() -> None:
    """What Pillow says of them becomes a Problem like any other."""
    with pytest.raises(Problem, match="expected what a webp image can hold"):
        images.encode(np.zeros((1, 20_000, 3), np.uint8), "webp")


def test_without_pillow_only_bytes_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the format that would have been made."""
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(Problem, match="expected an encoded png image; run pip install"):
        images.encode(pixels(3), "any")


_STARTS = {"bmp": b"BM", "gif": b"GIF89a", "webp": b"RIFF\x30\0\0\0WEBP"}


def _channels_or_problem(data: bytes, form: str) -> int | str:
    try:
        return images.read_header(data, form).channels
    except Problem as problem:
        return problem.expected


@given(st.sampled_from(sorted(_STARTS)), st.binary(max_size=200))
def test_random_bytes_never_crash(form: str, rest: bytes) -> None:
    """Any bytes are an image's header or a Problem, and nothing else."""
    assert _channels_or_problem(_STARTS[form] + rest, form)


@pytest.mark.slow
@given(st.sampled_from(sorted(_FILES)), st.data())
def test_damaged_files_never_crash(name: str, data: st.DataObject) -> None:
    """A file with changed bytes is read or refused in finite time."""
    original, form, _ = _FILES[name]
    damaged = bytearray(original)
    for _ in range(5):
        at = data.draw(st.integers(12, len(damaged) - 1))
        damaged[at] = data.draw(st.integers(0, 255))
    assert _channels_or_problem(bytes(damaged), form)
