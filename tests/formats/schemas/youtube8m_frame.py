"""YouTube-8M, frame level: what two networks saw and heard, second by second."""

from typing import Annotated

import numpy as np
from schemagen import MultiLabel, Scalar, SequenceRecord, Steps, Vector

CLASSES = 3862
# Features between -2 and 2 were cut into 256 equal parts, of which the middle is meant.
LOWEST, HIGHEST = -2.0, 2.0
SCALE = (HIGHEST - LOWEST) / 255
BIAS = (HIGHEST - LOWEST) / 512 + LOWEST


def features(size: int) -> Vector:
    """One second's features."""
    return Vector((size,), dtype="uint8", encoding="raw", dequantize=(SCALE, BIAS))


class Youtube8mFrame(SequenceRecord):
    """A video: one step for each of its first 300 seconds, at most."""

    id: Annotated[bytes, Scalar("bytes")]
    labels: Annotated[list[int], MultiLabel(num_classes=CLASSES)]
    rgb: Annotated[np.ndarray, Steps(features(1024), max_length=300, group="seconds")]
    audio: Annotated[np.ndarray, Steps(features(128), max_length=300, group="seconds")]
