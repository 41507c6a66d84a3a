"""A record with fields of many kinds, and rows that differ by shard."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import schemagen
from command_line import make_project
from schemagen.runtime.images.headers import encode_png

SCHEMA = '''
from typing import Annotated
import numpy as np
from schemagen import *

class Many(Record):
    """Fields of many kinds."""

    number: int
    big: Annotated[int, Scalar("uint64")]
    half: Annotated[float, Scalar("float16")]
    flag: bool
    blob: bytes
    name: str
    words: list[str]
    pairs: Annotated[np.ndarray, VarLen("float32", item_shape=(2,))]
    flags: Annotated[np.ndarray, Vector((3,), dtype="bool")]
    tile: Annotated[np.ndarray, Image((None, None, 3), height_key="tile/h", width_key="tile/w")]
    tags: Annotated[list[str], MultiLabel(classes=("a", "b", "c"))]
    shaped: Annotated[np.ndarray, Tensor((None, 2), shape_key="shaped/shape")]
    picture: Annotated[bytes, Image((None, None, 3), encoding="png")]
    frames: Annotated[list[bytes], Images((None, None, 3), encoding="png", resize=(2, 2))]
    steps: Annotated[list[list[int]], Ragged("int64")]
    maybe_float: float | None = None
    maybe_int: int | None = None
    maybe_text: str | None = None
    maybe_list: list[int] | None = None
    maybe_vector: Annotated[np.ndarray | None, Vector((2,))] = None
    maybe_label: Annotated[int | None, Label(num_classes=3)] = None
    maybe_image: Annotated[np.ndarray | None, Image((1, 1, 1))] = None
'''


def generated(root: Path) -> Any:
    """Generate the record's code below a directory, and import its serializer."""
    make_project(root, {"many.py": SCHEMA}, output="generated_many")
    schemagen.generate(root)
    sys.path.insert(0, str(root))
    return importlib.import_module("generated_many.many.serializer")


def rows(shard: int) -> Iterator[dict[str, Any]]:
    """Yield rows: of one size, of several with some missing, or nearly empty ones."""
    for number in range(shard * 10, shard * 10 + 10):
        size = (2, number % 3, 0)[shard]
        yield {
            "number": (1 << 62) + number,
            "big": (1 << 63) + number,
            "half": number / 2,
            "flag": number % 2 == 0,
            "blob": bytes([number, 0, 255]),
            "name": f"é{number}",
            "words": ["x"] * size,
            "pairs": np.full((size, 2), number, np.float32),
            "flags": np.array([number % 2 == 0, True, False]),
            "tile": np.full((1 + size, 2, 3), number, np.uint8),
            "tags": np.arange(size),
            "shaped": np.full((size, 2), number, np.float32),
            "picture": _png(number, 2 + size),
            "frames": [_png(number, 3)] * size,
            "steps": [[1] * size],
            **(_optional(number, size) if size else {}),
        }


def _optional(number: int, size: int) -> dict[str, Any]:
    return {
        "maybe_float": number / 4,
        "maybe_int": (1 << 62) + number,
        "maybe_text": "t",
        "maybe_list": [number] * size,
        "maybe_vector": np.array([number, 1], np.float32),
        "maybe_label": number % 3,
        "maybe_image": np.full((1, 1, 1), number, np.uint8),
    }


def _png(number: int, height: int) -> bytes:
    return encode_png(np.full((height, 3, 3), number, np.uint8))
