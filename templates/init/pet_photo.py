"""A schema to start from: rename it, change it, add others next to it."""

from typing import Annotated

import numpy as np
from schemagen import Image, Label, Record, VarLen, Vector


class PetPhoto(Record):
    """One photographed pet with the shelter's notes."""

    photo: Annotated[np.ndarray, Image(shape=(64, 64, 3), encoding="jpeg")]
    """The pet, from the front."""

    note: Annotated[list[int], VarLen(dtype="int64", max_length=32)]
    """The shelter's remarks as token ids; there may be none."""

    measurements: Annotated[np.ndarray, Vector(shape=(5,), dtype="float32")]
    """Length, height and girth in cm, weight in kg, body temperature in degrees C."""

    breed: Annotated[int, Label(classes=("beagle", "pug", "tabby"))]

    age_years: float | None = None
    """Missing where no one knows it."""
