"""Rows of this repository's digit record, and what directories of it hold."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from generated.digit.serializer import write_dataset

Row = dict[str, Any]


def row(number: int) -> Row:
    """A row that no other number has."""
    return {
        "image": np.full((8, 8, 1), number % 200, np.uint8),
        "ink_runs": [number] * (number % 5),
        "moments": [number / 8] * 8,
        "digit": number % 10,
        "scan": number,
    }


def rows(count: int) -> list[Row]:
    """Rows with an index."""
    return list(map(row, range(count)))


def scans(batches: Iterable[Any]) -> list[int]:
    """The numbers of the records in batches of arrays."""
    return [scan for batch in batches for scan in batch["scan"].tolist()]


def parts(count: int, shards: int) -> list[Callable[[], Iterator[Row]]]:
    """A function for each shard, which gets every so manieth row."""
    return [
        lambda first=first: map(row, range(first, count, shards))  # type: ignore[misc]
        for first in range(shards)
    ]


def contents(directory: Path) -> dict[str, bytes]:
    """All files of a directory, hidden ones too."""
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def is_published_claim(name: str, data: bytes) -> bool:
    """Whether a file is the claim of a run that has published its split."""
    return ".run." in name and "published" in json.loads(data)


def listed(directory: Path) -> dict[str, bytes]:
    """All files of a directory, but claims of runs that have published their split."""
    files = contents(directory).items()
    return {name: data for name, data in files if not is_published_claim(name, data)}


def hidden(directory: Path) -> list[str]:
    """The names of hidden files, but for indexes and claims that are published."""
    found = (name for name in listed(directory) if name.startswith("."))
    return [name for name in found if not name.endswith(".index")]


def written(directory: Path, source: Any, **options: Any) -> dict[str, bytes]:
    """What `write_dataset` writes."""
    write_dataset(source, directory, "train", **options)
    return contents(directory)
