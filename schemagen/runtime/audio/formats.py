"""The table of formats of encoded sound.

An entry says all that is to be known of one. Kinds, writers, readers, checks, statistics and
errors take it from here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import Problem
from . import flac, graph_flac, graph_wav, wav
from .headers import AudioHeader
from .samples import as_floats, as_integers

__all__ = ["DECODED", "FORMATS", "AudioFormat", "AudioHeader"]


@dataclass(frozen=True, kw_only=True)
class AudioFormat:
    """A format that sound of a field may have.

    Attributes:
        name: what `encoding` of a field says, in small letters.
        title: its name in texts.
        begins: how each file of it begins: places, and the bytes there.
        suffix: what names of its files end in, behind a dot.
        header: returns the header of a file that begins so. It raises a Problem for one
            that readers do not decode, or whose end is missing as far as the header says.
        decode: from a file whose header has been read to int16 [T, channels]. It raises a
            ValueError for damage that no header shows.
        encode: from int16 samples [T, channels] and the rate to a file.
        in_tensorflow: from files, string [B], to what `graph_wav.decode` returns.
        lengths_in_tensorflow: from files, string [B], to the number of samples that the
            header of each states, int64 [B].
    """

    name: str
    title: str
    begins: tuple[tuple[int, bytes], ...]
    suffix: str
    header: Callable[[bytes], AudioHeader]
    decode: Callable[[bytes], NDArray[np.int16]]
    encode: Callable[[NDArray[np.int16], int], bytes]
    in_tensorflow: Callable[..., Any]
    lengths_in_tensorflow: Callable[[Any], Any]


FORMATS: tuple[AudioFormat, ...] = (
    AudioFormat(
        name="wav",
        title="WAV",
        begins=((0, b"RIFF"), (8, b"WAVE")),
        suffix="wav",
        header=wav.header,
        decode=wav.decode,
        encode=wav.encode,
        in_tensorflow=graph_wav.decode,
        lengths_in_tensorflow=graph_wav.lengths,
    ),
    AudioFormat(
        name="flac",
        title="FLAC",
        begins=((0, flac.START),),
        suffix="flac",
        header=flac.header,
        decode=flac.decode,
        encode=flac.encode,
        in_tensorflow=graph_flac.decode,
        lengths_in_tensorflow=graph_flac.lengths,
    ),
)
"""Each format that is recognised."""

DECODED = {each.name: each for each in FORMATS}
"""Each format, by its name."""


def recognised(data: bytes) -> AudioFormat | None:
    """Return the format of a file by its first bytes; None if they are of no known one."""
    for each in FORMATS:
        if all(data.startswith(start, at) for at, start in each.begins):
            return each
    return None


def header_of(data: bytes, encoding: str | None = None) -> tuple[str, AudioHeader]:
    """Return the format and the header of encoded sound.

    Args:
        data: the encoded sound.
        encoding: the name of a format; None for any.

    Raises:
        Problem: another format, a damaged header, a truncated file, or samples that are
            not integers of 16 bits.
    """
    found = recognised(data)
    expected = "encoded sound" if encoding is None else f"a {DECODED[encoding].title}"
    if found is None:
        start = f"bytes that begin with {data[:12]!r}" if data else "no bytes"
        raise Problem(start, expected)
    if encoding not in (None, found.name):
        raise Problem(f"a {found.title}", expected, f"declare encoding={found.name!r}")
    return found.name, found.header(data)


def decode(data: bytes, dtype: str = "float32") -> NDArray[Any]:
    """Decode sound whose header has been read.

    Args:
        data: the encoded sound.
        dtype: "int16", or "float32" for these divided by 32,768.

    Returns:
        dtype [T, channels].

    Raises:
        ValueError: the samples are damaged.
    """
    found = recognised(data)
    assert found is not None
    samples = found.decode(data)
    return samples if dtype == "int16" else as_floats(samples)


def encode(samples: NDArray[Any], rate: int, encoding: str) -> bytes:
    """Encode sound.

    Args:
        samples: int16, or floats from -1 to 1: [T, channels].
        rate: in Hz.
        encoding: "wav" or "flac".

    Raises:
        Problem: the format cannot hold them.
    """
    if samples.dtype != np.int16:
        samples = as_integers(samples)
    return DECODED[encoding].encode(samples, rate)
