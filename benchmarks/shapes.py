"""Records of five shapes: the same values for every way of writing them."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Row = dict[str, Any]
Columns = dict[str, Any]


@dataclass(frozen=True)
class Shape:
    """Records to measure with.

    Attributes:
        name: of the shape.
        record: of the schema's class, in snake case.
        count: how many records a round writes.
        batch: how many of them make a batch, for all ways that take batches.
        make: makes that many rows.
    """

    name: str
    record: str
    count: int
    batch: int
    make: Callable[[int, np.random.Generator], list[Row]]

    def rows(self, count: int | None = None) -> list[Row]:
        """Return that many rows, the same in every run."""
        return self.make(count or self.count, np.random.default_rng(0))


def batches_of(rows: list[Row], size: int) -> list[Columns]:
    """Return rows as batches of columns."""
    return [columns_of(rows[at : at + size]) for at in range(0, len(rows), size)]


def columns_of(rows: list[Row]) -> Columns:
    """Return rows as columns: arrays where all rows are of one shape, else lists."""
    columns: Columns = {}
    for name, first in rows[0].items():
        values = [row[name] for row in rows]
        same = isinstance(first, np.ndarray) and len({v.shape for v in values}) == 1
        if same or isinstance(first, (int, float)):
            columns[name] = np.asarray(values)
        else:
            columns[name] = values
    return columns


def _mix(count: int, chance: np.random.Generator) -> list[Row]:
    return [
        {
            "image": chance.integers(0, 256, (32, 32, 3), np.uint8),
            "label": int(chance.integers(10)),
            "floats": chance.normal(size=5).astype(np.float32),
            "tokens": chance.integers(0, 30_000, chance.integers(5, 60)),
        }
        for _ in range(count)
    ]


def _vector(count: int, chance: np.random.Generator) -> list[Row]:
    return [
        {
            "vector": chance.normal(size=4096).astype(np.float32),
            "label": int(chance.integers(10)),
        }
        for _ in range(count)
    ]


def _tabular(count: int, chance: np.random.Generator) -> list[Row]:
    floats = chance.normal(size=(count, 10)).astype(np.float32).tolist()
    integers = chance.integers(0, 1_000_000, (count, 10)).tolist()
    return [
        {f"f{at}": row[at] for at in range(10)}
        | {f"i{at}": ids[at] for at in range(10)}
        for row, ids in zip(floats, integers, strict=True)
    ]


def _tokens(count: int, chance: np.random.Generator) -> list[Row]:
    return [{"tokens": chance.integers(0, 30_000, 512)} for _ in range(count)]


def _jpeg(count: int, chance: np.random.Generator) -> list[Row]:
    pictures = [_jpeg_of(photograph(chance)) for _ in range(8)]
    return [
        {
            "image": pictures[at % len(pictures)],
            "label": int(chance.integers(1000)),
            "floats": chance.normal(size=5).astype(np.float32),
        }
        for at in range(count)
    ]


def photograph(chance: np.random.Generator) -> NDArray[np.uint8]:
    """Return a picture, uint8 [480, 640, 3]: soft shapes with some grain."""
    from PIL import Image

    coarse = chance.integers(0, 256, (12, 16, 3), np.uint8)
    soft = np.asarray(
        Image.fromarray(coarse).resize((640, 480), Image.Resampling.BICUBIC)
    )
    grain = chance.normal(0, 12, soft.shape)
    pixels: NDArray[np.uint8] = np.clip(soft + grain, 0, 255).astype(np.uint8)
    return pixels


def _jpeg_of(pixels: NDArray[np.uint8]) -> bytes:
    """Return a photograph as a JPEG image of about 60 kB."""
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=75)
    return out.getvalue()


SHAPES = (
    Shape("mix", "mix", 16384, 256, _mix),
    Shape("vector", "embedding", 2048, 64, _vector),
    Shape("tabular", "tabular", 16384, 256, _tabular),
    Shape("tokens", "tokens", 8192, 256, _tokens),
    Shape("jpeg", "jpeg", 1024, 64, _jpeg),
)
