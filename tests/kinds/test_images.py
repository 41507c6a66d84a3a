"""What an encoded image's header says, against Pillow and TensorFlow."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as Pillow
from schemagen.runtime.encoding.image import EncodedImage
from schemagen.runtime.shared import images
from schemagen.runtime.shared.errors import Problem
from schemagen.runtime.shared.image_headers import ImageHeader

_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}


def _pixels(channels: int, height: int = 18, width: int = 25) -> Any:
    noise = np.random.default_rng(channels).integers(0, 256, (height, width, channels))
    return noise.astype(np.uint8)


def _saved(image: Pillow.Image, encoding: str, **options: Any) -> bytes:
    out = BytesIO()
    image.save(out, format=encoding.upper(), **options)
    return out.getvalue()


def _picture(mode: str) -> Pillow.Image:
    if mode in ("1", "P", "I;16"):
        grey = _pixels(1)[:, :, 0]
        if mode == "I;16":
            return Pillow.fromarray(grey.astype(np.uint16) * 257)
        return Pillow.fromarray(grey).convert(mode)
    channels = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4, "CMYK": 4}[mode]
    array = _pixels(channels)
    return Pillow.fromarray(array[:, :, 0] if channels == 1 else array, mode)


def _with_thumbnail(mode: str = "RGB", **options: Any) -> bytes:
    """A JPEG whose EXIF holds a whole JPEG of another size, end marker included."""
    inner = _saved(_picture("RGB").resize((8, 6)), "jpeg")
    segment = b"Exif\x00\x00" + inner
    return _saved(_picture(mode), "jpeg", exif=segment, **options)


_JPEGS = {
    "baseline": (_saved(_picture("RGB"), "jpeg"), 3),
    "best quality": (_saved(_picture("RGB"), "jpeg", quality=100), 3),
    "progressive": (_saved(_picture("RGB"), "jpeg", progressive=True), 3),
    "optimized": (_saved(_picture("RGB"), "jpeg", optimize=True), 3),
    "restart markers": (_saved(_picture("RGB"), "jpeg", restart_marker_blocks=1), 3),
    "grey": (_saved(_picture("L"), "jpeg"), 1),
    "grey progressive": (_saved(_picture("L"), "jpeg", progressive=True), 1),
    "cmyk": (_saved(_picture("CMYK"), "jpeg"), 4),
    "comment": (_saved(_picture("RGB"), "jpeg", comment=b"\xff\xd9\xff\xda"), 3),
    "thumbnail": (_with_thumbnail(), 3),
    "thumbnail progressive": (_with_thumbnail(progressive=True), 3),
}
_PNGS = {
    "grey": (_saved(_picture("L"), "png"), 1, 8),
    "grey and alpha": (_saved(_picture("LA"), "png"), 2, 8),
    "RGB": (_saved(_picture("RGB"), "png"), 3, 8),
    "RGBA": (_saved(_picture("RGBA"), "png"), 4, 8),
    "palette": (_saved(_picture("P"), "png"), 3, 8),
    "palette with transparency": (_saved(_picture("P"), "png", transparency=3), 4, 8),
    "grey with transparency": (_saved(_picture("L"), "png", transparency=3), 2, 8),
    "RGB with transparency": (
        _saved(_picture("RGB"), "png", transparency=(1, 2, 3)),
        4,
        8,
    ),
    "black and white": (_saved(_picture("1"), "png"), 1, 1),
    "16 bits": (_saved(_picture("I;16"), "png"), 1, 16),
}


@pytest.mark.parametrize("name", _JPEGS)
def test_jpeg_headers(name: str) -> None:
    """Size and channels are those of the image, not of a thumbnail inside it."""
    data, channels = _JPEGS[name]
    assert images.read_header(data, "jpeg") == ImageHeader(18, 25, channels, 8)


@pytest.mark.parametrize("name", _PNGS)
def test_png_headers(name: str) -> None:
    """Size, channels and bits are read; a transparent colour counts as alpha."""
    data, channels, bits = _PNGS[name]
    assert images.read_header(data, "png") == ImageHeader(18, 25, channels, bits)


@pytest.mark.parametrize("name", _JPEGS)
def test_every_truncated_jpeg_is_refused(name: str) -> None:
    """A JPEG cut at any length is refused, also behind its thumbnail's end."""
    data, _ = _JPEGS[name]
    assert data.endswith(b"\xff\xd9")
    for size in range(len(data)):
        with pytest.raises(Problem):
            images.read_header(data[:size], "jpeg")


@pytest.mark.parametrize("name", _PNGS)
def test_every_truncated_png_is_refused(name: str) -> None:
    """A PNG cut at any length is refused, be it inside the last chunk."""
    data, _, _ = _PNGS[name]
    for size in range(len(data)):
        with pytest.raises(Problem):
            images.read_header(data[:size], "png")


