"""What is inferred of the records of test_inferred_schemas.py; comments are cut."""

from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel
from schemagen import (
    Image,
    Images,
    Label,
    Mask,
    MultiLabel,
    Ragged,
    Record,
    Scalar,
    Tensor,
    Text,
    VarLen,
    Vector,
)


# doubt
class Plain(Record):
    a: int
    # doubt
    adult: int
    b: float
    car: str
    five: Annotated[np.ndarray, Vector((5,))]
    # doubt
    infinite: Annotated[np.ndarray, Vector((2,), finite=False)]
    # doubt
    is_open: bool
    # doubt
    nan: Annotated[float, Scalar("float32", finite=False)]
    numbers: list[int]
    tags: list[str]
    text: str
    # doubt
    valid: list[bool]
    whole: float
    blob: bytes
    image_name: Annotated[str, Text(role="info")]
    # doubt
    weight: Annotated[float, Scalar("float32", role="weight")]


# doubt
class Missing(Record):
    a: int
    b: float | None = None
    c: str | None = None
    d: list[int] | None = None
    e: int | None = None
    # doubt
    maybe: list[int]


# doubt
class LeftOut(Record):
    b: int


# doubt
class Highest(Record):
    # doubt
    constant_label: Annotated[int, Label(num_classes=2, key="constant/label")]
    # doubt
    label: Annotated[int, Label(num_classes=10)]


# doubt
class FromOne(Record):
    # doubt
    class_id: Annotated[int, Label(num_classes=4, offset=1)]
    # doubt
    other_label: Annotated[int | None, Label(num_classes=3, key="other/label")] = None


# doubt
class Signs(Record):
    # doubt
    category: Annotated[
        str,
        Label(
            classes=("2", "3", "4", "5", "6", "7", "8", "9", "10", "11"),
            stored="text",
        ),
    ]
    # doubt
    clicked: Annotated[int, Label(values=(-1, 1))]
    # doubt
    label: Annotated[int, Label(values=(-1, 1))]
    # doubt
    outcome: Annotated[str, Label(classes=("No", "Yes"), stored="text")]
    # doubt
    sentiment: Annotated[int, Label(values=(-1, 0, 1))]


# doubt
class NamedBoxes(Record):
    image: Annotated[bytes, Image((4, 5, 3), encoding="png", key="image/encoded")]
    # doubt
    label: Annotated[
        list[str],
        VarLen(
            "int64",
            group="class",
            classes=("cat", "dog", "eel"),
            offset=1,
            key="image/object/class/label",
        ),
    ]
    text: Annotated[
        list[str],
        VarLen("string", group="class", key="image/object/class/text", role="info"),
    ]


# doubt
class BoxNames(Record):
    image: Annotated[bytes, Image((4, 5, 3), encoding="png", key="image/encoded")]
    # doubt
    text: Annotated[
        list[str],
        VarLen(
            "int64",
            classes=("cat", "dog", "eel"),
            stored="text",
            key="image/object/class/text",
        ),
    ]


# doubt
class Named(Record):
    # doubt
    label: Annotated[Literal["cat", "dog", "eel"], Label(key="class/label")]
    text: Annotated[str, Text(key="class/text", role="info")]


# doubt
class SomeNamed(Record):
    # doubt
    label: Annotated[int, Label(num_classes=3, key="class/label")]
    text: Annotated[str, Text(key="class/text", role="info")]


# doubt
class Species(Record):
    # doubt
    labels: Annotated[list[int], MultiLabel(num_classes=6)]
    # doubt
    species: Annotated[str, Label(classes=("cat", "dog", "eel"), stored="text")]


# doubt
class ManySpecies(Record):
    species: Annotated[str, Text(role="info")]


# doubt
class Photo(Record):
    photo: Annotated[
        bytes,
        Image(
            (4, 5, 3),
            encoding="jpeg",
            height_key="photo/height",
            width_key="photo/width",
            format_key="photo/format",
            format_text="JPG",
        ),
    ]


# doubt
class Pictures(Record):
    any: Annotated[
        bytes,
        Image((6, 7, 3), encoding="any", format_key="any/format", key="any/encoded"),
    ]
    cars: Annotated[list[bytes], Images((4, 9, 3), encoding="png", count=3)]
    deep: Annotated[bytes, Image((4, 5, 1), encoding="png", dtype="uint16")]
    # doubt
    frames: Annotated[list[bytes], Images((None, 3, 3), encoding="png", resize=(4, 3))]
    grey: Annotated[bytes, Image((8, 9, 3), encoding="png")]
    none: Annotated[bytes | None, Image((9, 5, 3), encoding="png")] = None
    # doubt
    several_sizes: Annotated[bytes, Image((None, None, 3), encoding="png")]
    # doubt
    broken: bytes
    # doubt
    depths: bytes


# doubt
class OtherSize(Record):
    # doubt
    image: Annotated[bytes, Image((4, 5, 3), encoding="png", width_key="width")]
    height: Annotated[int, Scalar("int64", role="info")]


class Masks(Record):
    depth: Annotated[bytes, Image((4, 5, 1), encoding="png")]
    image: Annotated[bytes, Image((4, 5, 3), encoding="jpeg")]
    # doubt
    mask: Annotated[np.ndarray, Mask((4, 5), num_classes=2)]


