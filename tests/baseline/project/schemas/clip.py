from typing import Annotated, Any

import numpy as np
from schemagen import Image, Label, Scalar, SequenceRecord, Steps, Text, Vector


class Clip(SequenceRecord):
    """A SequenceExample with steps of each kind."""

    number: Annotated[int, Scalar("int64", role="info")]
    title: str | None = None
    frames: Annotated[list[Any], Steps(Image((3, 3, 1), encoding="png"), group="g")]
    speeds: Annotated[list[float], Steps(Scalar("float32"), group="g")]
    poses: Annotated[np.ndarray, Steps(Vector((2,), "float64"), ragged=True)]
    pixels: Annotated[np.ndarray, Steps(Image((2, 2, 1)))]
    moves: Annotated[
        list[int],
        Steps(Label(num_classes=4), max_length=3, too_long="keep_tail"),
    ]
    words: Annotated[list[str] | None, Steps(Text())] = None
    kind: Annotated[int, Label(num_classes=7)]
