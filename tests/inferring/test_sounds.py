"""Fields of sound, from the bytes of files and from raw samples with a stored rate."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sounds import flac, tone, wav

from .inference import found_in, many

Made = Callable[[int], bytes]


def samples(i: int) -> Any:
    return tone(900 + 10 * i, 300 + i)


def stereo(i: int) -> Any:
    return np.stack([samples(i), -samples(i)], 1)


def raw(i: int) -> bytes:
    return (samples(i) * 32767).astype("<i2").tobytes()


@pytest.mark.parametrize(
    ("made", "declared"),
    [
        (lambda i: wav(samples(i)), (16_000, 1, "wav")),
        (lambda i: wav(stereo(i), 44_100), (44_100, 2, "wav")),
        (lambda i: flac(samples(i), 8000), (8000, 1, "flac")),
    ],
    ids=["WAV", "stereo", "FLAC"],
)
def test_files_of_one_rate_are_sound(
    tmp_path: Path, made: Made, declared: tuple[int, int, str]
) -> None:
    """Their rate, channels and format are those of the headers."""
    fields, said = found_in(tmp_path, many(lambda i: {"speech": made(i), "w": i}))
    kind = fields["speech"].kind
    assert (kind.kind, kind.rate, kind.channels, kind.encoding) == ("Audio", *declared)
    assert fields["speech"].role == "input"
    assert not said["speech"]


def test_empty_values_are_missing_sound(tmp_path: Path) -> None:
    rows = many(lambda i: {"speech": wav(samples(i)) if i % 3 else b"", "w": i})
    fields, said = found_in(tmp_path, rows)
    assert (fields["speech"].kind.kind, fields["speech"].optional) == ("Audio", True)
    assert "empty in 10 records" in said["speech"]


@pytest.mark.parametrize(
    ("made", "part"),
    [
        (
            lambda i: wav(samples(i), (16_000, 8000)[i % 2]),
            "15 wav 8,000 Hz, 1 channel",
        ),
        (
            lambda i: wav(samples(i), width=3),
            "30 of 30 sounds: a WAV of 24-bit samples",
        ),
        (lambda i: wav(samples(i))[:200], "Audio holds 16-bit PCM"),
        (lambda i: wav(samples(i)) if i % 2 else raw(i), "15 of 30 values are sound"),
    ],
    ids=["rates", "bits", "cut", "other bytes"],
)
def test_other_files_stay_bytes_and_it_is_said_why(
    tmp_path: Path, made: Made, part: str
) -> None:
    """No field could read them all."""
    fields, said = found_in(tmp_path, many(lambda i: {"speech": made(i), "w": i}))
    assert (fields["speech"].kind.kind, fields["speech"].kind.dtype) == (
        "Scalar",
        "bytes",
    )
    assert part in said["speech"]


@pytest.mark.parametrize(
    ("key", "rate_key"),
    [("audio", "sample_rate"), ("audio/waveform", "audio/sr"), ("sound", "rate")],
)
def test_raw_samples_next_to_their_rate_are_sound(
    tmp_path: Path, key: str, rate_key: str
) -> None:
    """Only names tell it, so it is a doubt. The rate stays a field."""
    rows = many(lambda i: {key: raw(i), rate_key: 22_050, "w": i})
    fields, said = found_in(tmp_path, rows)
    kind = fields[key].kind
    assert (kind.kind, kind.rate, kind.encoding) == ("Audio", 22_050, "raw")
    assert kind.dtype == "int16"
    assert rate_key in fields
    assert f"at the rate in {rate_key!r}?" in said[key]


@pytest.mark.parametrize(
    "row",
    [
        lambda i: {"blob": raw(i), "sample_rate": 22_050},
        lambda i: {"audio": raw(i), "frame_rate": 22_050},
        lambda i: {"audio": raw(i), "sample_rate": (16_000, 8000)[i % 2]},
        lambda i: {"audio": raw(i), "rate": 25},
    ],
    ids=["no sound by its name", "of frames", "two rates", "too low a rate"],
)
def test_raw_bytes_without_a_rate_are_no_sound(
    tmp_path: Path, row: Callable[[int], dict[str, Any]]
) -> None:
    fields, _ = found_in(tmp_path, many(lambda i: {**row(i), "w": i}))
    assert all(each.kind.kind != "Audio" for each in fields.values())
