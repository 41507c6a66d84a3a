"""YouTube-8M, video level: features averaged over each video, and its topics."""

from typing import Annotated

import numpy as np
from schemagen import MultiLabel, Record, Scalar, Vector


class Youtube8mVideo(Record):
    """One video. Those of the test split have no labels."""

    id: Annotated[bytes, Scalar("bytes")]
    labels: Annotated[list[int] | None, MultiLabel(num_classes=3862)] = None
    mean_rgb: Annotated[np.ndarray, Vector((1024,))]
    mean_audio: Annotated[np.ndarray, Vector((128,))]
