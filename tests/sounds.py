"""Encoded sound, made without the code under test."""

from __future__ import annotations

import io
import wave
from typing import Any

import numpy as np


def tone(
    samples: int, pitch: float = 440.0, rate: int = 16_000, level: float = 0.2
) -> Any:
    """Return a tone: float64 [samples]."""
    return level * np.sin(2 * np.pi * pitch * np.arange(samples) / rate)


def wav(samples: Any, rate: int = 16_000, width: int = 2) -> bytes:
    """Return a WAV of samples from -1 to 1: [T], or [T, channels].

    Args:
        samples: the samples.
        rate: in Hz.
        width: the bytes of each.
    """
    array = np.asarray(samples, np.float64)
    array = array.reshape(len(array), -1)
    largest = (1 << (8 * width - 1)) - 1
    integers = np.rint(array * largest).astype("<i4")
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setparams((array.shape[1], width, rate, len(array), "NONE", ""))
        file.writeframes(integers[..., None].view("u1")[..., :width].tobytes())
    return out.getvalue()


def flac(samples: Any, rate: int = 16_000) -> bytes:
    """Return a FLAC of samples from -1 to 1."""
    import soundfile

    out = io.BytesIO()
    soundfile.write(out, samples, rate, format="FLAC", subtype="PCM_16")
    return out.getvalue()
