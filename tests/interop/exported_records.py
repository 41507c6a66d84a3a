"""Records to be exported, data of theirs, and the tools that read what was exported.

Nothing here is from the other tests: with `--confcutdir`, these run without them.
"""

from __future__ import annotations

import importlib
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import schemagen
from click.testing import CliRunner, Result
from schemagen.cli import main

SCHEMA = '''
from typing import Annotated, Any
import numpy as np
from pydantic import BaseModel
from schemagen import *

class Place(BaseModel):
    x: int
    words: list[str]

class Kept(Record):
    """What other tools say as it is: "quoted", and
    on two lines.
    """

    photo: Annotated[np.ndarray, Image((4, 6, 3), key="image/encoded", encoding="png")]
    """A picture."""

    free: Annotated[bytes, Image((None, None, 3), encoding="jpeg", height_key="free/height", width_key="free/width")]
    deep: Annotated[bytes, Image((2, 2, 1), encoding="png", dtype="uint16")]
    pixels: Annotated[np.ndarray, Image((2, 3, 1))]
    rows: Annotated[np.ndarray, Image((None, 3, 1), height_key="rows/height")]
    film: Annotated[list[bytes], Images((3, 3, 1), encoding="png", count=2)]
    frames: Annotated[list[bytes], Images((3, 3, 1), encoding="png", max_count=9)]
    kind: Annotated[int, Label(classes=("cat", "wild dog", "Uhu é"))]
    number: Annotated[int, Label(num_classes=9, key="number/id", role="info")]
    raw_mask: Annotated[np.ndarray, Mask((2, 2), num_classes=5, encoding="raw", dtype="int32", role="info")]
    tokens: Annotated[list[int], VarLen("int32", max_length=9)]
    spots: Annotated[np.ndarray, VarLen("float32", item_shape=(2,))]
    halves: Annotated[np.ndarray, VarLen("float64")]
    words: list[str]
    blobs: list[bytes]
    flags: list[bool]
    lists: Annotated[list[list[int]], Ragged("int64", key="lists/ragged_flat_values", row_lengths_key="lists/ragged_row_lengths_0")]
    vector: Annotated[np.ndarray, Vector((2, 3))]
    doubles: Annotated[np.ndarray, Vector((3,), "float64")]
    half: Annotated[np.ndarray, Vector((3,), "float16")]
    small: Annotated[np.ndarray, Vector((2,), "uint8")]
    bits: Annotated[np.ndarray, Vector((2,), "bool", "raw")]
    grid: Annotated[np.ndarray, Tensor((2, None), "int16", encoding="list", shape_key="grid/shape")]
    scan: Annotated[np.ndarray, Tensor((None, 2), "uint16", shape_key=("scan/rows", None))]
    truth: bool
    byte: Annotated[int, Scalar("int8")]
    real: Annotated[float, Scalar("float64")]
    note: str
    blob: bytes
    place: Place

class Changed(Record):
    """What other tools say as something else."""

    number: Annotated[int, Scalar("int64", role="info")]
    photo: Annotated[bytes, Image((None, None, 3), encoding="any", resize=(5, 7))]
    picture: Annotated[bytes | None, Image((2, 3, 3), encoding="png", height_key="picture/height")] = None
    before: Annotated[np.ndarray | None, Image((None, None, 1), height_key="pixels/h", width_key="pixels/w")] = None
    pixels: Annotated[np.ndarray, Image((None, None, 1), height_key="pixels/h", width_key="pixels/w")]
    mailed: Annotated[bytes, Image((2, 3, 3), encoding="png", transfer_encoding="base64")]
    stills: Annotated[list[bytes], Images((3, 3, 1), encoding="png", keys="still_{}", count=2)]
    state: Annotated[np.ndarray, Vector((2,), encoding="raw", transfer_encoding="base64")]
    things: Annotated[np.ndarray | None, Mask((4, 6), num_classes=5, ignore=255, role="info")] = None
    late: Annotated[int, Label(classes=("a", "b"), offset=1)]
    told: Annotated[int, Label(classes=("a", "b"), stored="text", role="info")]
    odd: Annotated[int, Label(classes=(" a", "b"), role="info")]
    maybe: Annotated[int | None, Label(num_classes=3, role="info")] = None
    labels: Annotated[list[int] | None, MultiLabel(num_classes=4, role="info")] = None
    tags: Annotated[list[str], MultiLabel(classes=("p", "q"), stored="text", role="info")]
    topics: Annotated[list[int], MultiLabel(num_classes=4, offset=2, role="info")]
    cut: Annotated[list[int], VarLen("int64", max_length=3, too_long="keep_head")]
    full: Annotated[list[int], VarLen("int64", max_length=3, pad_on_disk=True)]
    left: Annotated[list[float], VarLen("float32", group="boxes")]
    right: Annotated[list[float] | None, VarLen("float32", group="boxes")] = None
    maybe_halves: Annotated[np.ndarray | None, VarLen("float64")] = None
    brains: Annotated[np.ndarray, VarLen("bfloat16")]
    lists: Annotated[list[list[int]], Ragged("int64")]
    lines: Annotated[list[list[str]] | None, Ragged("string", ragged=False)] = None
    deep_lists: Annotated[list[list[float]], Ragged("float64")]
    half: Annotated[np.ndarray, Vector((3,), "bfloat16")]
    big: Annotated[np.ndarray, Vector((2,), "uint64")]
    rgb: Annotated[np.ndarray, Vector((2,), "uint8", "raw", dequantize=(0.5, 1.0))]
    maybe_vector: Annotated[np.ndarray | None, Vector((2,))] = None
    maybe_ints: Annotated[np.ndarray | None, Vector((2,), "int8")] = None
    maybe_doubles: Annotated[np.ndarray | None, Vector((2,), "float64")] = None
    scan: Annotated[np.ndarray, Tensor((None, None, 1), "uint16", shape_key=("scan/h", "scan/w", None))]
    listed: Annotated[np.ndarray, Tensor((None, None), "float32", encoding="list", shape_key="listed/shape")]
    proto: Annotated[np.ndarray, Tensor((None, 2), "float16", encoding="proto")]
    bag: Annotated[dict[int, float], Sparse((9,), "bag/index", exact=False)]
    cells: Annotated[tuple[Any, Any], Sparse((3, 4), ("row", "column"), "int8", dense=True)]
    count: int | None = None
    height: float | None = None
    truth: bool = False
    note: str | None = None
    five: int = 5

class Pair(Record):
    """A picture and its class."""

    pixels: Annotated[np.ndarray, Image((2, 2, 1))]
    kind: Annotated[int, Label(classes=("a", "b"))]

class Clip(SequenceRecord):
    """Steps."""

    name: str
    speeds: Annotated[list[float], Steps(Scalar("float32"))]
'''

