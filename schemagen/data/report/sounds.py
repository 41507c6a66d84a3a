"""Sound of a record: a waveform and a player."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from ...runtime.audio.formats import encode
from ..formatting import number, size
from ..profile.columns import ColumnProfile
from ..profile.record_values import DecodedFeatures
from ..statistics.bytes_values import content_of
from ..statistics.sounds import RAW_SOUND, full_scale, raw_sound, samples_of
from ..thumbnails import Budget

_MOST = 4
"""So many sounds of a record are shown."""

_WIDTH, _HEIGHT = 240, 48

# Of what is left of the page, a player takes at most one part of so many.
_PARTS = 8

# Bytes that base64 text has for each byte.
_GROWTH = 4 / 3


@dataclass(frozen=True)
class Player:
    """Sound as the page shows it.

    Attributes:
        name: of its column.
        about: format, rate, channels, duration and size.
        waveform: an SVG image of its channels, one over the other; empty if the sound
            cannot be decoded.
        url: the data URL that is played; empty if there is none.
        trouble: why.
    """

    name: str
    about: str
    waveform: str = ""
    url: str = ""
    trouble: str = ""


def players_of(
    column: ColumnProfile, features: DecodedFeatures, budget: Budget
) -> Iterator[Player]:
    """Yield the first sounds of a record in one column."""
    feature = None if column.steps else features.feature(column.key)
    raw = raw_sound(column.field)
    values = features.contents_of(column.field, feature) if feature else []
    for value in values[:_MOST]:
        content = content_of(value, raw)
        sound = content.sound
        if sound is None:
            continue
        seconds = f"{number(content.seconds, 3)} s"
        about = f"{sound.text}, {seconds}, {size(len(value))}"
        samples = samples_of(value, sound)
        if samples is None:
            what = f"{sound.format} that cannot be decoded"
            yield Player(column.name, about, trouble=what)
            continue
        form = "wav" if sound.format == RAW_SOUND else sound.format
        room = int(budget.left / _PARTS / _GROWTH)
        played = len(samples)
        if sound.format == RAW_SOUND or len(value) > room:
            played = min(played, room // (2 * sound.channels))
            form, value = "wav", encode(_in_range(samples[:played]), sound.rate, "wav")
        if played < len(samples):
            about += f"; played: the first {number(played / sound.rate, 3)} s"
        url = f"data:audio/{form};base64,{base64.b64encode(value).decode()}"
        wave = waveform(samples)
        if played and budget.spend(url):
            yield Player(column.name, about, wave, url)
        else:
            left_out = "not played: the report has reached its limit of sound"
            trouble = left_out if len(samples) else "no samples"
            yield Player(column.name, about, wave, trouble=trouble)


def _in_range(samples: NDArray[Any]) -> NDArray[Any]:
    """Return samples that a WAV can hold: those beyond full scale, and NaN, are changed."""
    if samples.dtype.kind != "f":
        return samples.astype(np.int16)
    found: NDArray[Any] = np.nan_to_num(samples).clip(-1, 1).astype(np.float32)
    return found


def waveform(samples: NDArray[Any]) -> Markup:
    """Draw the least and the greatest sample of each of some ranges of time.

    Args:
        samples: [T, channels].
    """
    _, most = full_scale(samples.dtype)
    columns = min(_WIDTH, len(samples))
    lines = []
    if columns:
        starts = np.arange(columns) * len(samples) // columns
        middle = _HEIGHT / 2
        values = _in_range(samples)
        low = np.minimum.reduceat(values.min(axis=1), starts) / most
        high = np.maximum.reduceat(values.max(axis=1), starts) / most
        tops, bottoms = (middle - middle * each * 0.98 for each in (high, low))
        places = np.arange(columns) * _WIDTH / columns + 0.5
        lines = [
            f"M{place:.4g} {top - 0.2:.1f}V{bottom + 0.2:.1f}"
            for place, top, bottom in zip(places, tops, bottoms, strict=True)
        ]
    return Markup(
        '<svg class="wave" viewBox="0 0 {} {}" role="img" aria-label="Waveform" '
        'preserveAspectRatio="none"><path d="{}"/></svg>'
    ).format(_WIDTH, _HEIGHT, "".join(lines))