def _header_or_problem(data: bytes, encoding: str) -> ImageHeader | Problem:
    try:
        return images.read_header(data, encoding)
    except Problem as problem:
        return problem


@given(
    st.sampled_from([b"", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n"]),
    st.binary(max_size=200),
    st.sampled_from(["jpeg", "png"]),
)
def test_random_bytes_never_crash(start: bytes, rest: bytes, encoding: str) -> None:
    """Any bytes are an image's header or a Problem, and nothing else."""
    found = _header_or_problem(start + rest, encoding)
    if isinstance(found, Problem):
        assert found.expected.endswith(f"{encoding} image")


@given(st.sampled_from(sorted(_JPEGS)), st.data())
def test_damaged_jpegs_never_crash(name: str, data: st.DataObject) -> None:
    """A JPEG with changed bytes is read or refused in finite time."""
    damaged = bytearray(_JPEGS[name][0])
    for _ in range(5):
        at = data.draw(st.integers(3, len(damaged) - 1))
        damaged[at] = data.draw(st.integers(0, 255))
    found = _header_or_problem(bytes(damaged), "jpeg")
    if isinstance(found, Problem):
        assert "jpeg" in found.expected


@pytest.mark.parametrize(
    ("data", "encoding", "message"),
    [
        (_PNGS["RGB"][0], "jpeg", "found a png image, expected a jpeg image"),
        (_JPEGS["grey"][0], "png", "found a jpeg image, expected a png image"),
        (b"GIF89a..", "png", "found a gif image, expected a png image"),
        (b"GIF88a..", "png", "found bytes that begin with 47 49 46 38 38 61 2e 2e"),
        (b"", "jpeg", "found no bytes, expected a jpeg image"),
        (_JPEGS["grey"][0][:-1], "jpeg", "found a truncated jpeg image"),
        (_PNGS["grey"][0][:-1], "png", "found a truncated png image"),
    ],
)
def test_messages(data: bytes, encoding: str, message: str) -> None:
    """What is no such image says what it is instead."""
    with pytest.raises(Problem) as caught:
        images.read_header(data, encoding)
    assert str(caught.value).startswith(message)


def _field(encoding: str, channels: int, size: int | None = None) -> EncodedImage:
    shape = (size or 18, size or 25, channels)
    return EncodedImage("picture", key="picture", shape=shape, encoding=encoding)


@pytest.mark.parametrize("name", _PNGS)
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_accepted_pngs_lose_nothing(name: str, channels: int) -> None:
    """A PNG that the writer takes is decoded by TensorFlow to the pixels it holds."""
    data, found, bits = _PNGS[name]
    fits = found <= channels and found != 2
    # tensorflow decodes grey of one bit to RGBA with an alpha of 1, not 255.
    fits = fits and (bits == 8 or (bits < 8 and channels < 4))
    if not fits:
        with pytest.raises(Problem):
            _field("png", channels).convert(data)
        return
    assert _field("png", channels).convert(data) == data
    decoded = tf.io.decode_png(data, channels=channels).numpy()
    picture = Pillow.open(BytesIO(data)).convert(_MODES[channels])
    expected = np.asarray(picture).reshape(18, 25, channels)
    np.testing.assert_array_equal(decoded, expected)


@pytest.mark.parametrize("name", _JPEGS)
def test_accepted_jpegs_are_decoded(name: str) -> None:
    """A JPEG that the writer takes as RGB is one that TensorFlow reads as RGB."""
    data, found = _JPEGS[name]
    if found > 3:
        with pytest.raises(Problem, match=r"shape \[18, 25, 4\], expected"):
            _field("jpeg", 3).convert(data)
        return
    _field("jpeg", 3).convert(data)
    assert tf.io.decode_jpeg(data, channels=3).shape == (18, 25, 3)


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_pixels_are_encoded_without_loss_as_png(channels: int) -> None:
    """Pixels that the writer encodes as PNG come back bit by bit."""
    pixels = _pixels(channels)
    data = images.encode(pixels, "png")
    assert images.read_header(data, "png") == ImageHeader(18, 25, channels, 8)
    np.testing.assert_array_equal(tf.io.decode_png(data).numpy(), pixels)


@pytest.mark.parametrize("channels", [1, 3])
def test_pixels_are_encoded_as_jpeg(channels: int) -> None:
    """Pixels that the writer encodes as JPEG come back nearly as they were."""
    ramp = np.linspace(0, 255, 18 * 25).reshape(18, 25, 1).astype(np.uint8)
    pixels = np.repeat(ramp, channels, axis=2)
    data = images.encode(pixels, "jpeg")
    assert images.read_header(data, "jpeg") == ImageHeader(18, 25, channels, 8)
    found = tf.io.decode_jpeg(data).numpy().astype(int)
    assert found.shape == pixels.shape
    assert np.abs(found - pixels).mean() < 5
