"""Sound: WAV files, written by the standard library; FLAC, by soundfile; raw samples."""

from __future__ import annotations

import io
import wave
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import soundfile
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from stored_features import blobs

from .case import Drawn, KindCase, declared

RATE = 8000


def wav(samples: Any, rate: int = RATE) -> bytes:
    """Return int16 samples [T, channels] as a WAV."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(samples.shape[1])
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.astype("<i2").tobytes())
    return out.getvalue()


def flac(samples: Any, rate: int = RATE) -> bytes:
    """Return int16 samples [T, channels] as a FLAC."""
    out = io.BytesIO()
    soundfile.write(out, samples, rate, format="FLAC", subtype="PCM_16")
    return out.getvalue()


def _samples(channels: int, least: int = 0) -> st.SearchStrategy[Any]:
    edges = st.sampled_from([-(2**15), -1, 0, 1, 2**15 - 1])
    shape = st.tuples(st.integers(least, 7), st.just(channels))
    return arrays.arrays(
        "int16", shape, elements=edges | st.integers(-(2**15), 2**15 - 1)
    )


def _delivered(samples: Any, dtype: str) -> Any:
    return samples if dtype == "int16" else (samples / 2**15).astype(np.float32)


def _forms(samples: Any) -> list[Any]:
    """Return the forms in which rows may give integers: these, floats, one channel."""
    found = [samples, samples / 2**15, (samples / 2**15).astype(np.float32)]
    return [*found, samples[:, 0]] if samples.shape[1] == 1 else found


def _encoded(
    encode: Callable[[Any], bytes],
    channels: int,
    dtype: str,
    *,
    least: int = 0,
    kept: slice = slice(None),
) -> Callable[[str], st.SearchStrategy[Drawn]]:
    def drawn(name: str, samples: Any, form: int) -> Drawn:
        forms = _forms(samples)
        cut = samples[kept]
        if form == 4:  # bytes are stored as they are
            data = encode(samples)
            return Drawn(data, {name: blobs(data)}, {name: _delivered(cut, dtype)})
        return Drawn(
            forms[form % len(forms)],
            {name: blobs(encode(cut))},
            {name: _delivered(cut, dtype)},
        )

    return lambda name: st.builds(
        drawn, st.just(name), _samples(channels, least), st.integers(0, 4)
    )


def _raw(channels: int, dtype: str) -> Callable[[str], st.SearchStrategy[Drawn]]:
    def drawn(name: str, samples: Any, form: int) -> Drawn:
        found, forms = _delivered(samples, dtype), _forms(samples)
        stored = found.astype(found.dtype.newbyteorder("<")).tobytes()
        return Drawn(forms[form % len(forms)], {name: blobs(stored)}, {name: found})

    return lambda name: st.builds(
        drawn, st.just(name), _samples(channels), st.integers(0, 3)
    )


def cases() -> Iterator[KindCase]:
    mono = declared(
        f"Annotated[bytes, Audio({RATE})]",
        _encoded(wav, 1, "float32"),
        padding={"": 0},
    )
    yield mono
    yield mono.optional(np.zeros((0, 1), np.float32))
    stereo = f"{RATE}, channels=2, dtype='int16'"
    yield declared(
        f"Annotated[Any, Audio({stereo}, max_length=4, too_long='keep_tail')]",
        _encoded(wav, 2, "int16", kept=slice(-4, None)),
        padding={"": 0},
    ).optional(np.zeros((0, 2), np.int16), default="[]")
    yield declared(
        f"Annotated[Any, Audio({stereo}, encoding='flac', max_seconds=5 / {RATE}, "
        "too_long='keep_head')]",
        _encoded(flac, 2, "int16", least=1, kept=slice(5)),
        padding={"": 0},
    ).optional(np.zeros((0, 2), np.int16))
    yield declared(
        f"Annotated[bytes, Audio({RATE}, encoding='flac', max_length=7)]",
        _encoded(flac, 1, "float32", least=1),
        padding={"": 0},
    )
    for dtype in ("int16", "float32"):
        for channels in (1, 2):
            raw = f"encoding='raw', dtype={dtype!r}, channels={channels}"
            case = declared(
                f"Annotated[np.ndarray, Audio({RATE}, {raw})]",
                _raw(channels, dtype),
                padding={"": 0},
            )
            yield case if channels == 1 else case.optional(np.zeros((0, 2), dtype))
