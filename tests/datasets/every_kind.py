"""Records of every kind, and a small one whose records are known by their numbers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import tensorflow as tf

SCHEMA = '''
from typing import Annotated, Any
import numpy as np
from pydantic import BaseModel
from schemagen import *

class Small(Record):
    """Known by its number; all that it holds follows from that."""

    number: int
    tokens: Annotated[list[int], VarLen("int64", max_length=40)]
    kind: Annotated[int, Label(num_classes=7)]

class Bare(Record):
    """Without targets, of targets that may be missing, and with weights."""

    number: int
    sort: Annotated[int | None, Label(num_classes=7)] = None
    weight: Annotated[float, Scalar("float32", role="weight")] = 1.0

class Place(BaseModel):
    x: int
    note: str | None = None
    left: Annotated[np.ndarray, VarLen("float32", group="boxes", max_length=9)]
    word: Annotated[
        list[str], VarLen("string", group="boxes", padding_value="-", max_length=9)
    ]

class Every(Record):
    """A field of every kind."""

    number: Annotated[int, Scalar("int64", role="info")]
    photo: Annotated[np.ndarray, Image((4, 6, 3))]
    picture: Annotated[bytes | None, Image((None, None, 3), encoding="png", resize=(5, 7))] = None
    frames: Annotated[list[bytes], Images((3, 3, 1), encoding="png", max_count=8)]
    film: Annotated[list[bytes], Images((3, 3, 1), encoding="png", count=2)]
    tokens: Annotated[list[int], VarLen("int64", max_length=8, padding_value=-7)]
    halves: Annotated[np.ndarray, VarLen("float64")]
    spots: Annotated[np.ndarray, VarLen("float32", item_shape=(2,), ragged=True)]
    pairs: Annotated[np.ndarray, VarLen("int16", item_shape=(2,), padding_value=9, max_length=8)]
    words: list[str]
    flags: Annotated[list[bool] | None, VarLen("bool")] = None
    lists: Annotated[list[list[int]], Ragged("int64")]
    lines: Annotated[list[list[str]], Ragged("string", ragged=False, padding_value="?")]
    vector: Annotated[np.ndarray, Vector((2, 3), "float64")]
    half: Annotated[np.ndarray, Vector((3,), "bfloat16")]
    scan: Annotated[np.ndarray, Tensor((None, None, 1), "uint16", shape_key=("h", "w", None))]
    bag: Annotated[dict[int, float], Sparse((9,), "bag/index")]
    grid: Annotated[tuple[Any, Any], Sparse((3, 4), ("row", "column"), "int8", dense=True)]
    count: int | None = None
    height: float | None = None
    note: str | None = None
    blob: bytes = b""
    truth: bool
    place: Place
    labels: Annotated[list[int] | None, MultiLabel(num_classes=4, role="input")] = None
    things: Annotated[np.ndarray | None, Mask((4, 6), num_classes=5, ignore=255)] = None
    kind: Annotated[int, Label(num_classes=7)]
    price: Annotated[float, Scalar("float32", role="target")]
    weight: Annotated[float, Scalar("float32", role="weight")] = 1.0
    comment: Annotated[str | None, Text(role="info")] = None

class Loose(Record):
    """A picture of any size, in batches of one."""

    number: Annotated[int, Scalar("int64", role="info")]
    picture: Annotated[bytes, Image((None, None, 3), encoding="png")]

class Clip(SequenceRecord):
    """Steps of every sort."""

    number: Annotated[int, Scalar("int64", role="info")]
    name: str
    frames: Annotated[list[Any], Steps(Image((3, 3, 1), encoding="png"), group="g")]
    speeds: Annotated[list[float], Steps(Scalar("float32"), group="g")]
    poses: Annotated[np.ndarray, Steps(Vector((2,), "float64"), group="g", ragged=True)]
    words: Annotated[list[str] | None, Steps(Text())] = None
    kind: Annotated[int, Label(num_classes=7)]
'''


def small(number: int) -> dict[str, Any]:
    """Return a row whose content tells its number."""
    return {
        "number": number,
        "tokens": [number] * (number * 7 % 23),
        "kind": number % 7,
    }


@cache
def png(seed: int, height: int, width: int, channels: int) -> bytes:
    """Encode a noisy picture."""
    noise = np.random.default_rng(seed).integers(0, 256, (height, width, channels))
    found: bytes = tf.io.encode_png(noise.astype(np.uint8)).numpy()
    return found


def every(number: int) -> dict[str, Any]:
    """Return a row of all kinds, in which each third has no optional fields."""
    noise = np.random.default_rng(number)
    length = number * 5 % 8
    row = {
        "number": number,
        "photo": noise.integers(0, 256, (4, 6, 3)).astype(np.uint8),
        "frames": [png(at, 3, 3, 1) for at in range(length)],
        "film": [png(at + 9, 3, 3, 1) for at in range(2)],
        "tokens": list(range(length)),
        "halves": np.arange(length) / 3,
        "spots": noise.normal(size=(number % 4, 2)).astype(np.float32),
        "pairs": np.full((number % 5, 2), number, np.int16),
        "words": [f"{number} {at}" for at in range(number % 3)],
        "lists": [[number] * at for at in range(length)],
        "lines": [["a"] * at for at in range(number % 4)],
        "vector": np.full((2, 3), number / 3),
        "half": np.array([number, 0.5, -1], np.float32),
        "scan": np.full((1 + number % 3, 1 + number % 4, 1), number, np.uint16),
        "bag": {at: at / 2 for at in range(number % 9)},
        "grid": ([[number % 3, number % 4]], [number % 100]),
        "truth": number % 2 == 0,
        "place": {
            "x": number,
            "left": np.arange(number % 4, dtype=np.float32),
            "word": ["w"] * (number % 4),
        },
        "kind": number % 7,
        "price": number / 2,
    }
    if number % 3:
        row["picture"] = png(number, 2 + number % 5, 4, 3)
        row |= {"flags": [True] * length, "count": number, "height": 1.5}
        row |= {"note": f"note {number}", "blob": bytes([number]), "labels": [2]}
        row |= {"things": np.full((4, 6), number % 5, np.uint8), "weight": 0.5}
        row["place"]["note"] = "x" * (number % 4)
        row["comment"] = str(number)
    return row


def loose(number: int) -> dict[str, Any]:
    """Return a picture of a size of its own."""
    return {"number": number, "picture": png(number, 2 + number, 3 + number % 2, 3)}


def clip(number: int) -> dict[str, Any]:
    """Return a sequence; each third has no words."""
    length = number * 5 % 8
    row = {
        "number": number,
        "name": f"clip {number}",
        "frames": [png(at, 3, 3, 1) for at in range(length)],
        "speeds": [number / 4] * length,
        "poses": np.full((length, 2), number / 3),
        "kind": number % 7,
    }
    if number % 3:
        row["words"] = ["w"] * (number % 5)
    return row


def numbers(dataset: Any) -> list[int]:
    """Return the numbers of records, in the order in which they come."""
    return [int(n) for features, *_ in dataset for n in features["number"]]


def values(element: Any) -> Any:
    """Return an element as lists and numbers that can be compared, NaN as a word."""
    if isinstance(element, tf.RaggedTensor):
        return [str(element.dtype), element.to_list()]
    if isinstance(element, tf.SparseTensor):
        dense = tf.sparse.to_dense(element)
        return [values(dense), element.indices.numpy().tolist()]
    if isinstance(element, Mapping):
        return {name: values(value) for name, value in element.items()}
    if isinstance(element, (tuple, list)):
        return [values(value) for value in element]
    array = element.numpy()
    return [str(element.dtype), array.shape, repr(array.tolist())]
