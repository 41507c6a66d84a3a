"""Data for pages: records made by hand, with a manifest or without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from google_crc32c import value as crc32c
from numpy.typing import NDArray
from PIL import Image as Pillow
from schemagen import Image, Label, Mask, MultiLabel, Scalar, Text, VarLen
from schemagen.kinds.field import FieldSpec
from schemagen.kinds.kind import Kind
from schemagen.runtime.shared.tfrecord import frame
from schemagen.runtime.storage import manifest
from schemagen.spec.model import RecordSpec
from schemagen.spec.serial import fingerprint, to_data

from .. import messages

Features = Mapping[str, Sequence[Any] | None]


def example(features: Features) -> bytes:
    """Return a tf.train.Example; None is a feature that it lacks."""
    held = {key: features[key] for key in sorted(features)}
    return messages.example({k: v for k, v in held.items() if v is not None})


def write_files(
    directory: Path, splits: Mapping[str, Sequence[bytes]], shards: int = 1
) -> dict[str, list[manifest.Shard]]:
    """Write records as shards, as evenly as it goes; return what was written."""
    directory.mkdir(parents=True, exist_ok=True)
    written: dict[str, list[manifest.Shard]] = {}
    for split, records in splits.items():
        written[split] = []
        for index in range(shards):
            name = f"{split}-{index:05}-of-{shards:05}.tfrecord"
            some = records[index::shards]
            data = b"".join(map(frame, some))
            (directory / name).write_bytes(data)
            shard = manifest.Shard(name, len(some), len(data), f"{crc32c(data):08x}")
            written[split].append(shard)
    return written


def write_dataset(
    directory: Path,
    spec: RecordSpec,
    splits: Mapping[str, Sequence[bytes]],
    shards: int = 1,
) -> Path:
    """Write a data directory with its manifest."""
    written = write_files(directory, splits, shards)
    whole = manifest.Manifest(
        record=spec.record,
        fingerprint=fingerprint(spec),
        spec=to_data(spec),
        splits={
            split: manifest.Split("", tuple(some)) for split, some in written.items()
        },
    )
    manifest.save(directory, whole)
    return directory


def encoded(pixels: NDArray[np.uint8], form: str) -> bytes:
    """Return pixels [H, W] or [H, W, C] as a picture."""
    out = BytesIO()
    Pillow.fromarray(pixels).save(out, form)
    return out.getvalue()


SIDES = ("xmin", "ymin", "xmax", "ymax")


def record_spec(name: str, *fields: FieldSpec, doc: str = "") -> RecordSpec:
    """Return the spec of a record."""
    class_name = name.title().replace("_", "")
    return RecordSpec(name, class_name, f"schemas/{name}.py", doc, fields)


def field(
    kind: type[Kind], name: str, key: str = "", role: str = "input", **more: Any
) -> Any:
    """Return the spec of a field."""
    return FieldSpec.of(kind, name=name, key=key or name, role=role, **more)


def box_lists(prefix: str = "", group: str | None = "box") -> list[Any]:
    """Return the specs of the lists of the sides of boxes."""
    kind = {"dtype": "float32", "group": group}
    return [field(VarLen, side, prefix + side, **kind) for side in SIDES]


ENCODED = {"shape": (None, None, 3), "encoding": "jpeg", "dtype": "uint8"}
SHAPES = ("sky", "disc", "square", "stripe")
PARTS = field(
    Mask,
    "parts",
    "image/parts",
    "target",
    shape=(None, None),
    num_classes=4,
    encoding="png",
    dtype="uint8",
    classes=SHAPES,
    ignore=255,
)
WEATHER = {"num_classes": 3, "classes": ("clear", "cloudy", "night")}
TAGS = {"num_classes": 4, "classes": ("busy", "wet", "centre", "motorway")}
SCENE = record_spec(
    "street_scene",
    field(Image, "photo", "image/encoded", **ENCODED),
    PARTS,
    field(Label, "weather", "image/weather", "target", **WEATHER),
    field(MultiLabel, "tags", "image/tags", "target", **TAGS),
    *box_lists("object/"),
    field(VarLen, "what", "object/class", dtype="string", group="box"),
    field(Scalar, "speed_kmh", "speed", dtype="float32", optional=True),
    field(Text, "note", role="info", optional=True),
    doc="A drawn street, with what can be seen in it.",
)


def scene(random: np.random.Generator, *, shifted: bool = False) -> Features:
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
        "speed": [speed] if known else None,
        "note": [b"seen from the bridge"] if random.random() < 0.4 else None,
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
    return write_dataset(directory, SCENE, splits, shards=2)
