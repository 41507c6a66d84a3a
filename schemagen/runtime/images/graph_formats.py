"""Decoders of TensorFlow for single images of each format, and what they look at first."""

from __future__ import annotations

from ..images.headers import PNG_BITS_AT, WEBP_ANIMATED
from ..shared.requirements import lazy_tf as tf
from ..tensorflow.graph import checked

# Of a BMP tensorflow decodes plain pixels, of 32 bits also with these masks for blue,
# green, red and alpha, and of 8 bits with a PNG type 3 palette of another meaning.
_BMP_HEAD, _BMP_INFO = 54, 40
_BMP_PLAIN, _BMP_MASKS = 0, 3
_BMP_BGRA = bytes.fromhex("0000ff00 00ff0000 ff000000")
_BMP_GREY = b"".join(bytes((grey, grey, grey, 0)) for grey in range(256))


def decode_jpeg(image: tf.Tensor, name: str, channels: int) -> tf.Tensor:
    """Decode a JPEG."""
    pixels = tf.io.decode_jpeg(image, channels=min(channels, 3))
    return pixels if channels < 4 else _with_alpha(pixels)


def decode_png(
    image: tf.Tensor, name: str, channels: int, dtype: tf.DType | None = None
) -> tf.Tensor:
    """Decode a PNG whose bits tensorflow does not scale to those of the dtype."""
    dtype = dtype or tf.uint8
    bits = start_of(padded(image, PNG_BITS_AT + 1), PNG_BITS_AT + 1)[PNG_BITS_AT]
    wanted = 8 * dtype.size
    right = bits == wanted if dtype == tf.uint16 else bits <= wanted
    message = f"field {name!r}: expected a png of {wanted} bits a channel, found"
    image = checked(image, right, message, bits)
    return tf.io.decode_png(image, channels=channels, dtype=dtype)


def decode_bmp(image: tf.Tensor, name: str, channels: int) -> tf.Tensor:
    """Decode a BMP, having seen that its pixels are what tensorflow takes them for."""
    size = tf.strings.length(image)
    image = checked(
        image,
        size >= _BMP_HEAD,
        f"field {name!r}: expected the {_BMP_HEAD} bytes of a bmp's headers, found",
        size,
    )
    header = tf.cast(start_of(image, _BMP_HEAD), tf.int32)
    info = header[14] + 256 * header[15]
    bits, compression = header[28], header[30]
    colors = header[46] + 256 * header[47]
    colors = tf.where(colors == 0, 256, colors)
    palette = tf.where(bits == 8, 4 * tf.minimum(colors, 256), 0)
    start = tf.minimum(14 + info, size)
    grey = tf.strings.substr(image, start, palette) == tf.strings.substr(
        _BMP_GREY, 0, palette
    )
    masks = (
        tf.strings.substr(image, tf.minimum(_BMP_HEAD, size), len(_BMP_BGRA))
        == _BMP_BGRA
    )
    masked = (compression == _BMP_MASKS) & (bits == 32) & masks
    plain = (compression == _BMP_PLAIN) | masked
    image = checked(
        image,
        plain & grey & (info >= _BMP_INFO),
        f"field {name!r}: expected a bmp of plain grey, RGB or RGBA pixels, found one "
        "with a palette, compressed or of an old version: bits, compression, header",
        tf.stack([bits, compression, info]),
    )
    pixels = tf.io.decode_bmp(image, channels=0 if channels == 1 else channels)
    return _of_channels(pixels, name, channels) if channels == 1 else pixels


def decode_gif(image: tf.Tensor, name: str, channels: int) -> tf.Tensor:
    """Decode a GIF of one picture, which tensorflow makes as large as that is."""
    frames = tf.io.decode_gif(image)
    screen = tf.cast(start_of(image, 10)[6:], tf.int32)
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


def decode_webp(image: tf.Tensor, name: str, channels: int) -> tf.Tensor:
    """Decode a WebP; tensorflow does not change the number of its channels.

    Of an animation tensorflow writes more than it has memory for: the process ends.
    """
    start = padded(image, 21)
    extended = tf.strings.substr(start, 12, 4) == b"VP8X"
    flags = tf.cast(start_of(start, 21)[20], tf.int32)
    image = checked(
        image,
        ~extended | (flags & WEBP_ANIMATED == 0),
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


def padded(image: tf.Tensor, size: int) -> tf.Tensor:
    """Return the first bytes, and zeros where there are not so many."""
    return tf.strings.join([tf.strings.substr(image, 0, size), b"\0" * size])


def start_of(image: tf.Tensor, size: int) -> tf.Tensor:
    """Return the first bytes as numbers; as text they could not be shown."""
    return tf.io.decode_raw(tf.strings.substr(image, 0, size), tf.uint8)
