"""Files of data that are changed after they were written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def flip_bit(path: Path, at: int) -> None:
    """Flip the lowest bit of a byte of a file."""
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


@contextmanager
def edited_manifest(directory: Path) -> Iterator[dict[str, Any]]:
    """Let the manifest of a directory be changed by hand, which removes its checksum."""
    path = directory / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    del manifest["crc32c"]
    yield manifest
    path.write_text(json.dumps(manifest), encoding="utf-8")


def reverse_classes(spec: dict[str, Any]) -> None:
    """Give the only label of a record its classes in another order."""
    [label] = [field for field in spec["fields"] if field["kind"] == "Label"]
    label["classes"].reverse()
