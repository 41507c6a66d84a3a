"""DeepLab2 on COCO: each pixel's class and which of its things it belongs to."""

from typing import Annotated

import numpy as np
from schemagen import Image, Mask, Record, Text

# A panoptic id is a class times this, and the number of a thing.
DIVISOR = 256


class PanopticImage(Record):
    """A picture and the panoptic id of each of its pixels."""

    image: Annotated[
        bytes,
        Image(
            (None, None, 3),
            encoding="jpeg",
            key="image/encoded",
            height_key="image/height",
            width_key="image/width",
            channels_key="image/channels",
            format_key="image/format",
        ),
    ]
    filename: Annotated[str, Text(key="image/filename", role="info")]
    panoptic: Annotated[
        np.ndarray,
        Mask(
            (None, None),
            encoding="raw",
            dtype="int32",
            key="image/segmentation/class/encoded",
            height_key="image/height",
            width_key="image/width",
            format_key="image/segmentation/class/format",
        ),
    ]
