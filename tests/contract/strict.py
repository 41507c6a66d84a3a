"""A record with a field of every kind, all of them required, and one good row of it."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import tensorflow as tf
from PIL import Image

from .kinds.sound import flac, wav

SOURCE = '''\
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel

from schemagen import *

WORDS = ("a", "b", "c")


class Place(BaseModel):
    x: int
    spot: Annotated[np.ndarray, Vector((2,))]


class Strict(Record):
    """A field of every kind and every way of storing it."""

    pixels: Annotated[np.ndarray, Image((2, 3, 1), key="image/raw")]
    photo: Annotated[np.ndarray | bytes, Image((4, 5, 3), encoding="jpeg")]
    resized: Annotated[bytes, Image((None, 5, 3), encoding="jpeg", resize=(2, 2))]
    drawing: Annotated[np.ndarray | bytes, Image((4, 5, 3), encoding="png")]
    deep: Annotated[Any, Image((4, 5, 3), encoding="png", dtype="uint16")]
    any_photo: Annotated[Any, Image((None, None, 3), encoding="any", resize=(4, 4))]
    scan: Annotated[np.ndarray, Image((None, 3, 1), dtype="uint16", resize=(2, 2),
        height_key="scan/height", width_key="scan/width")]
    frames: Annotated[Any, Images((2, 3, 3), encoding="png", max_count=2)]
    views: Annotated[Any, Images((None, None, 3), count=2, resize=(3, 3))]
    shot: Annotated[np.ndarray, Image((1, 2, 3), transfer_encoding="base64")]
    voice: Annotated[Any, Audio(8000, max_length=4)]
    song: Annotated[Any, Audio(8000, channels=2, encoding="flac", too_long="keep_tail", max_seconds=0.001)]
    tone: Annotated[Any, Audio(8000, encoding="raw", dtype="int16")]
    mask: Annotated[Any, Mask((4, 5), num_classes=21, ignore=255)]
    deep_mask: Annotated[Any, Mask((4, 5), dtype="uint16", role="info")]
    raw_mask: Annotated[Any, Mask((4, 5), encoding="raw", dtype="int32",
        num_classes=2, role="info")]
    free_mask: Annotated[Any, Mask((None, 5), num_classes=3, resize=(4, 5), role="info")]
    breed: Annotated[int | str, Label(classes=("beagle", "pug", "tabby"))]
    number: Annotated[int, Label(num_classes=3)]
    counted: Annotated[int, Label(num_classes=1000, offset=1)]
    named: Annotated[str, Label(classes=WORDS, stored="text")]
    mood: Literal["calm", "wild"]
    tags: Annotated[list[int], MultiLabel(num_classes=4, offset=1)]
    terms: Annotated[list[str], MultiLabel(classes=WORDS, stored="text")]
    note: Annotated[list[int], VarLen("int64", max_length=3)]
    head: Annotated[list[int], VarLen("int64", max_length=3, too_long="keep_head")]
    full: Annotated[list[int], VarLen("int32", max_length=4, pad_on_disk=True)]
    few: Annotated[list[int], VarLen("uint8", key="few/{{ key }}")]
    pairs: Annotated[np.ndarray, VarLen("float32", item_shape=(2,))]
    doubles: Annotated[list[float], VarLen("float64")]
    words: Annotated[list[str], VarLen("string", max_length=2)]
    blobs: Annotated[list[bytes], VarLen("bytes")]
    flags: Annotated[list[bool], VarLen("bool", ragged=True)]
    low: Annotated[list[int], VarLen("int64", group="range")]
    high: Annotated[list[int], VarLen("int64", group="range")]
    sentences: list[list[str]]
    lists: Annotated[list[list[float]], Ragged("float32", ragged=False, max_length=2, exact=True)]
    edges: Annotated[list[list[int]], Ragged("int64", row_lengths_key="edges/n")]
    sizes: Annotated[np.ndarray, Vector((2, 2), exact=True)]
    codes: Annotated[np.ndarray, Vector((2,), dtype="uint8")]
    wide: Annotated[np.ndarray, Vector((2,), dtype="float64")]
    half: Annotated[np.ndarray, Vector((2,), dtype="bfloat16", exact=True)]
    rgb: Annotated[np.ndarray, Vector((5,), "uint8", "raw", dequantize=(0.5, -2))]
    depth: Annotated[np.ndarray, Tensor((None, None, 1), "uint16", shape_key=("h", "w", None))]
    points: Annotated[Any, Tensor((None, 3), encoding="list", shape_key="points/shape")]
    embedding: Annotated[np.ndarray, Tensor((None,), "float64", encoding="proto")]
    matrix: Annotated[np.ndarray, Tensor((2, 3), encoding="proto", exact=True)]
    bag: Annotated[Any, Sparse((9,), "bag/index")]
    grid: Annotated[Any, Sparse((3, 4), ("row", "column"), "int64")]
    cells: Annotated[Any, Sparse((3, 4), ("row", "column"), "int8", dense=True)]
    count: Annotated[int, Scalar("int64")]
    small: Annotated[int, Scalar("int8")]
    large: Annotated[int, Scalar("uint32")]
    huge: Annotated[int, Scalar("uint64")]
    ratio: Annotated[float, Scalar("float32", exact=True)]
    tiny: Annotated[float, Scalar("float16", exact=True)]
    rough: float
    is_good: bool
    text: str
    raw: bytes
    place: Place


class Clip(SequenceRecord):
    """Steps of several kinds, all of them required."""

    name: str
    rgb: Annotated[np.ndarray, Steps(Vector((2,), dtype="uint8", encoding="raw"), group="g")]
    frames: Annotated[list[Any], Steps(Image((4, 5, 3), encoding="png"), group="g")]
    words: Annotated[list[str], Steps(Text())]
    times: Annotated[list[int], Steps(Scalar("int64"), max_length=3)]
    spans: Annotated[list[list[int]], Steps(VarLen("int64", max_length=2))]


class Loose(Record):
    """A record of which no field has to be there."""

    count: int | None = None
    words: list[str] | None = None
    text: str = "none"


class LooseClip(SequenceRecord):
    """A record with steps, of which no field has to be there."""

    note: str | None = None
    speeds: Annotated[list[float] | None, Steps(Scalar("float32"))] = None
    marks: Annotated[list[int], Steps(Scalar("int32"), key="m/k", presence=True)] = []
'''


def encoded(encoding: str, size: tuple[int, int] = (5, 4), mode: str = "RGB") -> bytes:
    """Return a picture of this width and height."""
    out = io.BytesIO()
    Image.new(mode, size).save(out, format=encoding)
    return out.getvalue()


JPEG, PNG = encoded("JPEG"), encoded("PNG")
DEEP_PNG: bytes = tf.io.encode_png(np.zeros((4, 5, 3), np.uint16)).numpy()
FRAME = encoded("PNG", (3, 2))
MASK = np.ones((4, 5), np.uint8)
SAMPLES = np.arange(-20, 20, dtype=np.int16).reshape(-1, 1)

GOOD: dict[str, Any] = {
    "pixels": np.zeros((2, 3, 1), np.uint8),
    "photo": JPEG,
    "resized": JPEG,
    "drawing": PNG,
    "deep": DEEP_PNG,
    "any_photo": PNG,
    "scan": np.ones((4, 3, 1), np.uint16),
    "frames": [FRAME],
    "views": [JPEG, JPEG],
    "shot": np.arange(6, dtype=np.uint8).reshape(1, 2, 3),
    "voice": wav(SAMPLES[:4]),
    "song": flac(SAMPLES.reshape(-1, 2)),
    "tone": SAMPLES,
    "mask": MASK,
    "deep_mask": MASK.astype(np.uint16),
    "raw_mask": MASK.astype(np.int32),
    "free_mask": encoded("PNG", mode="P"),
    "breed": "pug",
    "number": 2,
    "counted": 7,
    "named": "c",
    "mood": "calm",
    "tags": [3, 0],
    "terms": ["c", "a"],
    "note": [1, 2, 3],
    "head": [1, 2, 3],
    "full": [1, 2, 3, 4],
    "few": [1],
    "pairs": [[1.0, 2.0]],
    "doubles": [0.5],
    "words": ["a", ""],
    "blobs": [b"a"],
    "flags": [True],
    "low": [1],
    "high": [2],
    "sentences": [["to", "be"], [], ["or"]],
    "lists": [[0.5], [1.0, 2.0]],
    "edges": [[1], [2, 3]],
    "sizes": [[1.0, 2.0], [3.0, 4.0]],
    "codes": [1, 2],
    "wide": [0.1, 0.2],
    "half": [1.0, 2.0],
    "rgb": np.arange(5, dtype=np.uint8),
    "depth": np.ones((2, 3, 1), np.uint16),
    "points": np.ones((4, 3), np.float32),
    "embedding": np.array([0.1, 0.2]),
    "matrix": np.ones((2, 3), np.float32),
    "bag": {7: 0.5, 2: -1.5},
    "grid": ([[2, 3], [0, 1]], [10, -20]),
    "cells": ([[2, 3], [0, 1]], np.array([1, -2], np.int8)),
    "count": 3,
    "small": 4,
    "large": 5,
    "huge": 6,
    "ratio": 0.5,
    "tiny": 0.5,
    "rough": 0.1,
    "is_good": True,
    "text": "text",
    "raw": b"raw",
    "place": {"x": 1, "spot": [1.0, 2.0]},
}

GOOD_CLIP: dict[str, Any] = {
    "name": "a",
    "rgb": np.array([[1, 2], [3, 4]], np.uint8),
    "frames": [PNG, PNG],
    "words": ["x", "y"],
    "times": [10, 20, 30],
    "spans": [[1, 2], []],
}
ROWS = {"Strict": GOOD, "Clip": GOOD_CLIP}


def columns_of(*rows: dict[str, Any]) -> dict[str, Any]:
    """Return rows as columns, those of a nested model in a dict."""
    found: dict[str, Any] = {n: [row[n] for row in rows] for n in rows[0]}
    places = found.get("place", [])
    if places and all(isinstance(place, dict) for place in places):
        names = {name for place in places for name in place}
        found["place"] = {n: [place.get(n) for place in places] for n in sorted(names)}
    return found
