"""Sound in bytes values: what headers or a schema say of it, and how loud it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...runtime.audio.formats import decode, header_of, recognised
from ...runtime.shared.dtypes import DTYPES

if TYPE_CHECKING:
    from ...spec.model import FieldSpec

RAW_SOUND = "raw"
"""The format of samples without a header, of which a schema says the rate."""

SILENT = 1 / 1000
"""Sound whose samples are all below this share of full scale is silent (-60 dBFS)."""

CLIPPED = 3
"""Sound with so many samples at full scale, one after the other, is clipped."""


class Sound(NamedTuple):
    """What is known of sound by its header; the rate in Hz, bits per sample."""

    format: str
    rate: int
    channels: int
    bits: int

    @property
    def text(self) -> str:
        """The same for people."""
        channels = f"{self.channels} channel{'s' * (self.channels != 1)}"
        deep = f", {self.bits} bits" if self.bits != 16 else ""
        return f"{self.format} {self.rate:,} Hz, {channels}{deep}"

    @property
    def dtype(self) -> str:
        """The dtype of its samples."""
        return "float32" if self.bits == 32 else "int16"


class Level(NamedTuple):
    """How loud sound is."""

    clipped: bool
    silent: bool


def sound_header(data: bytes) -> tuple[Sound, float] | None:
    """Return what the header of encoded sound says, and its seconds; None for other bytes.

    Raises:
        Problem: the header is damaged, or no field holds such sound.
    """
    if recognised(data) is None:
        return None
    form, header = header_of(data)
    sound = Sound(form, header.rate, header.channels, header.bits)
    return sound, header.seconds


def raw_sound(field: FieldSpec | None) -> Sound | None:
    """Return what a schema says of sound without a header; None of other fields."""
    from ...runtime.kinds.audio import Audio

    kind = field.kind if field is not None else None
    if not isinstance(kind, Audio) or kind.encoding != RAW_SOUND:
        return None
    return Sound(RAW_SOUND, kind.rate, kind.channels, 8 * DTYPES[kind.dtype].size)


def seconds_of(data: bytes, raw: Sound) -> float:
    """Return how long sound without a header is."""
    return len(data) / (raw.channels * raw.bits // 8) / raw.rate


def samples_of(data: bytes, sound: Sound) -> NDArray[Any] | None:
    """Return the samples [T, channels] of sound; None if it cannot be decoded.

    FLAC needs the package soundfile.
    """
    try:
        if sound.format == RAW_SOUND:
            dtype = np.dtype(sound.dtype).newbyteorder("<")
            return np.frombuffer(data, dtype).reshape(-1, sound.channels)
        return decode(data, sound.dtype)
    except (ImportError, MemoryError, ValueError):
        return None


def level_of(samples: NDArray[Any]) -> Level:
    """Return how loud samples [T, channels] are."""
    if not samples.size:
        return Level(clipped=False, silent=True)
    low, high = float(samples.min()), float(samples.max())
    least, most = full_scale(samples.dtype)
    silent = max(high, -low) < SILENT * most
    if low > least and high < most:
        return Level(clipped=False, silent=silent)
    run = at = (samples <= least) | (samples >= most)
    for after in range(1, CLIPPED):
        run = run[:-1] & at[after:]
    return Level(clipped=bool(run.any()), silent=silent)


def full_scale(dtype: np.dtype[Any]) -> tuple[float, float]:
    """Return the least and the greatest sample of a dtype; floats are from -1 to 1."""
    if dtype.kind == "f":
        return -1.0, 1.0
    return np.iinfo(dtype).min, np.iinfo(dtype).max
