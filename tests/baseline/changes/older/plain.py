from typing import Annotated, Any

import numpy as np
from schemagen import Image, Label, Mask, Ragged, Record, Sparse, VarLen, Vector


class Sg201(Record):
    number: int


class Sg202(Record):
    keep: int


class Sg203(Record):
    keep: int
    age: int | None = None


class Sg204(Record):
    keep: int
    age: int


class Sg205(Record):
    keep: int
    age: int


class Sg206(Record):
    keep: int
    size: Annotated[np.ndarray, Vector(shape=(3,))]


class Sg207(Record):
    keep: int
    photo: Annotated[np.ndarray, Image(shape=(4, 4, 3), encoding="png")]


class Sg208(Record):
    keep: int
    words: Annotated[list[int], VarLen("int64", max_length=3)]


class Sg209(Record):
    keep: int
    lists: Annotated[list[list[int]], Ragged("int64")]


class Sg210(Record):
    keep: int
    xs: Annotated[list[int], VarLen("int64")]
    ys: Annotated[list[int], VarLen("int64")]


class Sg220(Record):
    number: int


class Sg221(Record):
    keep: int
    breed: Annotated[str, Label(classes=("pug", "tabby"))]


class Sg222(Record):
    keep: int
    breed: Annotated[int, Label(num_classes=3)]


class Sg223(Record):
    keep: int
    size: Annotated[np.ndarray, Vector(shape=(2, 3))]


class Sg224(Record):
    keep: int
    size: Annotated[np.ndarray, Vector(shape=(2,), encoding="raw")]


class Sg225(Record):
    keep: int
    breed: Annotated[int, Label(num_classes=3)]


class Sg226(Record):
    keep: int
    age: int | None = 1


class Sg229(Record):
    keep: int
    size: Annotated[np.ndarray, Vector(shape=(2,), finite=False)]


class Sg230(Record):
    keep: int
    mask: Annotated[
        np.ndarray, Mask(shape=(2, 2), num_classes=3, ignore=255, role="info")
    ]


class Sg231(Record):
    keep: int
    grid: Annotated[Any, Sparse(shape=(3, 3), index_key=("row", "column"))]


class Sg232(Record):
    keep: int
    photo: Annotated[np.ndarray, Image(shape=(4, 4, 3), resize=(2, 2))]


class Sg233(Record):
    keep: int
    words: Annotated[list[int], VarLen("int64")]


class Sg234(Record):
    keep: int
    words: Annotated[list[int], VarLen("int64", max_length=3, too_long="keep_head")]


class Sg235(Record):
    keep: int
    photo: Annotated[
        np.ndarray,
        Image(shape=(4, 4, 3), encoding="png", height_key="height"),
    ]


class Sg241(Record):
    keep: int
    age: int


class Sg242(Record):
    keep: int
    age: int


class Sg243(Record):
    keep: int


class Sg244(Record):
    keep: int
    age: int


class Sg245(Record):
    keep: int
    words: Annotated[list[int], VarLen("int64")]


class Sg246(Record):
    keep: int


class Sg247(Record):
    keep: int
    breed: Annotated[str, Label(classes=("pug", "tabby"))]


class Sg248(Record):
    keep: int
    age: float


class Sg249(Record):
    number: int


class Sg250(Record, reserved=("age",)):
    number: int


class Sg251(Record):
    keep: int


class Sg252(Record):
    number: int
    age: int


class Sg253(Record):
    number: int
