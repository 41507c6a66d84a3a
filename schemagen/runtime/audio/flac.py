"""FLAC files of 16-bit samples, which soundfile decodes and encodes."""

from __future__ import annotations

from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import Problem
from .headers import AudioHeader, other_samples

START = b"fLaC"
"""How a file begins."""

# The smallest frame has 11 bytes, for at most 65,535 samples.
_MOST_SAMPLES = 1 << 13

COUNTS = 18
"""Where rate, channels, bits and number of samples are: 20, 3, 5 and 36 bits."""


def header(data: bytes) -> AudioHeader:
    """Return the header of a FLAC.

    Raises:
        Problem: it is damaged, or its samples are not of 16 bits.
    """
    if len(data) < COUNTS + 24 or data[4] & 0x7F:
        raise Problem("a damaged FLAC", "a whole FLAC")
    counts = int.from_bytes(data[COUNTS : COUNTS + 8])
    rate, channels = counts >> 44, (counts >> 41 & 7) + 1
    bits, samples = (counts >> 36 & 31) + 1, counts & (1 << 36) - 1
    if bits != 16:
        raise other_samples("FLAC", f"{bits} bits")
    if not samples:
        raise Problem(
            "a FLAC that does not state its length",
            "a whole FLAC",
            "it has no samples, or was written to a pipe: write a file",
        )
    if samples > _MOST_SAMPLES * len(data):
        raise Problem(f"a FLAC of {len(data):,} bytes for {samples:,} samples", "more")
    return AudioHeader(rate, channels, samples, bits)


def decode(data: bytes) -> NDArray[np.int16]:
    """Decode a FLAC whose header has been read: int16 [T, channels].

    Raises:
        ValueError: it is damaged or truncated.
        ModuleNotFoundError: soundfile is not installed; says how to install it.
    """
    from ..shared.requirements import soundfile

    try:
        samples, _ = soundfile.read(BytesIO(data), dtype="int16", always_2d=True)
    except soundfile.LibsndfileError as error:
        raise ValueError(f"a truncated or damaged FLAC: {error.error_string}") from None
    stated = header(data).samples
    if len(samples) != stated:
        raise ValueError(
            f"a FLAC of {stated:,} samples, of which {len(samples):,} can be read: it "
            "is truncated, or was written to a pipe"
        )
    return samples  # type: ignore[no-any-return]


def encode(samples: NDArray[np.int16], rate: int) -> bytes:
    """Encode samples: int16 [T, channels].

    Raises:
        Problem: a FLAC cannot hold them.
        ModuleNotFoundError: soundfile is not installed; says how to install it.
    """
    if not len(samples):
        raise Problem("no samples", "a sample or more in a FLAC")
    from ..shared.requirements import soundfile

    file = BytesIO()
    try:
        soundfile.write(file, samples, rate, format="FLAC", subtype="PCM_16")
    except soundfile.LibsndfileError as error:
        text = f"{samples.shape[1]} channels of {rate:,} Hz"
        raise Problem(text, f"what a FLAC can hold ({error.error_string})") from None
    return file.getvalue()
