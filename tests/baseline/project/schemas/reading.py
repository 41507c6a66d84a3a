from typing import Annotated

import numpy as np
from schemagen import Image, Label, Ragged, Record, Scalar, Text, VarLen, Vector


class Reading(Record):
    """A small record, whose files are cut, packed, shuffled and damaged."""

    number: Annotated[int, Scalar("int64", role="info")]
    name: Annotated[str, Text(role="info")]
    label: Annotated[str, Label(classes=("hare", "fox"))]
    level: Annotated[int, Scalar("uint8")]
    values: Annotated[np.ndarray, VarLen("float32", max_length=5, group="pairs")]
    weights: Annotated[np.ndarray, VarLen("float32", max_length=5, group="pairs")]
    raw: Annotated[np.ndarray, Vector((2,), "float64")]
    lists: Annotated[list[list[int]], Ragged("int64")]
    photo: Annotated[bytes, Image((4, 6, 3), encoding="png", height_key="photo/height")]
    note: str | None = None
