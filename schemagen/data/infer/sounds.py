"""Encoded sound, and raw samples next to a key that states their rate."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...runtime.shared.dtypes import DTYPES
from ..formatting import plural
from ..statistics.sounds import RAW_SOUND
from .draft import Draft, Drafts, quoted
from .evidence import Evidence, KeyEvidence
from .key_words import parent_of, says_rate, speaks_of
from .values import Contents

# Rates below are of something else, such as frames, in Hz.
_LOWEST_RATE = 4000


def sound(drafts: Drafts, data: KeyEvidence) -> Draft | None:
    """Draft a field of sound of one format and rate."""
    values = data.values
    if not data.is_single or not values.sounds:
        return _raw_sound(drafts, data) if data.is_raw else None
    kinds = values.all.sounds or {}
    if len(kinds) != 1 or sum(kinds.values()) + values.empty < values.all.count:
        return None
    ((found, _),) = kinds.items()
    facts = {"rate": found.rate, "channels": found.channels, "encoding": found.format}
    draft = Draft(data.key, "Audio", facts)
    if not values.empty:
        return draft
    note = f"empty in {plural(values.empty, 'record')}"
    return Draft(data.key, "Audio", facts, optional=True).with_notes(note)


def _raw_sound(drafts: Drafts, data: KeyEvidence) -> Draft | None:
    """Draft a field of samples without a header: names and another key tell what they are."""
    rate = _rate_beside(drafts.evidence, data) if speaks_of(data.key, "sound") else None
    if rate is None:
        return None
    guess = data.values.samples.guess()
    dtype = "float32" if guess.clear and guess.dtype == "float32" else "int16"
    sizes = data.values.measured.array(data.records)[data.lengths >= 0]
    if np.any(sizes % DTYPES[dtype].size):
        return None
    key, value = rate
    facts = {"rate": value, "encoding": RAW_SOUND, "dtype": dtype}
    return Draft(data.key, "Audio", facts).with_doubts(
        f"{dtype} samples of one channel, at the rate in {quoted(key)}?"
    )


def _rate_beside(evidence: Evidence, data: KeyEvidence) -> tuple[str, int] | None:
    """Return the only key that states one rate, and the rate; the nearest one of several."""
    found = [
        (key, int(constant))
        for key, other in evidence.keys.items()
        if other.kind == "int64" and other.is_single and says_rate(key)
        if (constant := other.numbers.constant or 0) >= _LOWEST_RATE
    ]
    near = [each for each in found if parent_of(each[0]) == parent_of(data.key)]
    some = near or found
    return some[0] if len(some) == 1 else None


def other_sounds(values: Contents) -> Iterator[str]:
    """Say why bytes that begin as sound are in no field of sound."""
    found = values.all
    sounds, kinds = plural(values.sounds, "sound"), found.sounds
    for trouble, count in sorted((found.troubles or {}).items()):
        yield (
            f"{count:,} of {sounds}: {trouble}; Audio holds 16-bit PCM, which soundfile "
            "writes with subtype='PCM_16'"
        )
    if kinds is None or len(kinds) > 1:
        said = [
            f"{count:,} {kind.text}" for kind, count in sorted((kinds or {}).items())
        ]
        yield (
            f"sound of several kinds ({'; '.join(said[:5]) or 'more than can be listed'}): "
            "an Audio has one; convert them to one rate, number of channels and format"
        )
    if values.sounds < found.count:
        yield f"{values.sounds:,} of {plural(found.count, 'value')} are sound"