# doubt
class RawPixels(Record):
    # doubt
    image_raw: Annotated[
        np.ndarray,
        Image(
            (None, 6, 3), height_key="height", width_key="width", channels_key="depth"
        ),
    ]


# doubt
class Panoptic(Record):
    # doubt
    image: Annotated[
        bytes,
        Image(
            (None, 6, 3),
            encoding="png",
            height_key="image/height",
            width_key="image/width",
            key="image/encoded",
        ),
    ]
    # doubt
    panoptic: Annotated[
        np.ndarray,
        Tensor(
            (None, 6), dtype="int32", shape_key=("panoptic/height", "panoptic/width")
        ),
    ]


class RawNumbers(Record):
    # doubt
    pixels: Annotated[np.ndarray, Image((32, 32, 3))]
    # doubt
    spot: Annotated[np.ndarray, Image((28, 28, 1))]
    # doubt
    hot: Annotated[np.ndarray, Vector((1,), dtype="int32", encoding="raw")]
    # doubt
    ids: Annotated[np.ndarray, Vector((9,), dtype="int64", encoding="raw")]
    # doubt
    row: Annotated[np.ndarray, Vector((61,), encoding="raw")]
    # doubt
    x: Annotated[np.ndarray, Tensor((None, 5), shape_key="x/shape")]
    # doubt
    digit: Annotated[
        np.ndarray, Vector((784,), dtype="uint8", encoding="raw", role="target")
    ]


class Cloud(BaseModel):
    # doubt
    label: Annotated[np.ndarray, Vector((20,), dtype="int64", role="target")]
    # doubt
    xyz: Annotated[np.ndarray, Vector((20, 3))]


class Shaped(Record):
    cloud: Cloud
    # doubt
    grid: Annotated[np.ndarray, Vector((10, 10), dtype="int64")]
    pixels: Annotated[
        np.ndarray,
        Tensor(
            (4, 6, 3),
            dtype="int64",
            encoding="list",
            shape_key=("height", "width", "depth"),
        ),
    ]
    points: Annotated[np.ndarray, VarLen("float32", item_shape=(3,))]
    num_points: Annotated[int, Scalar("int64", role="info")]


# doubt
class OneObject(Record):
    image: Annotated[bytes, Image((4, 5, 3), encoding="png", key="image/encoded")]
    xmax: Annotated[
        list[float],
        VarLen("float32", group="boxes", key="image/object/bbox/xmax", role="info"),
    ]
    xmin: Annotated[
        list[float],
        VarLen("float32", group="boxes", key="image/object/bbox/xmin", role="info"),
    ]
    label: Annotated[
        list[int],
        VarLen("int64", group="boxes", key="image/object/class/label", role="info"),
    ]


class Answers(Record):
    input_ids: list[int]
    user_id: int
    x: Annotated[np.ndarray, Vector((4,))]
    # doubt
    label: Annotated[float, Scalar("float32", role="target")]
    label_one_hot: Annotated[np.ndarray, Vector((3,), dtype="bool", role="target")]
    targets: Annotated[np.ndarray, Vector((3,), role="target")]
    # doubt
    example_weight: Annotated[float, Scalar("float32", role="weight")]
    image_key_sha256: Annotated[str, Text(key="image/key/sha256", role="info")]
    image_id: Annotated[int, Scalar("int64", role="info")]
    loss_weights: Annotated[np.ndarray, Vector((2,), role="info")]


# doubt
class Structures(Record):
    a: Annotated[
        list[list[int]],
        Ragged(
            "int64",
            row_lengths_key="a/ragged_row_lengths_0",
            key="a/ragged_flat_values",
        ),
    ]
    rows: Annotated[np.ndarray, Tensor((None, 2), encoding="proto")]
    same: Annotated[np.ndarray, Tensor((2, 3), encoding="proto")]


class Boxes(BaseModel):
    name: Annotated[list[str], VarLen("string", group="boxes", role="info")]
    xmax: Annotated[list[float], VarLen("float32", group="boxes", role="info")]
    xmin: Annotated[list[float], VarLen("float32", group="boxes", role="info")]


class Steps2(BaseModel):
    reward: Annotated[list[float], VarLen("float32", group="steps", role="info")]
    state: Annotated[np.ndarray, VarLen("float32", item_shape=(7,), group="steps")]


# doubt
class Lists(Record):
    alone: list[float]
    boxes: Boxes
    steps: Steps2


# doubt
class Padded(Record):
    # doubt
    input_ids: Annotated[
        list[int], VarLen("int64", max_length=16, pad_on_disk=True, group="tokens")
    ]
    input_mask: Annotated[
        list[int], VarLen("int64", max_length=16, pad_on_disk=True, group="tokens")
    ]
    pixels: Annotated[np.ndarray, Vector((16,), dtype="int64")]
    segment_ids: Annotated[
        list[int], VarLen("int64", max_length=16, pad_on_disk=True, group="tokens")
    ]


class B(BaseModel):
    d: int
    e: int


class Arm(BaseModel):
    x: float
    y: float


class Robot(BaseModel):
    arm: Arm
    state: Annotated[np.ndarray, Vector((7,))]


# doubt
class Nested(Record):
    b_image: Annotated[
        bytes, Image((4, 5, 3), encoding="png", height_key="height", key="b/image")
    ]
    b: B
    robot: Robot
    meta_id: Annotated[str, Text(key="meta/id", role="info")]
