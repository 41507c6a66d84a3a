from enum import Enum
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel
from schemagen import (
    Augment,
    Image,
    Images,
    Label,
    Mask,
    MultiLabel,
    Ragged,
    Record,
    Scalar,
    Sparse,
    Tensor,
    Text,
    VarLen,
    Vector,
)


class Weather(Enum):
    SUN = 0
    RAIN = 1


class _Boxes(BaseModel):
    left: Annotated[np.ndarray, VarLen("float32", group="boxes", max_length=9)]
    word: Annotated[
        list[str], VarLen("string", group="boxes", padding_value="-", max_length=9)
    ]
    score: Annotated[
        np.ndarray | None, VarLen("float32", group="boxes", max_length=9)
    ] = None


class _Place(BaseModel):
    x: int
    note: str | None = None
    boxes: _Boxes


class Everything(Record, reserved=("older", "older/key")):
    """A field of every kind.

    The second paragraph of its docstring.
    """

    number: Annotated[int, Scalar("int64", role="info")]
    """Where the row is, from 0."""

    # Numbers of each dtype.
    truth: bool
    int8: Annotated[int, Scalar("int8")]
    int16: Annotated[int, Scalar("int16")]
    int32: Annotated[int, Scalar("int32")]
    int64: int
    uint8: Annotated[int, Scalar("uint8")]
    uint16: Annotated[int, Scalar("uint16")]
    uint32: Annotated[int, Scalar("uint32")]
    uint64: Annotated[int, Scalar("uint64")]
    float16: Annotated[float, Scalar("float16")]
    bfloat16: Annotated[float, Scalar("bfloat16", exact=False)]
    float32: float
    float64: Annotated[float, Scalar("float64", finite=False)]
    blob: bytes
    text: str

    # What may be missing.
    maybe_count: int | None = None
    maybe_height: float | None = None
    maybe_note: str | None = None
    maybe_blob: bytes | None = None
    maybe_words: list[str] | None = None
    count_or_5: int = 5
    note_or_none: Annotated[str, Text(presence=True)] = "none"
    weight: Annotated[float, Scalar("float32", role="weight")] = 1.0

    # Numbers of fixed shapes.
    vector: Annotated[np.ndarray, Vector((2, 3))]
    bools: Annotated[np.ndarray, Vector((3,), "bool")]
    raw_vector: Annotated[np.ndarray, Vector((3,), "int16", "raw")]
    doubles: Annotated[np.ndarray, Vector((2,), "float64", exact=False)]
    halves: Annotated[np.ndarray, Vector((3,), "bfloat16")]
    maybe_vector: Annotated[np.ndarray | None, Vector((2,))] = None

    # Of other shapes.
    scan: Annotated[
        np.ndarray, Tensor((None, None, 1), "uint16", shape_key=("h", "w", None))
    ]
    volume: Annotated[
        np.ndarray,
        Tensor((None, 2), "float32", "list", shape_key="volume/shape", padding_value=7),
    ]

    # Sequences.
    tokens: Annotated[list[int], VarLen("int64", max_length=8, padding_value=-7)]
    head: Annotated[list[int], VarLen("int32", max_length=2, too_long="keep_head")]
    tail: Annotated[list[int], VarLen("uint8", max_length=2, too_long="keep_tail")]
    raw_items: Annotated[np.ndarray, VarLen("float64")]
    pairs: Annotated[np.ndarray, VarLen("int16", item_shape=(2,), padding_value=9)]
    spots: Annotated[np.ndarray, VarLen("float32", item_shape=(2,), ragged=True)]
    words: list[str]
    blobs: list[bytes]
    flags: Annotated[list[bool], VarLen("bool")]
    lists: Annotated[list[list[int]], Ragged("int64")]
    lines: Annotated[
        list[list[str]],
        Ragged("string", "lines/lengths", ragged=False, padding_value="?"),
    ]
    bag: Annotated[dict[int, float], Sparse((9,), "bag/index", exact=False)]
    grid: Annotated[
        tuple[Any, Any], Sparse((3, 4), ("row", "column"), "int8", dense=True)
    ]

    # Classes.
    animal: Annotated[str, Label(classes=("hare", "red fox", "łoś"))]
    ordinal: Annotated[int, Label(num_classes=9, offset=1, key="image/class/label")]
    color: Annotated[str | None, Label(classes=("black", "grey"), stored="text")] = None
    island: Annotated[Literal["Biscoe", "Dream"], Label(role="input")]
    weather: Weather
    tags: Annotated[list[str], MultiLabel(classes=("indoor", "night", "people"))]
    topics: Annotated[
        list[int] | None, MultiLabel(num_classes=4, offset=1, role="input")
    ] = None
    moods: Annotated[list[str], MultiLabel(classes=("calm", "wild"), stored="text")]

    # Images.
    pixels: Annotated[
        np.ndarray, Image((6, 4, 3), augment=Augment(flip_left_right=True, crop=1))
    ]
    any_size: Annotated[
        np.ndarray,
        Image(
            (None, None, 1),
            dtype="uint16",
            height_key="any/height",
            width_key="any/width",
            resize=(2, 2),
            interpolation="nearest",
        ),
    ]
    png: Annotated[
        bytes,
        Image(
            (None, None, 3),
            encoding="png",
            height_key="png/height",
            width_key="png/width",
            channels_key="png/channels",
            format_key="png/format",
            format_text="PNG",
            resize=(4, 4),
            interpolation="nearest",
        ),
    ]
    jpeg: Annotated[
        bytes | None,
        Image(
            (16, 16, 3),
            encoding="jpeg",
            resize=(8, 8),
            dtype="float32",
            antialias=True,
        ),
    ] = None
    any_format: Annotated[bytes, Image((4, 6, 3), encoding="any", format_key="format")]
    frames: Annotated[list[bytes], Images((3, 3, 1), encoding="png", max_count=8)]
    film: Annotated[list[bytes], Images((3, 3, 1), encoding="png", count=2)]
    surface: Annotated[
        np.ndarray,
        Mask(
            (6, 4),
            num_classes=5,
            ignore=255,
            encoding="raw",
            augment=Augment(flip_left_right=True, crop=1),
        ),
    ]
    mask: Annotated[
        bytes | None,
        Mask((4, 6), num_classes=250, ignore=255, role="info"),
    ] = None
    panoptic: Annotated[
        np.ndarray,
        Mask(
            (None, None),
            encoding="raw",
            dtype="int32",
            height_key="panoptic/height",
            width_key="panoptic/width",
            resize=(2, 2),
        ),
    ]

    # A nested model, under a key of its own too.
    place: _Place
    schlüssel: Annotated[int, Scalar("int64", key="鍵/{{ key }} \"'", role="info")]
