from datetime import datetime, timedelta
from typing import Annotated

import numpy as np
from pydantic import BaseModel
from schemagen import Image, Mask, Nested, Record, Scalar, Tensor, VarLen, Vector


class _Camera(BaseModel):
    exposure: float
    lens: str


class Sighting(Record):
    """Times, boxes, ranges and sizes that follow from bytes."""

    number: Annotated[int, Scalar("int64", role="info")]
    taken: Annotated[datetime, Scalar("int64", unit="ms")]
    lasted: Annotated[timedelta | None, Scalar("int64", unit="s")] = None
    photo: Annotated[bytes, Image((4, 6, 3), encoding="png")]
    turned: Annotated[
        bytes,
        Image((None, None, 3), encoding="jpeg", orientation="apply", resize=(4, 4)),
    ]
    boxes: Annotated[
        np.ndarray,
        VarLen(
            "float32",
            item_shape=(4,),
            box=("ymin", "xmin", "ymax", "xmax"),
            box_image="photo",
        ),
    ]
    left: Annotated[np.ndarray, VarLen("float32", group="cars", box="xmin")]
    top: Annotated[np.ndarray, VarLen("float32", group="cars", box="ymin")]
    width: Annotated[np.ndarray, VarLen("float32", group="cars", box="width")]
    height: Annotated[np.ndarray, VarLen("float32", group="cars", box="height")]
    spot: Annotated[np.ndarray, Vector((4,), box=("xmin", "ymin", "width", "height"))]
    share: Annotated[float, Scalar("float32", min=0, max=1)]
    counts: Annotated[list[int], VarLen("int32", min=0, max=9)]
    signal: Annotated[np.ndarray, VarLen("int16", encoding="raw")]
    table: Annotated[np.ndarray, Tensor((None, 2), "float32")]
    mask: Annotated[np.ndarray, Mask((2, 3), num_classes=4, own_size=True, role="info")]
    camera: Annotated[_Camera, Nested(key="rig/left camera")]
