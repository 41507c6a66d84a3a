"""The measured records: the same values for every way of writing or reading them."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .measure import library
from .program import Generated

Row = dict[str, Any]
Columns = dict[str, Any]


@dataclass(frozen=True)
class Shape:
    """Records of one shape.

    Attributes:
        name: of the shape.
        record: the record's module in generated code.
        count: number of records in a full run.
        batch: number of records in a batch.
        make: returns that many rows.
    """

    name: str
    record: str
    count: int
    batch: int
    make: Callable[[int, np.random.Generator], list[Row]]

    def rows(self, count: int | None = None) -> list[Row]:
        """Return that many rows, the same in every run."""
        return self.make(count or self.count, np.random.default_rng(0))


@dataclass(frozen=True)
class Repeated:
    """A few rows, again and again.

    Attributes:
        rows: the rows.
        length: how many there seem to be.
    """

    rows: list[Row]
    length: int

    def __len__(self) -> int:
        """Return how many rows there seem to be."""
        return self.length

    def __getitem__(self, index: int) -> Row:
        """Return a row."""
        return self.rows[index % len(self.rows)]


def batches_of(rows: list[Row], size: int) -> list[Columns]:
    """Return rows as batches of columns."""
    return [columns_of(rows[at : at + size]) for at in range(0, len(rows), size)]


def write_shards(
    generated: Generated, shape: Shape, rows: list[Row], directory: Path
) -> list[str]:
    """Write rows into four shards with the generated writer, and return the files."""
    serializer = generated.module(f"{shape.record}.serializer")
    with serializer.Writer(directory, "train", shards=4) as writer:
        for batch in batches_of(rows, 1_024):
            writer.write_batch(**batch)
    return sorted(str(file) for file in directory.glob("*.tfrecord"))


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


def mix(count: int, random: np.random.Generator) -> list[Row]:
    """Return rows of a small image, a label, 5 floats and 5 to 59 tokens."""
    return [
        {
            "image": random.integers(0, 256, (32, 32, 3), np.uint8),
            "label": int(random.integers(10)),
            "floats": random.normal(size=5).astype(np.float32),
            "tokens": tokens(random, int(random.integers(5, 60))),
        }
        for _ in range(count)
    ]


def tokens(random: np.random.Generator, count: int) -> NDArray[np.int64]:
    """Return token ids; 0 is the padding."""
    return random.integers(1, 30_000, count)


def numbers(count: int, random: np.random.Generator) -> list[Row]:
    """Return rows of ten floats and ten integers."""
    floats = random.normal(size=(count, 10)).astype(np.float32).tolist()
    integers = random.integers(0, 1_000_000, (count, 10)).tolist()
    return [
        {f"f{at}": row[at] for at in range(10)}
        | {f"i{at}": ids[at] for at in range(10)}
        for row, ids in zip(floats, integers, strict=True)
    ]


def pictures(
    count: int, random: np.random.Generator, height: int = 480, width: int = 640
) -> list[Row]:
    """Return rows of a JPEG image, out of eight, with a label and 5 floats."""
    some = [jpeg_of(photograph(random, height, width)) for _ in range(8)]
    return [
        {
            "image": some[at % len(some)],
            "label": int(random.integers(1000)),
            "floats": random.normal(size=5).astype(np.float32),
        }
        for at in range(count)
    ]


def photograph(
    random: np.random.Generator, height: int = 480, width: int = 640
) -> NDArray[np.uint8]:
    """Return soft shapes with some grain, uint8 [height, width, 3]."""
    from PIL import Image

    coarse = random.integers(0, 256, (12, 16, 3), np.uint8)
    soft = np.asarray(
        Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC)
    )
    grain = random.normal(0, 12, soft.shape)
    pixels: NDArray[np.uint8] = np.clip(soft + grain, 0, 255).astype(np.uint8)
    return pixels


def jpeg_of(pixels: NDArray[np.uint8]) -> bytes:
    """Return a photograph as a JPEG image; 640 by 480 pixels are 60 kB."""
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=75)
    return out.getvalue()


def _vectors(count: int, random: np.random.Generator) -> list[Row]:
    return [
        {
            "vector": random.normal(size=4096).astype(np.float32),
            "label": int(random.integers(10)),
        }
        for _ in range(count)
    ]


def _tokens(count: int, random: np.random.Generator) -> list[Row]:
    return [{"tokens": tokens(random, 512)} for _ in range(count)]


WRITTEN = {
    shape.name: shape
    for shape in (
        Shape("mix", "mix", 16384, 256, mix),
        Shape("vector", "embedding", 2048, 64, _vectors),
        Shape("tabular", "tabular", 16384, 256, numbers),
        Shape("tokens", "tokens", 8192, 256, _tokens),
        Shape("jpeg", "jpeg", 1024, 64, pictures),
    )
}
"""The shapes that are written, by name."""


def tfds_features(row: Row) -> Any:
    """Return a FeaturesDict for rows such as one, or raise `Missing`."""
    features = library("tensorflow_datasets", "tensorflow-datasets").features
    return features.FeaturesDict(
        {name: _feature(features, value) for name, value in row.items()}
    )


def _feature(features: Any, value: Any) -> Any:
    if isinstance(value, bytes):
        return features.Tensor(shape=(), dtype=np.object_)
    if isinstance(value, (int, float)):
        return features.Scalar(np.int64 if isinstance(value, int) else np.float32)
    if value.dtype == np.uint8:
        return features.Tensor(
            shape=value.shape, dtype=np.uint8, encoding=features.Encoding.BYTES
        )
    if value.dtype == np.int64:  # of any length; a Sequence of Scalars is slower
        return features.Tensor(shape=(None,), dtype=np.int64)
    return features.Tensor(shape=value.shape, dtype=np.float32)
