"""The rows of the baseline, and how they are written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).parent
PICTURES = HERE / "pictures"
CODE = HERE / "baseline_code.zip"

Row = dict[str, Any]
Array = NDArray[Any]


def pixels(height: int, width: int, channels: int, seed: int) -> Array:
    """Return the pixels of a picture, which its number determines."""
    count = height * width * channels
    found = (np.arange(count) * 7 + seed * 31) % 256
    return found.astype(np.uint8).reshape(height, width, channels)


def ids(height: int, width: int, classes: int, seed: int) -> Array:
    """Return the class ids of a mask, which its number determines."""
    found = (np.arange(height * width) + seed) % classes
    return found.reshape(height, width)


def flat(height: int, width: int, level: int) -> Array:
    """Return pixels of one grey, which JPEG keeps."""
    return np.full((height, width, 3), level, np.uint8)


def picture(name: str) -> bytes:
    """Return the bytes of an image in `pictures/`."""
    return (PICTURES / name).read_bytes()


_TEXTS = ("", "plain", "łoś 🦊", "a\x00b\n", "'\"\\ {{ x }}")
_BLOBS = (b"", b"\x00\xff", b"\n")
_ANIMALS = ("hare", "red fox", "łoś")


def _integer(dtype: str, number: int) -> int:
    """Return an integer of a dtype: its bounds, or near zero."""
    bounds = np.iinfo(dtype)
    return (int(bounds.max), int(bounds.min), 0, 1, number)[number % 5]


_INTEGERS = (
    *("int8", "int16", "int32", "int64"),
    *("uint8", "uint16", "uint32", "uint64"),
)


def _everything_row(n: int) -> Row:
    length = n * 5 % 7
    row: Row = {
        "number": n,
        "truth": n % 2 == 0,
        **{dtype: _integer(dtype, n + at) for at, dtype in enumerate(_INTEGERS)},
        "float16": (65504.0, -0.5, 0.0)[n % 3],
        "bfloat16": 1.0 + n / 2,
        "float32": 0.1 * n,
        "float64": (float("nan"), 1 / 3, float("inf"), -0.0)[n % 4],
        "blob": _BLOBS[n % 3],
        "text": _TEXTS[n % 5],
        "vector": (np.arange(6).reshape(2, 3) / 4 - n).astype(np.float32),
        "bools": [True, False, n % 2 == 1],
        "raw_vector": np.array([n, -n, 32767], np.int16),
        "doubles": [n / 3, -1e300],
        "halves": [1.5, -2.0, float(n)],
        "scan": np.full((1 + n % 3, 1 + n % 4, 1), 1000 * n, np.uint16),
        "volume": np.full((n % 4, 2), n / 2, np.float32),
        "tokens": list(range(length)),
        "head": list(range(n % 5)),
        "tail": list(range(n % 5)),
        "raw_items": np.arange(length) / 3,
        "pairs": np.full((n % 4, 2), -n, np.int16),
        "spots": np.full((n % 3, 2), n / 8, np.float32),
        "words": [*_TEXTS[: n % 5]],
        "blobs": [*_BLOBS[: n % 4]],
        "flags": [at % 2 == 0 for at in range(length)],
        "lists": [[n] * at for at in range(n % 4)],
        "lines": [["a", "bc"][:at] for at in range(n % 4)],
        "bag": {at: at / 10 for at in range(n % 9)},
        "grid": ([[n % 3, n % 4], [(n + 1) % 3, 0]], [n + 1, -1]),
        "animal": _ANIMALS[n % 3],
        "ordinal": n % 9,
        "island": ("Biscoe", "Dream")[n % 2],
        "weather": n % 2,
        "tags": ["people", "indoor"][: n % 3],
        "moods": ["wild", "calm"][: n % 3],
        "pixels": pixels(6, 4, 3, n),
        "any_size": pixels(2 + n % 2, 3, 1, n).astype(np.uint16) * 257,
        "png": picture("5x4.png"),
        "any_format": picture(("4x6.png", "4x6.jpg")[n % 2]),
        "frames": [picture("3x3.png"), picture("other-3x3.png")] * (n % 3),
        "film": [picture("other-3x3.png"), picture("3x3.png")],
        "surface": ids(6, 4, 5, n).astype(np.uint8),
        "panoptic": ids(2 + n % 3, 3, 99, n).astype(np.int32) * 1000,
        "place": {
            "x": n,
            "boxes": {"left": np.arange(n % 4) / 2, "word": ["w"] * (n % 4)},
        },
        "schlüssel": -n,
    }
    row["place"]["boxes"]["left"] = row["place"]["boxes"]["left"].astype(np.float32)
    row["surface"][0, 0] = 255
    if n % 3:
        row |= {
            "maybe_count": n - 5,
            "maybe_height": n / 4,
            "maybe_note": _TEXTS[n % 5],
            "maybe_blob": _BLOBS[n % 3],
            "maybe_words": ["w"] * (n % 4),
            "count_or_5": 5 + n % 2,
            "note_or_none": "none" if n % 2 else "some",
            "weight": 0.5,
            "maybe_vector": [1.0, n / 2],
            "color": ("black", "grey")[n % 2],
            "topics": [3, 0][: n % 3],
            "jpeg": picture("16x16.jpg"),
            "mask": picture("mask.png"),
        }
        row["place"]["note"] = _TEXTS[n % 5]
        row["place"]["boxes"]["score"] = np.full(n % 4, 0.25, np.float32)
    return row


def _sighting_row(n: int) -> Row:
    left = np.arange(n % 4, dtype=np.float32)
    row: Row = {
        "number": n,
        "taken": datetime(2026, 11, 28, n, tzinfo=UTC),
        "photo": picture("4x6.png"),
        "turned": picture("turned.jpg"),
        "boxes": np.full((n % 3, 4), [0, 1, 2, 3], np.float32),
        "left": left,
        "top": left / 2,
        "width": left + 1,
        "height": left * 0,
        "spot": [0.5, 1, 2, n],
        "share": n / 7,
        "counts": [n % 10] * (n % 5),
        "signal": np.arange(n * 3, dtype=np.int16),
        "table": np.full((n % 3, 2), n / 2, np.float32),
        "mask": ids(2, 3, 4, n).astype(np.uint8),
        "camera": {"exposure": n / 8, "lens": "wide"},
    }
    return row if n % 2 else {**row, "lasted": timedelta(seconds=n)}


def _reading_row(n: int) -> Row:
    values = np.arange(n % 6, dtype=np.float32) / 2
    row: Row = {
        "number": n,
        "name": f"reading {n * 7 % 24}",
        "label": ("hare", "fox")[n % 2],
        "level": n,
        "values": values,
        "weights": values + 1,
        "raw": [n / 3, -n],
        "lists": [[n] * at for at in range(n % 3)],
        "photo": picture("4x6.png"),
    }
    return row if n % 4 else {**row, "note": f"note {n}"}


def _clip_row(n: int) -> Row:
    length = n * 3 % 5
    row: Row = {
        "number": n,
        "frames": [picture("3x3.png")] * length,
        "speeds": [n / 4] * length,
        "poses": np.full((n % 4, 2), n / 3),
        "pixels": np.stack([pixels(2, 2, 1, at) for at in range(1 + n % 3)]),
        "moves": [at % 4 for at in range(n % 6)],
        "kind": n % 7,
    }
    if n % 3:
        row |= {"title": _TEXTS[n % 5], "words": ["w", ""] * (n % 3)}
    return row


_FORMATS = ("bmp", "gif", "webp")


def _formats_row(n: int) -> Row:
    pictures = {name: picture(f"4x6.{name}") for name in _FORMATS}
    return {
        **pictures,
        "any_of": pictures[_FORMATS[n % 3]],
        "several": [pictures[name] for name in _FORMATS[: n % 4]],
    }


def few_colors() -> Array:
    """Return the pixels of a picture that a GIF can hold as it is."""
    return np.repeat(ids(4, 6, 4, 0)[:, :, None] * 60, 3, axis=2).astype(np.uint8)


def _base64_row(n: int) -> Row:
    return {
        "image": picture("4x6.png"),
        "pixels": pixels(2, 2, 1, n),
        "sample": np.array([n, 0.5, -1], np.float32),
        "secret": bytes(range(n)),
        "double": n / 3,
        "table": np.full((n % 3, 2), n, np.int32),
    }


def _dequantized_row(n: int) -> Row:
    return {
        "listed": np.array([n, 255], np.uint8),
        "raw": np.array([n, -n, 32767], np.int16),
    }


def _padded_row(n: int) -> Row:
    return {"tokens": [n] * (n % 5), "words": [f"w{n}"] * (n % 6)}


def _tensor_row(n: int) -> Row:
    return {
        "table": np.full((n % 3, 2), n / 2, np.float16),
        "fixed": np.array([n, -n, 7], np.int32),
    }


@dataclass(frozen=True)
class Split:
    """How a split is written.

    Attributes:
        rows: how many rows it has.
        options: the keywords of `write_dataset`.
        source: what the rows are given as: "list", "generator", "functions" (one for
            each shard), "rows" (one by one) or "columns" (of `Writer`).
        same_order: every version writes the records in this order, into these shards.
    """

    rows: int = 12
    options: dict[str, Any] = field(default_factory=dict)
    source: str = "list"
    same_order: bool = True


@dataclass(frozen=True)
class Baseline:
    """A record with its rows.

    Attributes:
        row: returns the row of a number, as the keywords of `serialize`.
        splits: how they are written.
    """

    row: Callable[[int], Row]
    splits: dict[str, Split] = field(default_factory=lambda: {"train": Split(6)})


_SHUFFLED = {"shards": 2, "shuffle_seed": 7}

BASELINES: dict[str, Baseline] = {
    "everything": Baseline(
        _everything_row,
        {"train": Split(), "packed": Split(6, {"compression": "GZIP"})},
    ),
    "sighting": Baseline(_sighting_row),
    "reading": Baseline(
        _reading_row,
        {
            "rows": Split(source="rows"),
            "columns": Split(source="columns"),
            "empty": Split(0, {"allow_empty": True}),
            "sharded": Split(24, {"shards": 3}),
            "sized": Split(24, {"shard_bytes": 3000}),
            "generated": Split(24, {"shards": 3, "index": False}, "generator"),
            "functions": Split(24, source="functions"),
            "shuffled": Split(24, _SHUFFLED, same_order=False),
            "keyed": Split(24, {**_SHUFFLED, "key_field": "name"}, same_order=False),
            "gzip": Split(24, {"shards": 2, "compression": "GZIP"}),
            "zlib": Split(24, {"compression": "ZLIB", "compression_level": 9}),
        },
    ),
    "clip": Baseline(_clip_row, {"train": Split()}),
    "formats": Baseline(_formats_row),
    "base64_text": Baseline(_base64_row),
    "dequantized": Baseline(_dequantized_row),
    "padded_on_disk": Baseline(_padded_row),
    "scaled_decoding": Baseline(lambda n: {"photo": picture("40x48.jpg")}),
    "palette": Baseline(lambda n: {"number": n, "mask": picture("palette.png")}),
    "serialized_tensor": Baseline(_tensor_row),
}


def longest_split(record: str) -> str:
    """Return the first of the splits with the most rows of a record."""
    splits = BASELINES[record].splits
    return max(splits, key=lambda name: splits[name].rows)


def write(record: str, split: str, serializer: ModuleType, directory: Path) -> None:
    """Write a split of the baseline with a generated module."""
    baseline = BASELINES[record]
    how = baseline.splits[split]
    rows = [baseline.row(number) for number in range(how.rows)]
    if how.source in ("rows", "columns"):
        with serializer.Writer(directory, split, **how.options) as writer:
            if how.source == "columns":
                names = {name: None for row in rows for name in row}
                writer.write_batch(**{n: [r.get(n) for r in rows] for n in names})
            else:
                for row in rows:
                    writer.write(**row)
        return
    source: Any = rows
    if how.source == "generator":
        source = (row for row in rows)
    elif how.source == "functions":
        thirds = (rows[:5], [], rows[5:])
        source = [lambda part=part: iter(part) for part in thirds]
    serializer.write_dataset(source, directory, split, progress=False, **how.options)
