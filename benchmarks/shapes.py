"""Records to measure with: the same values for every way of writing or reading them."""

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
        count: how many records there are in a full run.
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


def mix(count: int, chance: np.random.Generator) -> list[Row]:
    """Make rows of a small image, a label, 5 floats and 5 to 59 tokens."""
    return [
        {
            "image": chance.integers(0, 256, (32, 32, 3), np.uint8),
            "label": int(chance.integers(10)),
            "floats": chance.normal(size=5).astype(np.float32),
            "tokens": tokens(chance, int(chance.integers(5, 60))),
        }
        for _ in range(count)
    ]


def tokens(chance: np.random.Generator, count: int) -> NDArray[np.int64]:
    """Return ids of words; 0 is left for padding."""
    return chance.integers(1, 30_000, count)


def numbers(count: int, chance: np.random.Generator) -> list[Row]:
    """Make rows of ten floats and ten integers."""
    floats = chance.normal(size=(count, 10)).astype(np.float32).tolist()
    integers = chance.integers(0, 1_000_000, (count, 10)).tolist()
    return [
        {f"f{at}": row[at] for at in range(10)}
        | {f"i{at}": ids[at] for at in range(10)}
        for row, ids in zip(floats, integers, strict=True)
    ]


def pictures(
    count: int, chance: np.random.Generator, height: int = 480, width: int = 640
) -> list[Row]:
    """Make rows of a JPEG image, out of eight, with a label and 5 floats."""
    some = [jpeg_of(photograph(chance, height, width)) for _ in range(8)]
    return [
        {
            "image": some[at % len(some)],
            "label": int(chance.integers(1000)),
            "floats": chance.normal(size=5).astype(np.float32),
        }
        for at in range(count)
    ]


def photograph(
    chance: np.random.Generator, height: int = 480, width: int = 640
) -> NDArray[np.uint8]:
    """Return a picture, uint8 [height, width, 3]: soft shapes with some grain."""
    from PIL import Image

    coarse = chance.integers(0, 256, (12, 16, 3), np.uint8)
    soft = np.asarray(
        Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC)
    )
    grain = chance.normal(0, 12, soft.shape)
    pixels: NDArray[np.uint8] = np.clip(soft + grain, 0, 255).astype(np.uint8)
    return pixels


def jpeg_of(pixels: NDArray[np.uint8]) -> bytes:
    """Return a photograph as a JPEG image: 60 kB where it is 640 by 480."""
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=75)
    return out.getvalue()
