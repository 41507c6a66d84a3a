"""Crops of photographs, stored as JPEG in any size."""

from typing import Annotated

import numpy as np
from schemagen import Augment, Image, Label, Record, Vector


class Photo(Record):
    """A crop of one of two photographs.

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
    """The crop, RGB. Sizes differ; readers resize all crops to 48x48."""

    photograph: Annotated[int, Label(classes=("china", "flower"))]
    """The photograph that the crop is from."""

    box: Annotated[np.ndarray, Vector(shape=(4,), dtype="int32", role="info")]
    """The place of the crop: top, left, height and width in pixels.

    For people who look at the data. It is not an input, because it says nothing about
    the content.
    """
