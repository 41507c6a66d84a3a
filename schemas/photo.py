"""Crops of photographs, stored as JPEG in any size."""

from typing import Annotated

import numpy as np
from schemagen import Augment, Image, Label, Record, Vector


class Photo(Record):
    """A piece cut out of one of two photographs, in the size it was cut.

    Source: the two photographs of `sklearn.datasets.load_sample_images`: a temple in
    China and a flower, 640 pixels wide and 427 high each.
    """

    crop: Annotated[
        np.ndarray,
        Image(
            shape=(None, None, 3),
            encoding="jpeg",
            resize=(48, 48),
            augment=Augment(flip_left_right=True, crop=4),
        ),
    ]
    """The piece, red, green and blue. Sizes differ; reading brings all to 48x48."""

    photograph: Annotated[int, Label(classes=("china", "flower"))]
    """Which photograph the piece was cut from."""

    box: Annotated[np.ndarray, Vector(shape=(4,), dtype="int32", role="info")]
    """Where: top, left, height and width in pixels of the photograph.

    For people who look at the data. It is no input, because where somebody cut says
    nothing about what can be seen.
    """
