"""Data for pages: records made by hand, with a manifest or without."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pictures import encoded
from schemagen import Image, Label, Mask, MultiLabel, Scalar, Text, VarLen

from ..messages import example, record, write_data

SIDES = ("xmin", "ymin", "xmax", "ymax")
SHAPES = ("sky", "disc", "square", "stripe")


def box_lists(prefix: str = "", group: str = "box") -> dict[str, Any]:
    """Return the annotations of the lists of the sides of boxes."""
    return {
        side: Annotated[list[float], VarLen("float32", group=group, key=prefix + side)]
        for side in SIDES
    }


PHOTO = Image((None, None, 3), encoding="jpeg", resize=(64, 64), key="image/encoded")
PARTS = Mask(
    (None, None), classes=SHAPES, ignore=255, resize=(64, 64), key="image/parts"
)
TAGS = ("busy", "wet", "centre", "motorway")
Scene = record(
    "StreetScene",
    {
        "photo": Annotated[bytes, PHOTO],
        "parts": Annotated[np.ndarray, PARTS],
        "weather": Annotated[
            int, Label(classes=("clear", "cloudy", "night"), key="image/weather")
        ],
        "tags": Annotated[list[int], MultiLabel(classes=TAGS, key="image/tags")],
        **box_lists("object/"),
        "what": Annotated[list[str], VarLen("string", group="box", key="object/class")],
        "speed_kmh": Annotated[float | None, Scalar("float32", key="speed")],
        "note": Annotated[str | None, Text(role="info")],
    },
    __doc__="A drawn street, with what can be seen in it.",
    speed_kmh=None,
    note=None,
)


def scene(random: np.random.Generator, *, shifted: bool = False) -> dict[str, Any]:
    """Return the features of a scene; shifted ones are darker, faster and at night."""
    height, width = (int(side) for side in random.integers((120, 180), (200, 320)))
    weather = int(random.choice(3, p=(0.15, 0.25, 0.6) if shifted else (0.6, 0.3, 0.1)))
    rows, columns = np.mgrid[:height, :width]
    shade = (1.0, 0.75, 0.35)[weather]
    pixels = np.stack(
        [150 - rows * 80 / height, 190 - rows * 60 / height, 225 - rows * 20 / height],
        axis=-1,
    )
    ids = np.zeros((height, width), np.uint8)
    ids[:4] = 255
    boxes = []
    for _ in range(int(random.integers(1, 5))):
        kind = int(random.integers(1, 4))
        size = int(random.integers(20, 60))
        top = int(random.integers(5, height - size - 2))
        left = int(random.integers(2, width - size - 2))
        down, across = rows - top, columns - left
        here = (down >= 0) & (down < size) & (across >= 0) & (across < size)
        if kind == 1:
            half = size / 2
            here &= (down - half) ** 2 + (across - half) ** 2 < half**2
        if kind == 3:
            here &= (down + across) % 12 < 7
        ids[here] = kind
        pixels[here] = random.integers(40, 240, 3)
        box = left / width, top / height, (left + size) / width, (top + size) / height
        boxes.append((*box, SHAPES[kind].encode()))
    pixels = pixels * shade + random.normal(0, 6, pixels.shape)
    corners = list(zip(*boxes, strict=True))
    speed = float(random.normal(75 if shifted else 48, 12))
    known = random.random() < (0.7 if shifted else 0.97)
    tags = sorted(set(random.integers(0, 4, int(random.integers(0, 3))).tolist()))
    return {
        "image/encoded": [encoded(pixels.clip(0, 255).astype(np.uint8), "JPEG")],
        "image/parts": [encoded(ids, "PNG")],
        "image/weather": [weather],
        "image/tags": tags or [0],
        **{f"object/{side}": list(corners[i]) for i, side in enumerate(SIDES)},
        "object/class": list(corners[4]),
        **({"speed": speed} if known else {}),
        **({"note": "seen from the bridge"} if random.random() < 0.4 else {}),
    }


def scenes(count: int, seed: int, *, shifted: bool = False) -> list[bytes]:
    """Return records of scenes."""
    random = np.random.default_rng(seed)
    return [example(scene(random, shifted=shifted)) for _ in range(count)]


def write_scenes(directory: Path) -> Path:
    """Write three splits of scenes, of which test is unlike train."""
    splits = {
        "train": scenes(160, 1),
        "validation": scenes(60, 2),
        "test": scenes(60, 3, shifted=True),
    }
    return write_data(directory, Scene, splits, shards=2)
