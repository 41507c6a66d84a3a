"""DDSP: four seconds of audio with pitch and loudness curves."""

from typing import Annotated

import numpy as np
from schemagen import Record, Vector

SECONDS = 4
SAMPLE_RATE = 16_000
FRAME_RATE = 250


class DdspAudio(Record):
    """Audio of one monophonic instrument, and what was estimated of it."""

    audio: Annotated[np.ndarray, Vector((SECONDS * SAMPLE_RATE,))]
    f0_hz: Annotated[np.ndarray, Vector((SECONDS * FRAME_RATE,))]
    f0_confidence: Annotated[np.ndarray, Vector((SECONDS * FRAME_RATE,))]
    loudness_db: Annotated[np.ndarray, Vector((SECONDS * FRAME_RATE,))]
