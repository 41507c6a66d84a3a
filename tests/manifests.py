"""Manifests that state something else than what was written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def edited_manifest(directory: Path) -> Iterator[dict[str, Any]]:
    """Let a block change what a manifest states; it has no checksum afterwards."""
    path = directory / "manifest.json"
    stated = json.loads(path.read_bytes())
    del stated["crc32c"]
    yield stated
    path.write_text(json.dumps(stated))


def count_one_more(directory: Path, shard: int) -> None:
    """Let the manifest state one record more than a shard of `train` has."""
    with edited_manifest(directory) as stated:
        split = stated["splits"]["train"]
        split["records"] += 1
        split["shards"][shard]["records"] += 1


def reverse_classes(spec: dict[str, Any]) -> None:
    """Give the only label of a record its classes in another order."""
    [label] = [field for field in spec["fields"] if field["kind"] == "Label"]
    label["classes"].reverse()


def without_last_class(spec: dict[str, Any]) -> None:
    """Take the last class from the only label of a record."""
    [label] = [field for field in spec["fields"] if field["kind"] == "Label"]
    label["classes"].pop()
    label["num_classes"] -= 1
