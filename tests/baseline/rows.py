"""The rows of the baseline: what a writer is given, and what readers have to deliver."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
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

NAN = float("nan")


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


def _picture(name: str) -> bytes:
    return (PICTURES / name).read_bytes()


def _nearest(image: Array, height: int, width: int) -> Array:
    """Resize by the nearest neighbours of pixel centres."""
    rows = ((np.arange(height) + 0.5) * image.shape[0] / height).astype(int)
    columns = ((np.arange(width) + 0.5) * image.shape[1] / width).astype(int)
    return image[rows][:, columns]


def _text(value: str) -> bytes:
    return value.encode()


def _texts(values: Sequence[str]) -> list[bytes]:
    return [value.encode() for value in values]


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
        "float64": (NAN, 1 / 3, float("inf"), -0.0)[n % 4],
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
        "png": _picture("5x4.png"),
        "any_format": _picture(("4x6.png", "4x6.jpg")[n % 2]),
        "frames": [_picture("3x3.png"), _picture("other-3x3.png")] * (n % 3),
        "film": [_picture("other-3x3.png"), _picture("3x3.png")],
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
            "jpeg": _picture("16x16.jpg"),
            "mask": _picture("mask.png"),
        }
        row["place"]["note"] = _TEXTS[n % 5]
        row["place"]["boxes"]["score"] = np.full(n % 4, 0.25, np.float32)
    return row


def _everything_read(n: int) -> Row:
    row = _everything_row(n)
    there = n % 3 != 0
    found: Row = {name: np.dtype(name).type(row[name]) for name in _INTEGERS}
    found |= {
        "number": np.int64(n),
        "truth": np.bool_(row["truth"]),
        "float16": np.float16(row["float16"]),
        "bfloat16": np.float32(row["bfloat16"]),
        "float32": np.float32(row["float32"]),
        "float64": np.float64(row["float64"]),
        "blob": row["blob"],
        "text": _text(row["text"]),
        "vector": row["vector"],
        "bools": np.array(row["bools"]),
        "raw_vector": row["raw_vector"],
        "doubles": np.array(row["doubles"]),
        "halves": np.array(row["halves"], np.float32),
        "scan": row["scan"],
        "volume": row["volume"],
        "tokens": np.array(row["tokens"], np.int64),
        "head": np.array(row["head"][:2], np.int32),
        "tail": np.array(row["tail"][-2:], np.uint8),
        "raw_items": row["raw_items"],
        "pairs": row["pairs"],
        "spots": row["spots"],
        "words": _texts(row["words"]),
        "blobs": row["blobs"],
        "flags": np.array(row["flags"], bool),
        "lists": row["lists"],
        "lines": [_texts([*items, *["?"] * 2])[: n % 4 - 1] for items in row["lines"]],
        "bag": np.array([at / 10 if at < n % 9 else 0 for at in range(9)], np.float32),
        "grid": np.zeros((3, 4), np.int8),
        "animal": np.int64(_ANIMALS.index(row["animal"])),
        "ordinal": np.int64(row["ordinal"]),
        "island": np.int64(n % 2),
        "weather": np.int64(n % 2),
        "tags": np.float32([n % 3 == 2, 0, n % 3 > 0]),
        "moods": np.float32([n % 3 == 2, n % 3 > 0]),
        "pixels": row["pixels"],
        "any_size": _nearest(row["any_size"], 2, 2),
        "png": _nearest(pixels(5, 4, 3, 2), 4, 4),
        "any_format": (pixels(4, 6, 3, 1), flat(4, 6, 77))[n % 2],
        "frames": np.stack([pixels(3, 3, 1, 3), pixels(3, 3, 1, 4)] * (n % 3))
        if n % 3
        else np.zeros((0, 3, 3, 1), np.uint8),
        "film": np.stack([pixels(3, 3, 1, 4), pixels(3, 3, 1, 3)]),
        "surface": row["surface"],
        "panoptic": _nearest(row["panoptic"], 2, 2),
        "schlüssel": np.int64(-n),
        "place": {
            "x": np.int64(n),
            "note": _text(row["place"]["note"]) if there else b"",
            "note_present": np.bool_(there),
            "boxes": {
                "left": row["place"]["boxes"]["left"],
                "word": _texts(row["place"]["boxes"]["word"]),
                "score": row["place"]["boxes"].get("score", np.zeros(0, np.float32)),
                "score_present": np.bool_(there),
            },
        },
        "maybe_count": np.int64(n - 5 if there else 0),
        "maybe_count_present": np.bool_(there),
        "maybe_height": np.float32(n / 4 if there else NAN),
        "maybe_note": _text(row["maybe_note"]) if there else b"",
        "maybe_note_present": np.bool_(there),
        "maybe_blob": row["maybe_blob"] if there else b"",
        "maybe_blob_present": np.bool_(there),
        "maybe_words": [b"w"] * (n % 4) if there else [],
        "maybe_words_present": np.bool_(there),
        "count_or_5": np.int64(row["count_or_5"] if there else 5),
        "note_or_none": b"some" if there and n % 2 == 0 else b"none",
        "note_or_none_present": np.bool_(there),
        "weight": np.float32(0.5 if there else 1),
        "maybe_vector": np.float32([1, n / 2] if there else [NAN, NAN]),
        "color": np.int64(n % 2 if there else -1),
        "topics": np.float32([n % 3 == 2, 0, 0, 1] if there else [0] * 4),
        "topics_present": np.bool_(there),
        "jpeg": np.full((8, 8, 3), 128 if there else 0, np.float32),
        "jpeg_present": np.bool_(there),
        "mask": ids(4, 6, 250, 7).astype(np.uint8)
        if there
        else np.full((4, 6), 255, np.uint8),
    }
    for (row_at, column), value in zip(*row["grid"], strict=True):
        found["grid"][row_at, column] = value
    return found


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
        "photo": _picture("4x6.png"),
    }
    return row if n % 4 else {**row, "note": f"note {n}"}


def _reading_read(n: int) -> Row:
    row = _reading_row(n)
    return {
        "number": np.int64(n),
        "name": _text(row["name"]),
        "label": np.int64(n % 2),
        "level": np.uint8(n),
        "values": row["values"],
        "weights": row["weights"],
        "raw": np.array(row["raw"]),
        "lists": row["lists"],
        "photo": pixels(4, 6, 3, 1),
        "note": _text(row.get("note", "")),
        "note_present": np.bool_(n % 4 == 0),
    }


def _clip_row(n: int) -> Row:
    length = n * 3 % 5
    row: Row = {
        "number": n,
        "frames": [_picture("3x3.png")] * length,
        "speeds": [n / 4] * length,
        "poses": np.full((n % 4, 2), n / 3),
        "pixels": np.stack([pixels(2, 2, 1, at) for at in range(1 + n % 3)]),
        "moves": [at % 4 for at in range(n % 6)],
        "kind": n % 7,
    }
    if n % 3:
        row |= {"title": _TEXTS[n % 5], "words": ["w", ""] * (n % 3)}
    return row


def _clip_read(n: int) -> Row:
    row = _clip_row(n)
    length = n * 3 % 5
    return {
        "number": np.int64(n),
        "title": _text(row.get("title", "")),
        "title_present": np.bool_(n % 3 != 0),
        "frames": np.stack([pixels(3, 3, 1, 3)] * length)
        if length
        else np.zeros((0, 3, 3, 1), np.uint8),
        "speeds": np.full(length, n / 4, np.float32),
        "poses": row["poses"],
        "pixels": row["pixels"],
        "moves": np.array(row["moves"][-3:], np.int64),
        "words": _texts(row.get("words", [])),
        "words_present": np.bool_(n % 3 != 0),
        "kind": np.int64(n % 7),
    }


_FORMATS = ("bmp", "gif", "webp")


def _formats_row(n: int) -> Row:
    pictures = {name: _picture(f"4x6.{name}") for name in _FORMATS}
    return {
        **pictures,
        "any_of": pictures[_FORMATS[n % 3]],
        "several": [pictures[name] for name in _FORMATS[: n % 4]],
    }


def _formats_read(n: int) -> Row:
    picture = few_colors()
    return {
        **dict.fromkeys((*_FORMATS, "any_of"), picture),
        "several": np.stack([picture] * (n % 4))
        if n % 4
        else np.zeros((0, 4, 6, 3), np.uint8),
    }


def few_colors() -> Array:
    """Return the pixels of a picture that a GIF can hold as it is."""
    return np.repeat(ids(4, 6, 4, 0)[:, :, None] * 60, 3, axis=2).astype(np.uint8)


def _base64_row(n: int) -> Row:
    return {
        "image": _picture("4x6.png"),
        "pixels": pixels(2, 2, 1, n),
        "sample": np.array([n, 0.5, -1], np.float32),
        "secret": bytes(range(n)),
        "double": n / 3,
        "table": np.full((n % 3, 2), n, np.int32),
    }


def _base64_read(n: int) -> Row:
    row = _base64_row(n)
    return {**row, "image": pixels(4, 6, 3, 1), "double": np.float64(n / 3)}


def _dequantized_row(n: int) -> Row:
    return {
        "listed": np.array([n, 255], np.uint8),
        "raw": np.array([n, -n, 32767], np.int16),
    }


def _dequantized_read(n: int) -> Row:
    return {
        "listed": np.float32([n / 2 - 2, 125.5]),
        "raw": np.float32([n / 4 + 1, 1 - n / 4, 8192.75]),
    }


def _padded_row(n: int) -> Row:
    return {"tokens": [n] * (n % 5), "words": [f"w{n}"] * (n % 6)}


def _padded_read(n: int) -> Row:
    count = min(n % 6, 3)
    return {
        "tokens": np.array([n] * (n % 5) + [-1] * (4 - n % 5), np.int64),
        "words": _texts([f"w{n}"] * count + [""] * (3 - count)),
    }


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
        same_order: later versions write the records in this order, into these shards.
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
        read: returns what readers have to deliver for it: typed numbers and arrays
            (float32 for bfloat16), bytes, and lists of these.
        padding: what a batch is padded with, where it is not 0 or "".
        splits: how they are written.
        any_size: records of different sizes are in batches of one.
    """

    row: Callable[[int], Row]
    read: Callable[[int], Row]
    padding: dict[str, Any] = field(default_factory=dict)
    splits: dict[str, Split] = field(default_factory=lambda: {"train": Split(6)})


