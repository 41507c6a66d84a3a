"""WAV files in a TensorFlow graph, a batch at a time, by plain operations."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..shared.requirements import lazy_tf as tf
from ..tensorflow.graph import checked
from .headers import counted
from .wav import EXTENSIBLE, FIRST, PCM, SUBFORMAT

_HIGH = 1 << 16


class _WavOffsets(NamedTuple):
    """Where things are in the files of a batch: int64 [B] each.

    Attributes:
        form: where the content of the chunk "fmt " begins; 0 without one.
        form_size: of that content.
        start: where the samples begin; 0 without any.
        size: of all samples, in bytes.
        end: of the file.
    """

    form: Any
    form_size: Any
    start: Any
    size: Any
    end: Any


def decode(
    data: Any, name: str, rate: int, channels: int, *, optional: bool
) -> tuple[Any, Any]:
    """Decode WAV files.

    Args:
        data: string [B].
        name: the field's name.
        rate: in Hz, that of each file.
        channels: of each file.
        optional: whether "" is a missing file, which has no samples.

    Returns:
        All samples, int16 [N, channels], and how many each file has, int64 [B].
    """
    found = _places(data)
    numbers = _numbers(data, found.form, SUBFORMAT + 2)
    extensible = (numbers[:, 0] == EXTENSIBLE) & (found.form_size >= SUBFORMAT + 2)
    tag = tf.where(extensible, numbers[:, SUBFORMAT // 2], numbers[:, 0])
    rates = numbers[:, 2] + numbers[:, 3] * _HIGH
    facts = tf.stack([tag, numbers[:, 7], numbers[:, 1], numbers[:, 6], rates], axis=1)
    wanted = tf.constant([PCM, 16, channels, 2 * channels, rate], tf.int64)
    rest = found.end - found.start
    right = tf.reduce_all(facts == wanted, axis=1) & (found.form_size >= 16)
    right &= (found.start > 0) & (found.size <= rest) & (found.form > 0)
    right &= (found.size % (2 * channels) == 0) & ((found.size > 0) | (rest == 0))
    right &= _begin(data)
    if optional:
        right |= data == ""
    sizes = tf.stack([found.size, rest], axis=1)
    data = checked(
        data,
        right,
        f"field {name!r}: expected a whole WAV of 16-bit PCM, {counted(channels)} and "
        f"{rate} Hz, found (format, bits, channels, bytes for all, Hz, bytes of samples "
        "that it states, and that it has)",
        tf.boolean_mask(tf.concat([facts, sizes], axis=1), ~right)[:1],
    )
    size = tf.where(data == "", tf.zeros_like(found.size), found.size)
    start = tf.where(data == "", tf.zeros_like(found.start), found.start)
    content = tf.strings.substr(data, start, size)
    flat = tf.io.decode_raw(tf.strings.reduce_join(content, axis=0), tf.int16)
    return tf.reshape(flat, (-1, channels)), size // (2 * channels)


def lengths(data: Any) -> Any:
    """Return how many samples WAV files have: int64 [B]."""
    found = _places(data)
    block = tf.maximum(_numbers(data, found.form, 16)[:, 6], 1)
    return tf.where(found.start > 0, found.size // block, 0)


def _begin(data: Any) -> Any:
    """Return which files begin as a WAV: bool [B]."""
    start = from_place(data, tf.zeros(tf.shape(data), tf.int64), FIRST)
    return (tf.strings.substr(start, 0, 4) == b"RIFF") & (
        tf.strings.substr(start, 8, 4) == b"WAVE"
    )


def _places(data: Any) -> _WavOffsets:
    """Go through the chunks of all files at once."""
    end = tf.cast(tf.strings.length(data), tf.int64)
    none = tf.zeros_like(end)

    def more(at: Any, found: _WavOffsets) -> Any:
        return tf.reduce_any((found.start == 0) & (at + 8 <= found.end))

    def next_chunk(at: Any, found: _WavOffsets) -> tuple[Any, _WavOffsets]:
        live = (found.start == 0) & (at + 8 <= found.end)
        head = from_place(data, at, 8)
        kind = tf.strings.substr(head, 0, 4)
        words = _numbers(head, none + 4, 4)
        size = words[:, 0] + words[:, 1] * _HIGH
        form = live & (kind == b"fmt ") & (found.form == 0)
        samples = live & (kind == b"data")
        found = _WavOffsets(
            tf.where(form, at + 8, found.form),
            tf.where(form, tf.minimum(size, found.end - at - 8), found.form_size),
            tf.where(samples, at + 8, found.start),
            tf.where(samples, size, found.size),
            found.end,
        )
        return tf.where(live, at + 8 + size + size % 2, at), found

    first = tf.fill(tf.shape(end), tf.constant(FIRST, tf.int64))
    _, found = tf.while_loop(
        more, next_chunk, (first, _WavOffsets(none, none, none, none, end))
    )
    return found  # type: ignore[no-any-return]


def _numbers(data: Any, at: Any, size: int) -> Any:
    """Return little-endian 16-bit numbers of each file from a place on: int64 [B, N]."""
    content = from_place(data, at, size)
    return tf.cast(tf.io.decode_raw(content, tf.uint16), tf.int64)


def from_place(data: Any, at: Any, size: int) -> Any:
    """Return as many bytes of each file from a place on, with zeros where it ends."""
    first = tf.minimum(at, tf.cast(tf.strings.length(data), tf.int64))
    found = tf.strings.substr(
        data, first, tf.fill(tf.shape(first), tf.constant(size, tf.int64))
    )
    filled = tf.strings.join([found, b"\0" * size])
    return tf.strings.substr(filled, 0, size)
