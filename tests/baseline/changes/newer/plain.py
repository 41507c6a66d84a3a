from typing import Annotated, Any

import numpy as np
from schemagen import (
    Image,
    Label,
    Mask,
    Ragged,
    Record,
    Scalar,
    SequenceRecord,
    Sparse,
    Steps,
    VarLen,
    Vector,
)


class Sg201(SequenceRecord):
    number: int
    steps: Annotated[list[int], Steps(Scalar("int64"))]


class Sg202(Record):
    keep: int
    age: int


class Sg203(Record):
    keep: int
    age: int


class Sg204(Record):
    keep: int
    age: Annotated[int, Scalar("int64", key="age_years")]


class Sg205(Record):
    keep: int
    age: float


class Sg206(Record):
    keep: int
    size: Annotated[np.ndarray, Vector(shape=(2,))]


class Sg207(Record):
    keep: int
    photo: Annotated[np.ndarray, Image(shape=(4, 4, 3), encoding="jpeg")]


class Sg208(Record):
    keep: int
    words: Annotated[list[int], VarLen("int64", max_length=2)]


class Sg209(Record):
    keep: int
    lists: Annotated[list[list[int]], Ragged("int64", row_lengths_key="lengths")]


class Sg210(Record):
    keep: int
    xs: Annotated[list[int], VarLen("int64", group="points")]
    ys: Annotated[list[int], VarLen("int64", group="points")]


class Sg220Other(Record):
    number: int


class Sg221(Record):
    keep: int
    breed: Annotated[str, Label(classes=("tabby", "pug"))]


class Sg222(Record):
    keep: int
    breed: Annotated[int, Label(num_classes=3, offset=1)]


class Sg223(Record):
    keep: int
    size: Annotated[np.ndarray, Vector(shape=(3, 2))]


class Sg224(Record):
    keep: int
    size: Annotated[np.ndarray, Vector(shape=(2,), dtype="int32", encoding="raw")]


class Sg225(Record):
    keep: int
    breed: Annotated[int, Scalar("int64", role="target")]


class Sg226(Record):
    keep: int
    age: int | None = 2


class Sg229(Record):
    keep: int
    size: Annotated[np.ndarray, Vector(shape=(2,))]


class Sg230(Record):
    keep: int
    mask: Annotated[
        np.ndarray, Mask(shape=(2, 2), num_classes=3, ignore=2, role="info")
    ]


class Sg231(Record):
    keep: int
    grid: Annotated[Any, Sparse(shape=(3, 3), index_key=("column", "row"))]


class Sg232(Record):
    keep: int
    photo: Annotated[
        np.ndarray, Image(shape=(4, 4, 3), resize=(2, 2), interpolation="nearest")
    ]


class Sg233(Record):
    keep: int
    words: Annotated[list[int], VarLen("int64", padding_value=-1)]


class Sg234(Record):
    keep: int
    words: Annotated[list[int], VarLen("int64", max_length=2, too_long="keep_head")]


class Sg235(Record):
    keep: int
    photo: Annotated[np.ndarray, Image(shape=(4, 4, 3), encoding="png")]
    height: int | None = 170


class Sg241(Record):
    keep: int
    age_years: Annotated[int, Scalar("int64", key="age")]


class Sg242(Record):
    keep: int


class Sg243(Record):
    keep: int
    age: int


class Sg244(Record):
    keep: int
    age: Annotated[int, Scalar("int64", role="info")]


class Sg245(Record):
    keep: int
    words: Annotated[list[int], VarLen("int64", ragged=True)]


class Sg246(Record):
    keep: int
    age: int | None = 1


class Sg247(Record):
    keep: int
    breed: Annotated[str, Label(classes=("pug", "tabby", "beagle"))]


class Sg248(Record):
    keep: int
    age: Annotated[float, Scalar("float32", exact=True)]


class Sg249Other(Record):
    number: int


class Sg250(Record):
    number: int


class Sg251(Record):
    keep: int
    breed: Annotated[int, Label(num_classes=3)] = 0


class Sg252(Record, reserved=("age",)):
    number: int


class Sg253(Record, draft=True):
    number: int