_SHUFFLED = {"shards": 2, "shuffle_seed": 7}

BASELINES: dict[str, Baseline] = {
    "everything": Baseline(
        _everything_row,
        _everything_read,
        {"volume": 7, "tokens": -7, "pairs": 9, "lines": b"?", "word": b"-"},
        {"train": Split(), "packed": Split(6, {"compression": "GZIP"})},
    ),
    "reading": Baseline(
        _reading_row,
        _reading_read,
        {},
        {
            "rows": Split(source="rows"),
            "columns": Split(source="columns"),
            "empty": Split(0),
            "sharded": Split(24, {"shards": 3}),
            "sized": Split(24, {"shard_bytes": 3000}),
            "generated": Split(24, {"shards": 3}, source="generator"),
            "functions": Split(24, source="functions"),
            "shuffled": Split(24, _SHUFFLED, same_order=False),
            "keyed": Split(24, {**_SHUFFLED, "key_field": "name"}, same_order=False),
            "gzip": Split(24, {"shards": 2, "compression": "GZIP"}),
            "zlib": Split(24, {"compression": "ZLIB", "compression_level": 9}),
        },
    ),
    "clip": Baseline(_clip_row, _clip_read, {"moves": -1}, {"train": Split()}),
    "formats": Baseline(_formats_row, _formats_read),
    # Options that may be removed, each in a record of its own.
    "base64_text": Baseline(_base64_row, _base64_read),
    "dequantized": Baseline(_dequantized_row, _dequantized_read),
    "padded_on_disk": Baseline(_padded_row, _padded_read),
    "scaled_decoding": Baseline(
        lambda n: {"photo": _picture("40x48.jpg")},
        lambda n: {"photo": flat(4, 4, 99)},
    ),
    "palette": Baseline(
        lambda n: {"number": n, "mask": _picture("palette.png")},
        lambda n: {"number": np.int64(n), "mask": ids(4, 6, 5, 0).astype(np.uint8)},
    ),
    "serialized_tensor": Baseline(_tensor_row, _tensor_row),
}


def write(record: str, split: str, serializer: ModuleType, directory: Path) -> None:
    """Write a split of the baseline with a generated module."""
    baseline = BASELINES[record]
    how = baseline.splits[split]
    rows = [baseline.row(number) for number in range(how.rows)]
    if how.source in ("rows", "columns"):
        open_writer = as_before(serializer.Writer)
        with open_writer(directory, split, **how.options) as writer:
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
    write_dataset = as_before(serializer.write_dataset)
    write_dataset(source, directory, split, progress=False, **how.options)


def as_before(write: Callable[..., Any]) -> Callable[..., Any]:
    """Return a writer with the options of version 0.2.0: empty splits, and no index."""
    options = {"allow_empty": True, "index": False}
    known = options.keys() & inspect.signature(write).parameters.keys()
    return partial(write, **{name: options[name] for name in known})
