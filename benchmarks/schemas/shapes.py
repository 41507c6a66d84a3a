"""The records that are measured."""

from typing import Annotated

import numpy as np
from schemagen import Image, Label, Record, VarLen, Vector


class Mix(Record):
    """A small image with a label, floats and tokens, 3.2 kB."""

    image: Annotated[np.ndarray, Image((32, 32, 3))]
    label: Annotated[int, Label(num_classes=10)]
    floats: Annotated[np.ndarray, Vector((5,))]
    tokens: Annotated[np.ndarray, VarLen("int64")]


class Embedding(Record):
    """One vector, 16 kB."""

    vector: Annotated[np.ndarray, Vector((4096,))]
    label: Annotated[int, Label(num_classes=10)]


class Tabular(Record):
    """A row of a table: ten floats and ten integers."""

    f0: float
    f1: float
    f2: float
    f3: float
    f4: float
    f5: float
    f6: float
    f7: float
    f8: float
    f9: float
    i0: int
    i1: int
    i2: int
    i3: int
    i4: int
    i5: int
    i6: int
    i7: int
    i8: int
    i9: int


class Tokens(Record):
    """A piece of text as token ids, 1.3 kB."""

    tokens: Annotated[np.ndarray, VarLen("int64")]


class Jpeg(Record):
    """A photograph, 60 kB."""

    image: Annotated[bytes, Image((None, None, 3), encoding="jpeg", resize=(224, 224))]
    label: Annotated[int, Label(num_classes=1000)]
    floats: Annotated[np.ndarray, Vector((5,))]


class Photograph(Record):
    """A photograph as an array, which the writer encodes."""

    image: Annotated[np.ndarray, Image((480, 640, 3), encoding="jpeg")]
    label: Annotated[int, Label(num_classes=1000)]


class Document(Tabular):
    """A piece of text of a fixed length with ten floats and ten integers, 1.6 kB."""

    tokens: Annotated[np.ndarray, Vector((512,), dtype="int64")]
