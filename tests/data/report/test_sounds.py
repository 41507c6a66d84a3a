"""Sound in the report: what is played, and how it is drawn."""

from __future__ import annotations

import base64
import io
import re
import wave
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
from command_line import run
from schemagen import Audio, Record
from sounds import flac, tone, wav

from ..messages import example, write_data, write_file


class Raw(Record):
    """Samples without a header."""

    sound: Annotated[np.ndarray, Audio(8000, channels=2, encoding="raw")]


NO_CHUNK, NO_FLAC = b"RIFF\x24\0\0\0WAVEfmt ", b"fLaC" + bytes(range(40))


def page_of(data: Path, page: Path) -> tuple[list[tuple[str, bytes]], str]:
    """Return the type and the bytes of what is played, and the page."""
    result = run("inspect", data, "--html", page)
    assert page.is_file(), result.output
    html = page.read_text("utf-8")
    found = re.findall(r'<audio [^>]*src="data:([^;]*);base64,([^"]*)"', html)
    return [(kind, base64.b64decode(text)) for kind, text in found], html


def written(directory: Path, sounds: Sequence[bytes]) -> Path:
    return write_file(directory / "data", [example({"sound": each}) for each in sounds])


def test_files_are_played_as_they_are_without_a_schema(tmp_path: Path) -> None:
    files = wav(tone(3000)), flac(tone(3000))
    played, html = page_of(written(tmp_path, files), tmp_path / "page.html")
    assert played == [("audio/wav", files[0]), ("audio/flac", files[1])]
    assert "wav 16,000 Hz, 1 channel, 0.188 s" in html


def test_raw_samples_are_played_as_wav(tmp_path: Path) -> None:
    """The schema says what they are. Samples beyond full scale are cut to it."""
    samples = np.stack([tone(500, level=1.5), tone(500)], 1).astype("<f4")
    data = write_data(
        tmp_path / "data", Raw, {"train": [example({"sound": samples.tobytes()})]}
    )
    ((kind, sound),), _ = page_of(data, tmp_path / "page.html")
    assert kind == "audio/wav"
    with wave.open(io.BytesIO(sound)) as file:
        assert file.getparams()[:4] == (2, 2, 8000, 500)
        frames = np.frombuffer(file.readframes(500), "<i2").reshape(-1, 2)
    assert np.abs(frames / 32_768 - samples.clip(-1, 1)).max() < 1e-4


def test_long_sound_is_played_in_part(tmp_path: Path) -> None:
    """The page stays small, however long sound is, and says how much is played."""
    files = [wav(np.zeros(500_000) + at / 100) for at in range(12)]
    played, html = page_of(written(tmp_path, files), tmp_path / "page.html")
    assert len(html) < 4_500_000
    assert len(played) == len(files)
    lengths = []
    for _, sound in played:
        with wave.open(io.BytesIO(sound)) as file:
            lengths.append(file.getnframes() / 16_000)
    shown = re.findall(r"played: the first ([\d.]+) s", html)
    assert np.allclose([*map(float, shown)], lengths, atol=0.1)
    assert max(lengths) > 10 > 1 < min(lengths)


@pytest.mark.parametrize(
    "sound",
    [wav(tone(900))[:300], wav(tone(900), width=3), NO_CHUNK, NO_FLAC],
    ids=["cut", "24 bits", "no chunk", "no FLAC"],
)
def test_other_sound_is_described_and_not_played(tmp_path: Path, sound: bytes) -> None:
    played, html = page_of(written(tmp_path, [sound]), tmp_path / "page.html")
    assert not played
    assert re.search("a (damaged )?(WAV|FLAC) ", html)


def test_a_waveform_has_the_least_and_greatest_samples(tmp_path: Path) -> None:
    """Silence is a line in the middle; a click shows, however short it is."""
    samples: Any = np.zeros(48_000)
    samples[24_000] = 1.0
    _, html = page_of(written(tmp_path, [wav(samples)]), tmp_path / "page.html")
    path = re.search(r'<svg class="wave"[^>]*><path d="([^"]*)"', html)
    assert path is not None
    bars = re.findall(r"M([\d.]+) ([\d.]+)V([\d.]+)", path[1])
    heights = {float(x): float(low) - float(high) for x, high, low in bars}
    assert len(bars) == 240
    assert max(heights, key=heights.__getitem__) == 120.5
    assert sorted(heights.values())[-2:] == pytest.approx([0.4, 24], abs=0.6)
