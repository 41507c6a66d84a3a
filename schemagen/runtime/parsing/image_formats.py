"""One encoded image in a graph: told apart by its first bytes, and decoded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ..shared.requirements import tf
from .checks import checked

_STARTS = {
    "jpeg": b"\xff\xd8\xff",
    "png": b"\x89PNG\r\n\x1a\n",
    "bmp": b"BM",
    "gif": b"GIF8",
    "webp": b"RIFF",
}
_NAMES = ", ".join(_STARTS)
_WEBP_AT, _WEBP = 8, b"WEBP"
_BMP_GREY = b"".join(bytes((grey, grey, grey, 0)) for grey in range(256))
_BMP_BGRA = bytes.fromhex("0000ff00 00ff0000 ff000000")


def decoded(
    image: tf.Tensor,
    name: str,
    encoding: str,
    shape: Sequence[int | None],
    dtype: tf.DType = tf.uint8,
) -> tf.Tensor:
    """Decode one image and check its size.

    Args:
        image: a string scalar.
        name: the field's name.
        encoding: a format, or "any".
        shape: (height, width, channels); None for any size.
        dtype: uint8, or uint16 for a PNG of 16 bits a channel.

    Returns:
        dtype [H, W, channels].
    """
    channels = shape[2]
    assert channels is not None
    decode = _decode_any if encoding == "any" else _DECODERS[encoding]
    if encoding != "any":
        image = _checked_start(image, name, encoding)
    if dtype == tf.uint16:
        pixels = _decode_deep_png(image, name, channels)
    else:
        pixels = decode(image, name, channels)
    if shape[0] is None and shape[1] is None:
        return pixels
    found = tf.shape(pixels)[:2]
    wanted = [size or -1 for size in shape[:2]]
    return checked(
        pixels,
        (found == wanted) | (tf.constant(wanted) == -1),
        f"field {name!r}: expected an image of {shape[0]} x {shape[1]}, found",
        found,
    )


def _begins(image: tf.Tensor, encoding: str) -> tf.Tensor:
    start = _STARTS[encoding]
    found = tf.strings.substr(image, 0, len(start)) == start
    if encoding == "webp":  # other files are RIFF too
        head = tf.strings.join([tf.strings.substr(image, 0, 12), b"\0" * 12])
        found &= tf.strings.substr(head, _WEBP_AT, len(_WEBP)) == _WEBP
    return found


def _checked_start(image: tf.Tensor, name: str, encoding: str) -> tf.Tensor:
    size = 12 if encoding == "webp" else len(_STARTS[encoding])
    return checked(
        image,
        _begins(image, encoding),
        f"field {name!r}: expected a {encoding}, found one that begins with the bytes",
        _numbers(image, size),
    )


def _numbers(image: tf.Tensor, size: int) -> tf.Tensor:
    """Return the first bytes as numbers; as text they could not be shown."""
    return tf.io.decode_raw(tf.strings.substr(image, 0, size), tf.uint8)


def _decode_any(image: tf.Tensor, name: str, channels: int) -> tf.Tensor:
    matches = tf.stack([_begins(image, encoding) for encoding in _STARTS])
    image = checked(
        image,
        tf.reduce_any(matches),
        f"field {name!r}: expected one of {_NAMES}, found one that begins with the "
        "bytes",
        _numbers(image, 8),
    )
    branches = [
        partial(_decode_as, encoding, image, name, channels) for encoding in _STARTS
    ]
    pixels = tf.switch_case(tf.argmax(matches, output_type=tf.int32), branches)
    return tf.ensure_shape(pixels, (None, None, channels))


def _decode_as(encoding: str, image: tf.Tensor, name: str, channels: int) -> tf.Tensor:
    return _DECODERS[encoding](image, name, channels)


def _decode_jpeg(image: tf.Tensor, name: str, channels: int) -> tf.Tensor:
    pixels = tf.io.decode_jpeg(image, channels=min(channels, 3))
    return pixels if channels < 4 else _with_alpha(pixels)


def _decode_png(image: tf.Tensor, name: str, channels: int) -> tf.Tensor:
    bits = _png_bits(image)
    message = f"field {name!r}: expected a png of 8 bits a channel, found"
    image = checked(image, bits <= 8, message, bits)
    return tf.io.decode_png(image, channels=channels)


def _decode_deep_png(image: tf.Tensor, name: str, channels: int) -> tf.Tensor:
    bits = _png_bits(image)
    message = f"field {name!r}: expected a png of 16 bits a channel, found"
    image = checked(image, bits == 16, message, bits)
    return tf.io.decode_png(image, channels=channels, dtype=tf.uint16)


def _png_bits(image: tf.Tensor) -> tf.Tensor:
    """Return the bits a channel, which tensorflow would scale to those of the dtype."""
    head = tf.strings.join([tf.strings.substr(image, 0, 25), b"\0" * 25])
    return _numbers(head, 25)[24]


def _decode_bmp(image: tf.Tensor, name: str, channels: int) -> tf.Tensor:
    """Decode a BMP, having seen that its pixels are what tensorflow takes them for."""
    size = tf.strings.length(image)
    image = checked(
        image,
        size >= 54,
        f"field {name!r}: expected the 54 bytes of a bmp's headers, found",
        size,
    )
    header = tf.cast(_numbers(image, 54), tf.int32)
    info = header[14] + 256 * header[15]
    bits, compression = header[28], header[30]
    colors = header[46] + 256 * header[47]
    colors = tf.where(colors == 0, 256, colors)
    palette = tf.where(bits == 8, 4 * tf.minimum(colors, 256), 0)
    start = tf.minimum(14 + info, size)
    grey = tf.strings.substr(image, start, palette) == tf.strings.substr(
        _BMP_GREY, 0, palette
    )
    masks = tf.strings.substr(image, tf.minimum(54, size), 12) == _BMP_BGRA
    plain = (compression == 0) | ((compression == 3) & (bits == 32) & masks)
    image = checked(
        image,
        plain & grey & (info >= 40),
        f"field {name!r}: expected a bmp of plain grey, RGB or RGBA pixels, found one "
        "with a palette, compressed or of an old version: bits, compression, header",
        tf.stack([bits, compression, info]),
    )
    pixels = tf.io.decode_bmp(image, channels=0 if channels == 1 else channels)
    return _of_channels(pixels, name, channels) if channels == 1 else pixels


def _decode_gif(image: tf.Tensor, name: str, channels: int) -> tf.Tensor:
    """Decode a GIF of one picture, which tensorflow makes as large as that is."""
    frames = tf.io.decode_gif(image)
    screen = tf.cast(_numbers(image, 10)[6:], tf.int32)
    wanted = tf.stack([1, screen[2] + 256 * screen[3], screen[0] + 256 * screen[1]])
    found = tf.shape(frames)[:3]
    frames = checked(
        frames,
        found == wanted,
        f"field {name!r}: expected a gif of one picture that fills its screen, found "
        "pictures, height, width",
        found,
    )
    if channels == 4:
        return _with_alpha(frames[0])
    return _of_channels(frames[0], name, channels)


def _decode_webp(image: tf.Tensor, name: str, channels: int) -> tf.Tensor:
    """Decode a WebP; tensorflow does not change the number of its channels.

    Of an animation tensorflow writes more than it has memory for: the process ends.
    """
    start = tf.strings.join([tf.strings.substr(image, 0, 21), b"\0" * 21])
    extended = tf.strings.substr(start, 12, 4) == b"VP8X"
    flags = tf.cast(_numbers(start, 21)[20], tf.int32)
    image = checked(
        image,
        ~extended | (flags & 2 == 0),
        f"field {name!r}: expected a webp of one picture, found an animation: flags",
        flags,
    )
    frames = tf.io.decode_webp(image)
    pixels = tf.ensure_shape(frames, (None, None, None, None))[0]
    if channels == 4:
        return _with_alpha(pixels)
    return _of_channels(pixels, name, channels)


def _with_alpha(pixels: tf.Tensor) -> tf.Tensor:
    """Add an opaque alpha channel where there is none."""
    lacking = 4 - tf.shape(pixels)[2]
    padded = tf.pad(pixels, [[0, 0], [0, 0], [0, lacking]], constant_values=255)
    return tf.ensure_shape(padded, (None, None, 4))


def _of_channels(pixels: tf.Tensor, name: str, channels: int) -> tf.Tensor:
    """Check the number of channels, where tensorflow does not convert it."""
    found = tf.shape(pixels)[2]
    pixels = checked(
        pixels,
        found == channels,
        f"field {name!r}: expected an image of {channels} channels, found",
        found,
    )
    # Of "any" format, one that has not so many is refused when it comes, not before.
    return tf.ensure_shape(pixels[:, :, :channels], (None, None, channels))


_DECODERS: dict[str, Callable[[tf.Tensor, str, int], tf.Tensor]] = {
    "jpeg": _decode_jpeg,
    "png": _decode_png,
    "bmp": _decode_bmp,
    "gif": _decode_gif,
    "webp": _decode_webp,
}
