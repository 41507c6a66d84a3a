"""TF Vision's Mask R-CNN records: objects with boxes and with masks of their own."""

from typing import Annotated

import numpy as np
from schemagen import Image, Images, Record, Text, VarLen

SIZE = (16, 24)


def _per_object(key: str, dtype: str = "float32") -> VarLen:
    """One number for each object of the picture."""
    return VarLen(dtype, key=f"image/object/{key}", group="objects")


class VisionMasks(Record):
    """A picture and the objects on it."""

    image: Annotated[
        bytes,
        Image(
            (*SIZE, 3),
            encoding="any",
            key="image/encoded",
            height_key="image/height",
            width_key="image/width",
        ),
    ]
    source_id: Annotated[str, Text(key="image/source_id", role="info")]
    xmin: Annotated[np.ndarray, _per_object("bbox/xmin")]
    xmax: Annotated[np.ndarray, _per_object("bbox/xmax")]
    ymin: Annotated[np.ndarray, _per_object("bbox/ymin")]
    ymax: Annotated[np.ndarray, _per_object("bbox/ymax")]
    classes: Annotated[np.ndarray, _per_object("class/label", "int64")]
    area: Annotated[np.ndarray, _per_object("area")]
    is_crowd: Annotated[np.ndarray, _per_object("is_crowd", "bool")]
    masks: Annotated[
        list[bytes],
        Images((*SIZE, 1), encoding="png", key="image/object/mask", group="objects"),
    ]