SETTINGS = '[tool.schemagen]\nschemas = "schemas"\noutput = "exported_code"\n'


def tool(name: str) -> ModuleType:
    """Import a tool that reads exports; without it the tests of a module are skipped."""
    if find_spec(name.partition(".")[0]) is None:
        pytest.skip(f"{name} is not installed", allow_module_level=True)
    return importlib.import_module(name)


def run(*arguments: str | Path) -> Result:
    """Run `schemagen` with arguments."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def export(project: Path, record: str, to: str, out: Path, *more: str | Path) -> str:
    """Export a record and return what is printed."""
    arguments = (record, "--to", to, "--out", out, *more, "--project", project)
    result = run("export", *arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def notes_in(output: str) -> dict[str, str]:
    """Return the notes of an export, by field."""
    return dict(re.findall(r"^note: (\S+): (.*)$", output, re.M))


def make_project(root: Path) -> Path:
    """Write a project with the records above, and generate its code."""
    (root / "schemas").mkdir(parents=True)
    (root / "pyproject.toml").write_text(SETTINGS)
    (root / "schemas" / "records.py").write_text(SCHEMA, encoding="utf-8")
    schemagen.generate(root)
    return root


def generated(project: Path, record: str, part: str) -> ModuleType:
    """Import a module of the generated code."""
    if str(project) not in sys.path:
        sys.path.insert(0, str(project))
        importlib.invalidate_caches()
    return importlib.import_module(f"exported_code.{record}.{part}")


def png(seed: int, *shape: int, dtype: Any = np.uint8) -> bytes:
    """Encode a noisy picture."""
    import tensorflow as tf

    noise = np.random.default_rng(seed).integers(0, np.iinfo(dtype).max, shape)
    found: bytes = tf.io.encode_png(noise.astype(dtype)).numpy()
    return found


def jpeg(seed: int, height: int, width: int) -> bytes:
    """Encode a noisy picture, with loss."""
    import tensorflow as tf

    noise = np.random.default_rng(seed).integers(0, 256, (height, width, 3))
    found: bytes = tf.io.encode_jpeg(noise.astype(np.uint8)).numpy()
    return found


def kept(number: int) -> dict[str, Any]:
    """Return a row of Kept."""
    noise = np.random.default_rng(number)
    return {
        "photo": png(number, 4, 6, 3),
        "free": jpeg(number, 8 + number, 9),
        "deep": png(number, 2, 2, 1, dtype=np.uint16),
        "pixels": noise.integers(0, 256, (2, 3, 1)).astype(np.uint8),
        "rows": noise.integers(0, 256, (1 + number % 3, 3, 1)).astype(np.uint8),
        "film": [png(at, 3, 3, 1) for at in range(2)],
        "frames": [png(at, 3, 3, 1) for at in range(number % 4)],
        "kind": number % 3,
        "number": number % 9,
        "raw_mask": np.full((2, 2), number % 5, np.int32),
        "tokens": list(range(number % 5)),
        "spots": noise.normal(size=(number % 4, 2)).astype(np.float32),
        "halves": np.arange(number % 4) / 3,
        "words": [f"é {at}" for at in range(number % 3)],
        "blobs": [b"\xff\x00"] * (number % 3),
        "flags": [True, False][: number % 3],
        "lists": [[number] * at for at in range(number % 4)],
        "vector": noise.normal(size=(2, 3)).astype(np.float32),
        "doubles": noise.normal(size=3),
        "half": np.array([number, 0.5, -1], np.float16),
        "small": np.array([255, number], np.uint8),
        "bits": np.array([True, False]),
        "grid": np.full((2, number % 3), -number, np.int16),
        "scan": np.full((1 + number % 3, 2), 65535, np.uint16),
        "truth": number % 2 == 0,
        "byte": -number,
        "real": number / 3,
        "note": f"note {number} é",
        "blob": bytes([number, 255]),
        "place": {"x": number, "words": ["w"] * (number % 3)},
    }


def changed(number: int) -> dict[str, Any]:
    """Return a row of Changed; each third has no optional fields."""
    row: dict[str, Any] = {
        "number": number,
        "photo": png(number, 2, 2, 3),
        "pixels": np.full((1 + number % 2, 2, 1), number, np.uint8),
        "mailed": png(number, 2, 3, 3),
        "stills": [png(at, 3, 3, 1) for at in range(2)],
        "state": np.array([0.5, number], np.float32),
        "late": number % 2,
        "told": number % 2,
        "odd": number % 2,
        "tags": ["q", "p"][: number % 3],
        "topics": [3, 0][: number % 3],
        "cut": list(range(number % 4)),
        "full": list(range(number % 4)),
        "left": [0.5] * (number % 4),
        "brains": np.array([0.5] * (number % 4), np.float32),
        "lists": [[number] * at for at in range(number % 4)],
        "deep_lists": [[number / 3] * at for at in range(number % 4)],
        "half": np.array([number, 0.5, -1], np.float32),
        "big": np.array([2**64 - 1, number], np.uint64),
        "rgb": np.array([1, number], np.uint8),
        "scan": np.full((1, 1 + number % 3, 1), number, np.uint16),
        "listed": np.full((1 + number % 2, 3), number, np.float32),
        "proto": np.full((number % 3, 2), 0.5, np.float16),
        "bag": {at: at / 2 for at in range(number % 9)},
        "cells": ([[number % 3, number % 4]], [number % 100]),
    }
    if number % 3:
        row |= {"before": row["pixels"] + 1}
        row |= {"picture": png(number, 2, 3, 3), "maybe": number % 3, "labels": [2, 0]}
        row |= {"things": np.full((4, 6), number % 5, np.uint8)}
        row |= {"right": [0.25] * (number % 4), "maybe_halves": np.arange(2) / 3}
        row |= {"lines": [["a"] * at for at in range(number % 3)]}
        row |= {"maybe_vector": np.ones(2, np.float32), "count": number}
        row |= {"maybe_ints": np.array([1, -1], np.int8)}
        row |= {"maybe_doubles": np.arange(2) / 3, "height": 1.5, "truth": True}
        row |= {"note": "x" * (number % 4), "five": number}
    return row


def pair(number: int) -> dict[str, Any]:
    """Return a row of Pair."""
    return {"pixels": np.full((2, 2, 1), number, np.uint8), "kind": number % 2}


ROWS = {"kept": kept, "changed": changed, "pair": pair}


def write(
    project: Path, record: str, data: Path, split: str = "train", **options: Any
) -> Path:
    """Write seven rows of a record, in two shards."""
    options = {"shards": 2, **options}
    rows = map(ROWS[record], range(7))
    generated(project, record, "serializer").write_dataset(rows, data, split, **options)
    return data
