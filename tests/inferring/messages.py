"""Records to infer from, and what is inferred of them."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from data.messages import (
    NO_BYTES,
    NO_FLOATS,
    example,
    number,
    sequence_example,
    write_file,
)
from PIL import Image
from schemagen.spec.field import FieldSpec
from schemagen.use_cases.infer import infer

__all__ = [
    "NO_BYTES",
    "NO_FLOATS",
    "example",
    "found_in",
    "many",
    "number",
    "picture",
    "sequence_example",
    "write_file",
]


def many(row: Any, number: int = 30) -> list[bytes]:
    """Return records of rows that a function of their number makes."""
    return [example(row(at)) for at in range(number)]


def found_in(
    directory: Path, messages: Sequence[bytes]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the inferred fields by key, and the comments of each in one line.

    Those of the class have the key "".
    """
    data = write_file(directory / "records", messages)
    inferred = infer(data, directory / "found.py", force=True)
    fields: dict[str, FieldSpec] = {each.key: each for each in inferred.spec.fields}
    comments: dict[str, str] = {}
    said: list[str] = []
    for line in inferred.path.read_text().splitlines():
        if line.lstrip().startswith("#"):
            said.append(line.strip(" #"))
        elif name := re.match(r"class Found\(|\s+(\w+):", line):
            comments[name[1] or ""] = " ".join(said)
            said = []
    keys = {"": "", **{each.path[-1]: key for key, each in fields.items() if each.path}}
    keys |= {each.name: key for key, each in fields.items()}
    return fields, {keys.get(name, name): text for name, text in comments.items()}


def picture(
    height: int, width: int, channels: int = 3, form: str = "png", seed: int = 0
) -> bytes:
    """Return an encoded image of random pixels."""
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, channels))
    array = pixels.astype(np.uint8)
    image = Image.fromarray(array[:, :, 0] if channels == 1 else array)
    out = io.BytesIO()
    image.save(out, format=form.upper())
    return out.getvalue()
