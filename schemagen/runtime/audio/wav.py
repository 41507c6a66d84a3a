"""WAV files of 16-bit PCM samples, as tf.audio.decode_wav reads them."""

from __future__ import annotations

import struct

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import Problem
from .headers import AudioHeader, counted, other_samples

FIRST = 12
"""Where the first chunk begins."""

PCM, EXTENSIBLE = 1, 0xFFFE
"""The formats of samples; the second one says which it is later in its chunk."""

SUBFORMAT = 24
"""Where it says so, in the chunk "fmt "."""

_OTHERS = {2: "ADPCM", 3: "floats", 6: "A-law", 7: "mu-law", 85: "MP3"}
_MOST = (1 << 32) - 1
_UNKNOWN = 0x7FFF0000  # what programs that write to a pipe state is no less


def header(data: bytes) -> AudioHeader:
    """Return the header of a whole WAV.

    Raises:
        Problem: it is damaged or truncated, or its samples are not 16-bit PCM.
    """
    return _located(data)[0]


def decode(data: bytes) -> NDArray[np.int16]:
    """Return the samples of a WAV whose header has been read: int16 [T, channels]."""
    found, start = _located(data)
    count = found.samples * found.channels
    flat = np.frombuffer(data, "<i2", count, start)
    return flat.reshape(-1, found.channels).astype(np.int16, copy=False)


def _located(data: bytes) -> tuple[AudioHeader, int]:
    """Return the header, and where the samples begin."""
    at, form = FIRST, None
    while at + 8 <= len(data):
        name = data[at : at + 4]
        (size,) = struct.unpack_from("<I", data, at + 4)
        at += 8
        if name == b"data":
            return _checked(form or b"", len(data) - at, size), at
        if name == b"fmt " and form is None:
            form = data[at : at + size]
        at += size + size % 2
    raise Problem("a WAV without samples", "a whole WAV", "it is truncated or damaged")


def _checked(form: bytes, rest: int, size: int) -> AudioHeader:
    """Return what the chunk of the format says, once it is right.

    Args:
        form: the chunk.
        rest: how many bytes there are from the first sample on.
        size: how many of them are samples.
    """
    if len(form) < 16:
        raise Problem("a WAV without a format", "a chunk 'fmt ' before the samples")
    tag, channels, rate, _, block, bits = struct.unpack_from("<HHIIHH", form)
    if tag == EXTENSIBLE and len(form) >= SUBFORMAT + 2:
        (tag,) = struct.unpack_from("<H", form, SUBFORMAT)
    if tag != PCM or bits != 16:
        raise other_samples("WAV", f"{bits}-bit {_OTHERS.get(tag, 'samples')}")
    if not channels or block != 2 * channels:
        raise Problem(
            f"a WAV of {counted(channels)} with {block} bytes for all",
            "two bytes for each channel",
        )
    if size > rest or size % block or (rest and not size):
        unknown = not size or size >= _UNKNOWN
        raise Problem(
            f"a WAV that states {size:,} bytes of samples and has {rest:,}",
            "a whole WAV",
            "it was written to a pipe, which leaves its size unknown: write a file"
            if unknown
            else "it is truncated or damaged",
        )
    return AudioHeader(rate, channels, size // block)


def encode(samples: NDArray[np.int16], rate: int) -> bytes:
    """Encode samples: int16 [T, channels].

    Raises:
        Problem: there are more than a WAV can hold.
    """
    content = np.ascontiguousarray(samples, "<i2").tobytes()
    if len(content) > _MOST - 36:
        raise Problem(f"{len(content):,} bytes of samples", "less than 4 GiB")
    channels = samples.shape[1]
    form = struct.pack(
        "<HHIIHH", PCM, channels, rate, 2 * rate * channels, 2 * channels, 16
    )
    chunks = b"".join((b"WAVEfmt ", struct.pack("<I", len(form)), form, b"data"))
    size = struct.pack("<I", len(content))
    total = struct.pack("<I", len(chunks) + len(size) + len(content))
    return b"".join((b"RIFF", total, chunks, size, content))
