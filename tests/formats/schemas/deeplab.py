"""DeepLab: pictures of any size and their segmentation, as PASCAL VOC has it."""

from typing import Annotated

import numpy as np
from schemagen import Image, Mask, Record, Text


class DeeplabImage(Record):
    """A picture and the class of each of its pixels."""

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
    label: Annotated[
        bytes | np.ndarray,
        Mask(
            (None, None),
            num_classes=21,
            ignore=255,
            key="image/segmentation/class/encoded",
            format_key="image/segmentation/class/format",
        ),
    ]
